import { equal, type Json } from '../json.ts'
import { shorten } from '../shorten.ts'
import type { StructuralSchema } from './structural-schema.ts'

/** What became of one field between two schemas, in words. */
export interface FieldChange {
  /** Such as `spec.items[].name`. */
  readonly path: string
  readonly says: string
}

/** Fields beyond this depth or number are not compared: a person reads the text. */
const depthMax = 20
const changesMax = 200

/** The differences that matter to stored objects, in the order of the new schema. Equal schemas have none. */
export function compareSchemas(before: StructuralSchema, after: StructuralSchema, path = ''): readonly FieldChange[] {
  const changes: FieldChange[] = []
  compare(before, after, { path, depth: 0, changes })
  return changes
}

interface Place {
  readonly path: string
  readonly depth: number
  readonly changes: FieldChange[]
}

function compare(before: StructuralSchema, after: StructuralSchema, place: Place): void {
  if (before === after || place.depth > depthMax || place.changes.length >= changesMax) return
  if (before.type !== after.type && before.type !== undefined && after.type !== undefined)
    return void place.changes.push({ path: place.path, says: `was ${before.type} and is ${after.type}` })
  for (const says of differences(before, after)) place.changes.push({ path: place.path, says })
  compareFields(before, after, place)
  const below = (name: string): Place => ({ ...place, path: place.path + name, depth: place.depth + 1 })
  if (before.items !== undefined && after.items !== undefined) compare(before.items, after.items, below('[]'))
  const [was, is] = [before.additionalProperties, after.additionalProperties]
  if (typeof was === 'object' && typeof is === 'object') compare(was, is, below('.*'))
}

function compareFields(before: StructuralSchema, after: StructuralSchema, place: Place): void {
  const [was, is] = [before.properties ?? {}, after.properties ?? {}]
  const gone = Object.keys(was).filter((name) => !Object.hasOwn(is, name))
  const added = Object.keys(is).filter((name) => !Object.hasOwn(was, name))
  const at = (name: string): string => (place.path === '' ? name : `${place.path}.${name}`)
  for (const [name, schema] of Object.entries(is)) {
    const old = Object.hasOwn(was, name) ? was[name] : undefined
    const needs = after.required?.includes(name) === true
    if (old === undefined) place.changes.push({ path: at(name), says: wordsOfNew(schema, needs) })
    else {
      if (needs && before.required?.includes(name) !== true && schema.default === undefined)
        place.changes.push({ path: at(name), says: 'is required now' })
      compare(old, schema, { ...place, path: at(name), depth: place.depth + 1 })
    }
  }
  for (const name of gone) {
    const heir = added.find((one) => is[one]?.type === was[name]?.type && after.required?.includes(one) === true)
    const guess = heir === undefined ? '' : `; if it is called ${heir} now, set that one in each object before`
    place.changes.push({ path: at(name), says: `is gone: the next write of an object drops it${guess}` })
  }
}

function wordsOfNew({ default: otherwise }: StructuralSchema, isRequired: boolean): string {
  if (otherwise !== undefined) return `is new, and ${textOf(otherwise)} where an object has none`
  return isRequired ? 'is new and required, and has no default' : 'is new'
}

/** What a value must keep to, besides its type and its fields. */
const limits = [
  'format',
  'pattern',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'x-kubernetes-list-type',
] as const satisfies readonly (keyof StructuralSchema)[]

function differences(before: StructuralSchema, after: StructuralSchema): readonly string[] {
  const told = limits.flatMap((name) => {
    const [was, is] = [before[name], after[name]]
    if (was === is) return []
    return [
      is === undefined
        ? `has no ${name} any more`
        : `has ${name} ${textOf(is)}${was === undefined ? '' : `, not ${textOf(was)}`}`,
    ]
  })
  const values = (before.enum ?? []).filter((one) => after.enum?.some((other) => equal(one, other)) === false)
  const refused = values.length === 0 ? [] : [`takes ${values.map(textOf).join(', ')} no more`]
  const limited = before.enum === undefined && after.enum !== undefined ? ['takes some values only'] : []
  const rules = equal(asJson(before['x-kubernetes-validations']), asJson(after['x-kubernetes-validations']))
  const otherwise = equal(asJson(before.default), asJson(after.default))
  return [
    ...told,
    ...refused,
    ...limited,
    ...(rules ? [] : ['has other rules']),
    ...(otherwise
      ? []
      : [after.default === undefined ? 'has no default any more' : `has the default ${textOf(after.default)}`]),
    ...(before.nullable === true && after.nullable !== true ? ['may not be null any more'] : []),
  ]
}

function asJson(value: unknown): Json {
  return (value ?? null) as Json
}

const textMax = 60

function textOf(value: unknown): string {
  return shorten(JSON.stringify(value), textMax)
}
