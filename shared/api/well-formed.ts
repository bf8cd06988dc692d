import { isObject, type Json } from '../model/json.ts'

/** An escape that may stand for half a character, in JSON or in YAML. */
const halfEscape = /\\(?:u|U0000)[dD][89a-fA-F]/

/**
 * What was read of a text, with U+FFFD in the place of each half of a character, in names and values, as Go's decoders
 * have it. Such a half is no UTF-8: no store finds an object again by a name with one. The value itself, unless the
 * text may hold one.
 */
export function makeWellFormed(value: Json, text: string): Json {
  return halfEscape.test(text) ? wellFormed(value) : value
}

function wellFormed(value: Json): Json {
  if (typeof value === 'string') return value.toWellFormed()
  if (Array.isArray(value)) return value.map(wellFormed)
  if (!isObject(value)) return value
  const fields = Object.entries(value).flatMap(([name, field]) =>
    field === undefined ? [] : [[name.toWellFormed(), wellFormed(field)] as const],
  )
  return Object.fromEntries(fields)
}
