import { isObject, type Json } from './json.ts'

/** Changes in parts of a value, which is never changed itself: the same value, if `change` leaves all as it is. */

/** Of one field, if it is there. */
export function changePart(value: Json, name: string, change: (part: Json) => Json): Json {
  if (!isObject(value) || !Object.hasOwn(value, name)) return value
  const part = value[name] as Json
  const next = change(part)
  return next === part ? value : { ...value, [name]: next }
}

/** Of each field. */
export function changeFields(value: Json, change: (field: Json, name: string) => Json): Json {
  if (!isObject(value)) return value
  const next = Object.entries(value).map(([name, field]) => [name, change(field as Json, name)] as const)
  return next.every(([name, field]) => field === value[name]) ? value : Object.fromEntries(next)
}

/** Of each item of a list. */
export function changeItems(value: Json, change: (item: Json, i: number) => Json): Json {
  if (!Array.isArray(value)) return value
  const next = value.map(change)
  return next.every((item, i) => item === value[i]) ? value : next
}
