import { isObject } from '../model/json.ts'
import type { ApiObject } from '../model/object.ts'
import { checkEach, invalid, type FieldError } from '../model/schema/field-error.ts'

/**
 * Names of the entries of ConfigMaps and Secrets become names of files. What was stored under another stays. Source:
 * apimachinery, `IsConfigMapKey`.
 */
export function checkConfigKeys(next: ApiObject, live: ApiObject | undefined): readonly FieldError[] {
  const errors = ['data', 'binaryData'].flatMap((field) => checkNames(next, live, field))
  const { data, binaryData } = next
  if (!isObject(data) || !isObject(binaryData)) return errors
  const twice = Object.keys(data).filter((name) => Object.hasOwn(binaryData, name))
  return [...errors, ...twice.map((name) => invalid(`binaryData[${name}]`, name, 'duplicate of key present in data'))]
}

function checkNames(next: ApiObject, live: ApiObject | undefined, field: string): readonly FieldError[] {
  const map = next[field]
  const before = live?.[field]
  if (!isObject(map) || map === before) return []
  return checkEach(Object.keys(map), (name) => {
    const isOld = isObject(before) && Object.hasOwn(before, name)
    if (isOld || isConfigKey(name)) return []
    const shown = name.slice(0, shownMax)
    return [invalid(`${field}[${shown}]`, shown, keyRule)]
  })
}

const shownMax = 300
const keyRule =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.', 253 at most, and must not start with '..'"

function isConfigKey(name: string): boolean {
  return name.length <= 253 && name !== '.' && !name.startsWith('..') && /^[-._a-zA-Z0-9]+$/.test(name)
}
