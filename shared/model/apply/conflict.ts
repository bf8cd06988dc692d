import { quote } from '../schema/field-error.ts'
import { showPath } from './fields/field-path.ts'
import { countFields, pathsOf } from './fields/field-set.ts'
import type { Manager, Owners } from './ownership.ts'

/** A manager who would lose fields, and these fields' paths, such as `.spec.ports[name="http"].port`. */
export interface Conflict extends Manager {
  readonly fields: readonly string[]
  /** So many fields more, which are not named. */
  readonly others?: number
}

/** A reply names no more, and of each path no more than a person reads: both grow with the object. */
const fieldsMax = 1_000
const shownMax = 1_000

/** Sorted by manager. */
export function conflictsOf(disputed: Owners): readonly Conflict[] {
  let left = fieldsMax
  return [...disputed]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { fields, ...manager }]) => {
      const named = pathsOf(fields, left).map(showShort)
      left -= named.length
      const others = countFields(fields) - named.length
      return { ...manager, fields: named, ...(others > 0 && { others }) }
    })
}

function showShort(path: readonly string[]): string {
  const text = showPath(path)
  return text.length <= shownMax ? text : `${text.slice(0, shownMax)}…`
}

/** Kubernetes' words; kubectl prints them and adds what the user can do. */
export function conflictMessage(conflicts: readonly Conflict[]): string {
  const [first] = conflicts
  const count = conflicts.reduce((sum, { fields, others = 0 }) => sum + fields.length + others, 0)
  if (count === 1 && first) return `Apply failed with 1 conflict: conflict with ${nameOf(first)}: ${first.fields[0]}`
  const lines = conflicts.flatMap((conflict) => [
    `conflicts with ${nameOf(conflict)}:`,
    ...conflict.fields.map((field) => `- ${field}`),
    ...(conflict.others === undefined ? [] : [`- and ${conflict.others} more`]),
  ])
  return `Apply failed with ${count} conflicts: ${lines.join('\n')}`
}

/** One cause per field, for the details of the 409. */
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
