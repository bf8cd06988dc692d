import type { JsonObject } from '../json.ts'
import { question } from './fit/fit.ts'
import { objectFits } from './fit/fits.ts'
import type { StructuralSchema } from './structural-schema.ts'

const everything = question.known | question.complete | question.valid

/** By the schema they were found settled under. Objects are values: nothing changes them in place. */
const settled = new WeakMap<object, StructuralSchema>()

/**
 * Whether an object is as its schema wants it: `prune` and `applyDefaults` would return the same object, and `validate` no error.
 * A yes is certain and remembered. A no may be wrong: ask these three. Where `old` is known to be settled, only what differs from
 * it is looked at.
 */
export function isSettled(schema: StructuralSchema, object: JsonObject, old?: JsonObject): boolean {
  if (settled.get(object) === schema) return true
  const past = old !== undefined && settled.get(old) === schema ? old : undefined
  if (!objectFits(schema, object, everything, past)) return false
  settled.set(object, schema)
  return true
}
