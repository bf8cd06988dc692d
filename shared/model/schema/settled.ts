import { isObject, type JsonObject } from '../json.ts'
import { canonicalJson } from './canonical-json.ts'
import { question, type Fit } from './fit/fit.ts'
import { fitOfWhole, fits } from './fit/fits.ts'
import type { StructuralSchema } from './structural-schema.ts'

/**
 * Whether an object is as its schema wants it: `prune` and `applyDefaults` would return the same object, and `validate`
 * no error. A yes is certain. A no may be wrong: ask these three. What was settled before, in this object or in `old`,
 * is not looked at again.
 */
export function isSettled(schema: StructuralSchema, object: JsonObject, old?: JsonObject): boolean {
  const { fit, parts } = knowledgeOf(schema)
  const past = findKnownParts(parts, object, old)
  if (!fits(fit, object, everything, past)) return false
  for (const field in object) {
    const part = object[field]
    if (field !== 'metadata' && isObject(part) && part !== past[field]) parts.set(part, field)
  }
  return true
}

const everything = question.known | question.complete | question.valid

/** Whether an object has all defaults of its schema. A yes is certain. */
export function hasDefaults(schema: StructuralSchema, object: JsonObject): boolean {
  const { fit, parts } = knowledgeOf(schema)
  return fits(fit, object, question.complete, findKnownParts(parts, object))
}

/** What is known of a schema, found once per question. */
interface Knowledge {
  readonly fit: Fit
  readonly parts: Parts
}

/**
 * Settled values, by the field of an object that they are settled as. Objects are values: nothing changes them in
 * place.
 */
type Parts = WeakMap<object, string>

const known = new WeakMap<StructuralSchema, Knowledge>()

/** By the text of the schema: a schema that was read from the store says the same as the one that was written. */
const partsByText = new Map<string, Parts>()
const textsMax = 1_000

function knowledgeOf(schema: StructuralSchema): Knowledge {
  let knowledge = known.get(schema)
  if (knowledge === undefined)
    known.set(schema, (knowledge = { fit: fitOfWhole(schema), parts: findPartsByText(schema) }))
  return knowledge
}

function findPartsByText(schema: StructuralSchema): Parts {
  const text = canonicalJson(schema)
  const found = partsByText.get(text) ?? new WeakMap()
  if (partsByText.size >= textsMax) partsByText.clear()
  partsByText.set(text, found)
  return found
}

/** The parts of an object that are known to be settled, without looking at them. */
export function findSettledParts(schema: StructuralSchema, object: JsonObject): JsonObject {
  return findKnownParts(knowledgeOf(schema).parts, object)
}

/**
 * Of each field, what is known to be settled: its value, or the one it replaces. Each write has metadata of its own, of
 * which a schema says little: it is looked at each time.
 */
function findKnownParts(parts: Parts, object: JsonObject, old?: JsonObject): JsonObject {
  const past: JsonObject = {}
  for (const field in object) {
    if (field === 'metadata') continue
    const part = object[field]
    const before = old?.[field]
    if (isObject(part) && parts.get(part) === field) past[field] = part
    else if (isObject(before) && parts.get(before) === field) past[field] = before
  }
  return past
}
