import { equal, isObject, type Json, type JsonObject } from './json.ts'

/** Fields of which nothing is told, by the path of the object that they stand in. */
export type HiddenFields = ReadonlyMap<string, ReadonlySet<string>>

/**
 * Paths of the fields that differ, such as `spec.size`, for people: at most so many, and then `…`. Lists count as one
 * field.
 */
export function findChangedFields(
  before: JsonObject,
  after: JsonObject,
  max: number,
  hidden: HiddenFields = nothing,
): readonly string[] {
  const paths: string[] = []
  collect(before, after, '', { paths, max, hidden })
  return paths.length > max ? [...paths.slice(0, max), '…'] : paths
}

const nothing: HiddenFields = new Map()

interface Collecting {
  readonly paths: string[]
  readonly max: number
  readonly hidden: HiddenFields
}

/** Looks no further once there is one path too many. What both have in common is told by its identity in most cases. */
function collect(before: JsonObject, after: JsonObject, path: string, collecting: Collecting): void {
  const hidden = collecting.hidden.get(path)
  const look = (field: string, was: Json | undefined, is: Json | undefined): void => {
    if (hidden?.has(field) !== true) compare(was, is, path === '' ? field : `${path}.${field}`, collecting)
  }
  let shared = 0
  for (const field of Object.keys(before)) {
    const was = before[field]
    const is = after[field]
    if (was === is || Object.hasOwn(after, field)) shared++
    if (was !== is) look(field, was, is)
  }
  const fields = Object.keys(after)
  // To ask of each whether it is new takes longer than all the rest.
  if (fields.length === shared) return
  for (const field of fields) if (!Object.hasOwn(before, field)) look(field, undefined, after[field])
}

function compare(was: Json | undefined, is: Json | undefined, path: string, collecting: Collecting): void {
  const { paths, max } = collecting
  if (paths.length > max) return
  if (isObject(was) && isObject(is)) collect(was, is, path, collecting)
  else if (!equal(was, is)) paths.push(path)
}
