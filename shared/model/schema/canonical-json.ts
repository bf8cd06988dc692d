import { isObject } from '../json.ts'

/** The JSON text with fields in order of their names: two values have the same text exactly if they are equal. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object') return JSON.stringify(value) ?? 'null'
  return JSON.stringify(value, (_field, part: unknown) => (isObject(part) ? sortedByName(part) : part)) ?? 'null'
}

function sortedByName(object: object): object {
  return Object.fromEntries(Object.entries(object).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
