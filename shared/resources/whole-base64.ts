import { isObject, type Json, type JsonObject } from '../model/json.ts'

/**
 * The body with texts of base64 in one line, as Go reads them: `base64` breaks its lines after 76 characters, and YAML
 * keeps the breaks. A place is the names that lead to the texts, with `*` for each item or entry.
 */
export function withWholeBase64(body: JsonObject, ...places: readonly string[]): JsonObject {
  return places.reduce<JsonObject>((whole, place) => wholeAt(whole, place.split('.')) as JsonObject, body)
}

function wholeAt(value: Json, [step, ...steps]: readonly string[]): Json {
  if (step === undefined)
    return typeof value === 'string' && value.search(breaks) >= 0 ? value.replaceAll(breaks, '') : value
  if (Array.isArray(value)) return step === '*' ? changeItems(value, steps) : value
  if (!isObject(value)) return value
  return step === '*' ? changeFields(value, steps) : changeField(value, step, steps)
}

function changeField(value: JsonObject, name: string, steps: readonly string[]): Json {
  const part = value[name]
  const whole = part === undefined ? part : wholeAt(part, steps)
  return whole === undefined || whole === part ? value : { ...value, [name]: whole }
}

function changeFields(value: JsonObject, steps: readonly string[]): Json {
  const whole = Object.entries(value).map(([name, part]) => [name, wholeAt(part as Json, steps)] as const)
  return whole.some(([name, part]) => part !== value[name]) ? Object.fromEntries(whole) : value
}

function changeItems(items: readonly Json[], steps: readonly string[]): Json {
  const whole = items.map((item) => wholeAt(item, steps))
  return whole.some((item, i) => item !== items[i]) ? whole : (items as Json)
}

const breaks = /[\r\n]+/g
