import { changeFields, changeItems, changePart } from '../model/change-parts.ts'
import type { Json, JsonObject } from '../model/json.ts'

/**
 * The body with texts of base64 in one line, as Go reads them: `base64` breaks its lines after 76 characters, and YAML
 * keeps the breaks. The place is the names that lead to the texts, with `*` for each item or entry.
 */
export function withWholeBase64(body: JsonObject, place: string): JsonObject {
  return wholeAt(body, place.split('.')) as JsonObject
}

function wholeAt(value: Json, [step, ...steps]: readonly string[]): Json {
  if (step === undefined)
    return typeof value === 'string' && value.search(breaks) >= 0 ? value.replaceAll(breaks, '') : value
  const change = (part: Json): Json => wholeAt(part, steps)
  if (step !== '*') return changePart(value, step, change)
  return Array.isArray(value) ? changeItems(value, change) : changeFields(value, change)
}

const breaks = /[\r\n]+/g
