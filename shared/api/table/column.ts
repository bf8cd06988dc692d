import type { Json } from '../../model/json.ts'
import { compileJsonPath, type Work } from '../../model/json-path.ts'
import type { ApiObject } from '../../model/object.ts'
import type { PrinterColumn } from '../../model/served-kind.ts'
import { canonicalStart } from '../../model/schema/canonical-json.ts'
import { shorten } from '../../model/shorten.ts'
import { parseTimestamp } from '../../model/time.ts'
import { humanDuration } from '../../model/human-duration.ts'

/** One column of a table: how it is described, and its cell for an object. */
export interface Column {
  readonly name: string
  readonly type: string
  readonly format?: string
  readonly description?: string
  /** Above 0: only with `-o wide`. */
  readonly priority?: number
  /** The cells of a row share the work of their searches. */
  cell(object: ApiObject, nowMs: number, work?: Work): Json
}

export const nameColumn: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name must be unique within a namespace. Is required when creating resources.',
  cell: ({ metadata }) => metadata.name,
}

export const age: Column = {
  name: 'Age',
  type: 'date',
  description: 'How long ago the object was created.',
  cell: ({ metadata }, nowMs) => since(metadata.creationTimestamp, nowMs),
}

/** The time since a timestamp, in kubectl's words; `<unknown>` for what is none. */
export function since(timestamp: unknown, nowMs: number): string {
  const ms = typeof timestamp === 'string' ? parseTimestamp(timestamp) : undefined
  return ms === undefined ? '<unknown>' : humanDuration(nowMs - ms)
}

/** A column that a kind declares by JSON path. Cells are converted as the apiextensions table convertor does it. */
export function printerColumn({ jsonPath, ...described }: PrinterColumn): Column {
  const find = compileJsonPath(jsonPath)
  return {
    ...described,
    cell: (object, nowMs, work) => {
      const [value] = find(object, work)
      return value === undefined || value === null ? null : cellOf(described.type, value, nowMs)
    },
  }
}

function cellOf(type: PrinterColumn['type'], value: Json, nowMs: number): Json {
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null
    case 'number':
      return typeof value === 'number' ? value : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'date':
      return ageCell(value, nowMs)
    case 'string':
      return shorten(textOf(value), cellLengthMax)
  }
}

/** A person reads no more in a line, and each row of a list has such cells. */
const cellLengthMax = 4_096

function textOf(value: Json): string {
  return typeof value === 'object' ? canonicalStart(value, cellLengthMax + 1) : String(value)
}

function ageCell(value: Json, nowMs: number): Json {
  if (typeof value !== 'string') return null
  const ms = parseTimestamp(value)
  return ms === undefined ? '<invalid>' : humanDuration(nowMs - ms)
}
