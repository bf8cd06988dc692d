import { equal, isObject, type Json, type JsonObject } from '../model/json.ts'

/**
 * JSON Merge Patch, RFC 7396: objects merge, null removes, everything else replaces. The target is not changed. Parts
 * that the patch leaves as they are, or says again, are the target's own: who compares the two sees at once what moved.
 */
export function mergePatch(target: Json | undefined, patch: Json | undefined): Json | undefined {
  if (!isObject(patch)) return target !== undefined && equal(target, patch) ? target : patch
  const before: JsonObject = isObject(target) ? target : {}
  let merged: JsonObject | undefined = isObject(target) ? undefined : {}
  for (const field of Object.keys(patch)) {
    const was = Object.hasOwn(before, field) ? before[field] : undefined
    const is = patch[field] === null ? undefined : mergePatch(was, patch[field])
    if (is === was) continue
    merged ??= { ...before }
    if (is === undefined) delete merged[field]
    else merged[field] = is
  }
  return merged ?? target
}
