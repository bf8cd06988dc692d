import { isObject, type Json, type JsonObject } from '../model/json.ts'

/** JSON Merge Patch, RFC 7396: objects merge, null removes, everything else replaces. The target is not changed. */
export function mergePatch(target: Json | undefined, patch: Json | undefined): Json | undefined {
  if (!isObject(patch)) return patch
  const merged: JsonObject = isObject(target) ? { ...target } : {}
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete merged[field]
    else merged[field] = mergePatch(merged[field], value)
  }
  return merged
}
