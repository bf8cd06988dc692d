import { parseJson } from './parse-json.ts'
import type { ApiObject } from './object.ts'

const texts = new WeakMap<ApiObject, string>()

/**
 * The object as JSON text, made once: an object is a value that nothing changes in place, so whoever stores it, answers
 * with it or tells it to a watch uses the same text.
 */
export function objectText(object: ApiObject): string {
  const known = texts.get(object)
  if (known !== undefined) return known
  const text = JSON.stringify(object)
  texts.set(object, text)
  return text
}

/** The object that a text of `objectText` was made of. */
export function parseObjectText(text: string): ApiObject {
  const object = parseJson(text) as ApiObject
  texts.set(object, text)
  return object
}
