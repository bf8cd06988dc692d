import type { Json } from '../../model/json.ts'
import { compileJsonPath } from '../../model/json-path.ts'
import type { ApiObject } from '../../model/object.ts'
import type { PrinterColumn } from '../../model/served-kind.ts'
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
  cell(object: ApiObject, nowMs: number): Json
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
    cell: (object, nowMs) => {
      const [value] = find(object)
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
      return typeof value === 'object' ? JSON.stringify(value) : String(value)
  }
}

function ageCell(value: Json, nowMs: number): Json {
  if (typeof value !== 'string') return null
  const ms = parseTimestamp(value)
  return ms === undefined ? '<invalid>' : humanDuration(nowMs - ms)
}
