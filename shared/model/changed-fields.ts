import { equal, isObject, type Json, type JsonObject } from './json.ts'

/**
 * Paths of the fields that differ, such as `spec.size`, for people: at most so many, and then `…`. Lists count as one
 * field. Of the paths in `hidden` nothing is told.
 */
export function findChangedFields(
  before: JsonObject,
  after: JsonObject,
  max: number,
  hidden: ReadonlySet<string> = nothing,
): readonly string[] {
  const paths: string[] = []
  collect(before, after, '', { paths, max, hidden })
  return paths.length > max ? [...paths.slice(0, max), '…'] : paths
}

const nothing: ReadonlySet<string> = new Set()

interface Collecting {
  readonly paths: string[]
  readonly max: number
  readonly hidden: ReadonlySet<string>
}

/** Looks no further once there is one path too many. What both have in common is told by its identity in most cases. */
function collect(before: JsonObject, after: JsonObject, prefix: string, collecting: Collecting): void {
  let shared = 0
  for (const field of Object.keys(before)) {
    const was = before[field]
    const is = after[field]
    if (was === is || Object.hasOwn(after, field)) shared++
    if (was !== is) compare(was, is, prefix + field, collecting)
  }
  const fields = Object.keys(after)
  // To ask of each whether it is new takes longer than all the rest.
  if (fields.length === shared) return
  for (const field of fields)
    if (!Object.hasOwn(before, field)) compare(undefined, after[field], prefix + field, collecting)
}

function compare(was: Json | undefined, is: Json | undefined, path: string, collecting: Collecting): void {
  const { paths, max, hidden } = collecting
  if (paths.length > max || hidden.has(path)) return
  if (isObject(was) && isObject(is)) collect(was, is, `${path}.`, collecting)
  else if (!equal(was, is)) paths.push(path)
}
