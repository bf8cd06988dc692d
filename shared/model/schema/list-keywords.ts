import { child, entry, type FieldError, forbidden, invalid, fieldRequired } from './field-error.ts'
import type { StructuralSchema } from './structural-schema.ts'

/** What lists, and the keywords about the topology of lists and maps, must say together. */
export function checkListKeywords(schema: StructuralSchema, path: string): readonly FieldError[] {
  const { type, items } = schema
  return [
    ...(type === 'array' && items === undefined ? [fieldRequired(child(path, 'items'), 'must be specified')] : []),
    ...checkUniqueItems(schema, path),
    ...checkTypeFor(schema, path, { keyword: 'x-kubernetes-map-type', wanted: 'object' }),
    ...checkTypeFor(schema, path, { keyword: 'x-kubernetes-list-type', wanted: 'array' }),
    ...checkListType(schema, path),
  ]
}

/** Also for branches: nowhere may all items be compared. */
export function checkUniqueItems({ uniqueItems }: StructuralSchema, path: string): readonly FieldError[] {
  return uniqueItems === true ? [forbidden(child(path, 'uniqueItems'), noUniqueItems)] : []
}

const noUniqueItems =
  'uniqueItems cannot be set to true since the runtime complexity becomes quadratic; use x-kubernetes-list-type: set'

interface TypedKeyword {
  readonly keyword: 'x-kubernetes-map-type' | 'x-kubernetes-list-type'
  readonly wanted: 'object' | 'array'
}

function checkTypeFor(
  schema: StructuralSchema,
  path: string,
  { keyword, wanted }: TypedKeyword,
): readonly FieldError[] {
  const { type, [keyword]: topology } = schema
  if (topology === undefined || type === wanted) return []
  const detail = `must be ${wanted} if ${keyword} is specified`
  return [type === undefined ? fieldRequired(child(path, 'type'), detail) : invalid(child(path, 'type'), type, detail)]
}

function checkListType(schema: StructuralSchema, path: string): readonly FieldError[] {
  const { items, 'x-kubernetes-list-type': listType, 'x-kubernetes-list-map-keys': keys = [] } = schema
  const errors: FieldError[] = []
  if (listType !== 'map' && keys.length > 0) {
    const field = child(path, 'x-kubernetes-list-type')
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty'
    errors.push(listType === undefined ? fieldRequired(field, detail) : invalid(field, listType, detail))
  }
  if (items === undefined) return errors
  const itemsPath = child(path, 'items')
  if ((listType === 'set' || listType === 'map') && items.nullable === true) {
    errors.push(
      forbidden(child(itemsPath, 'nullable'), `cannot be nullable when x-kubernetes-list-type is ${listType}`),
    )
  }
  if (listType === 'set') errors.push(...checkSetItems(items, itemsPath))
  if (listType === 'map') errors.push(...checkMapKeys(items, keys, path))
  return errors
}

function checkSetItems(items: StructuralSchema, path: string): readonly FieldError[] {
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set'
  const { 'x-kubernetes-list-type': listType = 'atomic', 'x-kubernetes-map-type': mapType = 'granular' } = items
  if (items.type === 'array' && listType !== 'atomic')
    return [invalid(child(path, 'x-kubernetes-list-type'), listType, detail)]
  if (items.type === 'object' && mapType !== 'atomic')
    return [invalid(child(path, 'x-kubernetes-map-type'), mapType, detail)]
  return []
}

function checkMapKeys(items: StructuralSchema, keys: readonly string[], path: string): readonly FieldError[] {
  const keysField = child(path, 'x-kubernetes-list-map-keys')
  if (keys.length === 0) return [fieldRequired(keysField, 'must not be empty if x-kubernetes-list-type is map')]
  if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map"
    return [invalid(child(child(path, 'items'), 'type'), items.type ?? '', detail)]
  }
  const distinct = new Set(keys)
  const repeated = distinct.size < keys.length ? [invalid(keysField, keys, 'must not contain duplicate entries')] : []
  const isRequired = new Set(items.required)
  return [
    ...repeated,
    ...[...distinct].flatMap((key) => checkMapKey(items, { key, isRequired: isRequired.has(key) }, path)),
  ]
}

interface MapKey {
  readonly key: string
  readonly isRequired: boolean
}

function checkMapKey(
  { properties = {} }: StructuralSchema,
  { key, isRequired }: MapKey,
  path: string,
): readonly FieldError[] {
  const property = Object.hasOwn(properties, key) ? properties[key] : undefined
  if (property === undefined) {
    return [invalid(child(path, 'x-kubernetes-list-map-keys'), key, 'entries must all be names of item properties')]
  }
  const field = entry(child(child(path, 'items'), 'properties'), key)
  const isKey = 'this property is in x-kubernetes-list-map-keys, so it'
  const errors: FieldError[] = []
  if (property.type === 'array' || property.type === 'object') {
    errors.push(
      invalid(
        child(field, 'type'),
        property.type,
        "must be a scalar type if parent array's x-kubernetes-list-type is map",
      ),
    )
  }
  if (!isRequired && (property.default ?? undefined) === undefined) {
    errors.push(fieldRequired(child(field, 'default'), `${isKey} must have a default or be a required property`))
  }
  if (property.nullable === true) errors.push(forbidden(child(field, 'nullable'), `${isKey} cannot be nullable`))
  return errors
}
