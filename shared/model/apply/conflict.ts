import { quote } from '../schema/field-error.ts'
import { shorten } from '../shorten.ts'
import { showPath } from './fields/field-path.ts'
import { countFields, pathsOf } from './fields/field-set.ts'
import type { Manager, Owners } from './ownership.ts'

/** A manager who would lose fields, and these fields' paths, such as `.spec.ports[name="http"].port`. */
export interface Conflict extends Manager {
  readonly fields: readonly string[]
}

export interface Conflicts {
  /** Sorted by manager. Each has a field. */
  readonly named: readonly Conflict[]
  /** So many fields more, which are not named. */
  readonly others: number
}

/** A reply names no more, and of each path no more than a person reads: both grow with the object. */
const conflictsMax = 100
const shownMax = 1_000

export function conflictsOf(disputed: Owners): Conflicts {
  const named: Conflict[] = []
  let [left, others] = [conflictsMax, 0]
  for (const [, { fields, ...manager }] of [...disputed].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const shown = left > 0 ? pathsOf(fields, left).map(showShort) : []
    if (shown.length > 0) named.push({ ...manager, fields: shown })
    left -= shown.length
    others += countFields(fields) - shown.length
  }
  return { named, others }
}

function showShort(path: readonly string[]): string {
  return shorten(showPath(path), shownMax)
}

/** Kubernetes' words; kubectl prints them and adds what the user can do. */
export function conflictMessage({ named, others }: Conflicts): string {
  const [first] = named
  const count = named.reduce((sum, { fields }) => sum + fields.length, others)
  if (count === 1 && first) return `Apply failed with 1 conflict: conflict with ${nameOf(first)}: ${first.fields[0]}`
  const lines = named.flatMap((conflict) => [
    `conflicts with ${nameOf(conflict)}:`,
    ...conflict.fields.map((field) => `- ${field}`),
  ])
  const more = others === 0 ? [] : [`and ${others} more`]
  return `Apply failed with ${count} conflicts: ${[...lines, ...more].join('\n')}`
}

/** One cause for each field that is named, for the details of the 409. */
export function conflictCauses(conflicts: readonly Conflict[]): { reason: string; message: string; field: string }[] {
  return conflicts.flatMap((conflict) =>
    conflict.fields.map((field) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${nameOf(conflict)}`,
      field,
    })),
  )
}

function nameOf({ manager, subresource, operation, apiVersion }: Manager): string {
  const name = subresource === undefined ? quote(manager) : `${quote(manager)} with subresource ${quote(subresource)}`
  return operation === 'Update' ? `${name} using ${apiVersion}` : name
}
