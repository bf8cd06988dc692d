import { equal, isObject, type Json, type JsonObject } from './json.ts'

/**
 * Paths of the fields that differ, such as `spec.size`, for people: at most so many, and then `…`. Lists count as one
 * field.
 */
export function findChangedFields(before: JsonObject, after: JsonObject, max: number): readonly string[] {
  const paths: string[] = []
  collect(before, after, { prefix: '', paths, max })
  return paths.length > max ? [...paths.slice(0, max), '…'] : paths
}

interface Collecting {
  readonly prefix: string
  readonly paths: string[]
  readonly max: number
}

/** Looks no further once there is one path too many. */
function collect(before: JsonObject, after: JsonObject, collecting: Collecting): void {
  for (const field in before) compare(field, [before[field], after[field]], collecting)
  for (const field in after) if (!Object.hasOwn(before, field)) compare(field, [undefined, after[field]], collecting)
}

function compare(
  field: string,
  [was, is]: readonly [Json | undefined, Json | undefined],
  { prefix, paths, max }: Collecting,
): void {
  if (was === is || paths.length > max) return
  if (isObject(was) && isObject(is)) collect(was, is, { prefix: `${prefix}${field}.`, paths, max })
  else if (!equal(was, is)) paths.push(`${prefix}${field}`)
}
