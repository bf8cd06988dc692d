import { equal, isObject, type JsonObject } from './json.ts'

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
function collect(before: JsonObject, after: JsonObject, { prefix, paths, max }: Collecting): void {
  for (const field of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (paths.length > max) return
    const [was, is] = [before[field], after[field]]
    if (isObject(was) && isObject(is)) collect(was, is, { prefix: `${prefix}${field}.`, paths, max })
    else if (!equal(was, is)) paths.push(`${prefix}${field}`)
  }
}
