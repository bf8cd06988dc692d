import { applyPatch, type Operation } from 'rfc6902'
import { OperatingError } from '../model/errors.ts'
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

/** JSON Patch, RFC 6902, all or nothing. Throws INVALID naming the operation that does not fit. The target is not changed. */
export function jsonPatch(target: JsonObject, operations: readonly JsonObject[]): JsonObject {
  const patched = structuredClone(target)
  const failed = applyPatch(patched, operations as unknown as Operation[]).findIndex((error) => error !== null)
  if (failed >= 0) {
    const { op, path } = operations[failed] ?? {}
    throw new OperatingError(
      'INVALID',
      `the JSON patch does not fit the object: operation ${failed}, ${String(op)} ${String(path)}`,
    )
  }
  return patched
}
