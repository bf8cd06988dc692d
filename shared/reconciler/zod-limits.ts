import type * as z from 'zod'
import { equal, isObject, type JsonObject } from '../model/json.ts'

/**
 * What a zod schema says and its JSON Schema leaves out without a word: why, and what to write instead. The server
 * knows the JSON Schema only, and what it let pass is given to the reconciler as it is.
 */
export function findUnsaid(schema: z.core.$ZodTypes, json: JsonObject): string | undefined {
  const def = defOf(schema)
  if (['pipe', 'promise', 'success'].includes(def.type))
    return 'nothing is transformed: say what is written, and transform it in the reconciler'
  if (def.type === 'union' && !isIntOrString(json)) return noUnion
  if (def.type === 'catch')
    return 'what is wrong is refused, and nothing is put in its place: write .default(…) for what is left out'
  if (isCoerced(def)) return 'nothing is converted: say the type that is written, and convert it in the reconciler'
  if ((def.type === 'default' || def.type === 'prefault') && isMadeAnew(def))
    return 'a default is one value for all objects: make one for each by default of the kind'
  if ((def.type === 'default' || def.type === 'prefault') && def.defaultValue === null)
    return 'a default of null counts as none: write .nullish(), and take what is left out for null in the reconciler'
  if (def.type === 'default' || def.type === 'prefault' ? !isFinite(def.defaultValue) : !isFinite(valuesOf(def)))
    return 'no number that is written is infinite or NaN'
  if (def.type === 'object' && isObject(json['additionalProperties'])) return noOthers
  if (json['contentEncoding'] !== undefined)
    return "bytes are written as base64: write z.string().meta({ format: 'byte' }), and decode it in the reconciler"
  if (def.type === 'tuple') return 'the items of a list are of one type: write an object with a field for each of them'
  if (def.type === 'record' && !isAnyText(def.keyType))
    return 'the keys of a record are any texts: write z.record(z.string(), …), or an object with these fields'
  for (const check of checksOf(schema)) {
    const unsaid = findUnsaidCheck(check)
    if (unsaid !== undefined) return unsaid
  }
  return undefined
}

/** What to write instead of what zod itself says no JSON Schema for; undefined where there is nothing like it. */
export function findWayOut(schema: z.core.$ZodTypes): string | undefined {
  return insteadOf[defOf(schema).type]
}

const insteadOf: { readonly [type: string]: string } = {
  date: 'an object holds a time as text: write z.iso.datetime(), and make a Date of it in the reconciler',
  bigint: 'a whole number is at most 2^53: write z.int(), or a larger one as text',
  map: 'write z.record(z.string(), …)',
  set: "write z.array(…).meta({ 'x-kubernetes-list-type': 'set' })",
  undefined: 'leave the field out, or write .optional() behind its type',
  void: 'leave the field out, or write .optional() behind its type',
  nan: 'no number that is written is NaN',
  function: 'an object holds data: say in a field what is to be done',
  symbol: 'an object holds data: write z.string()',
  custom: 'no function is called: say the type that is written, and the rest by validate or rules of the kind',
  transform: 'nothing is transformed: say what is written, and transform it in the reconciler',
}

/** Puts the flags of regular expressions into their patterns, such as `(?i)^a`: JSON Schema has no other place. */
export function keepFlags(schema: z.core.$ZodTypes, json: JsonObject): void {
  for (const check of checksOf(schema)) {
    const { pattern: { source, flags: all } = /./ } = check as Partial<z.core.$ZodCheckRegexDef>
    const flags = all.replaceAll(/[^ims]/g, '')
    if (flags === '') continue
    const parts = [json, ...((json['allOf'] ?? []) as readonly JsonObject[])]
    for (const part of parts) if (part['pattern'] === source) part['pattern'] = `(?${flags})${source}`
  }
}

/** Whether a value may be changed is a matter of its type alone. */
export function leaveTypesOut(schema: z.core.$ZodTypes, json: JsonObject): void {
  if (defOf(schema).type === 'readonly') delete json['readOnly']
}

const noUnion =
  'a field is of one type: write an object with the fields of all, optional, and say by rules which of them go ' +
  'together. A whole number or a text may be a union, with bounds and one pattern'

const noOthers =
  'an object has the fields that it names: for any others write z.object(…).meta({ ' +
  "'x-kubernetes-preserve-unknown-fields': true }), or put a record into a field"

/** Bounds of a whole number or a text, which mean the same without the branch that they are in. */
const boundsOf: { readonly [type: string]: readonly string[] } = {
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  string: ['minLength', 'maxLength', 'pattern'],
}

/** Whether a union is one of whole numbers and texts, of which a schema can say all. */
export function isIntOrString({ anyOf }: JsonObject): boolean {
  const branches = (Array.isArray(anyOf) ? anyOf : []) as readonly JsonObject[]
  const types = branches.map(({ type }) => String(type)).toSorted()
  return equal(types, ['integer', 'string']) && branches.every(isBounded)
}

/** The union of `isIntOrString` as one schema: bounds of a number are not asked of a text, nor the other way round. */
export function toIntOrString({ anyOf, ...rest }: JsonObject): JsonObject {
  const bounds = (anyOf as readonly JsonObject[]).map(({ type: _, description: __, ...bound }) => bound)
  return { ...(Object.assign({}, ...bounds) as JsonObject), ...rest, 'x-kubernetes-int-or-string': true }
}

function isBounded({ type, description: _, ...bounds }: JsonObject): boolean {
  return Object.keys(bounds).every((keyword) => boundsOf[String(type)]?.includes(keyword))
}

function isFinite(value: unknown): boolean {
  let finite = true
  JSON.stringify(value, (_, part: unknown) => {
    finite &&= typeof part !== 'number' || Number.isFinite(part)
    return part
  })
  return finite
}

/** Those that a literal or an enum names. */
function valuesOf(def: z.core.$ZodTypes['_zod']['def']): unknown {
  if (def.type === 'literal') return def.values
  return def.type === 'enum' ? def.entries : []
}

/** A function makes it: zod calls it each time that the value is read. */
function isMadeAnew(def: z.core.$ZodDefaultDef | z.core.$ZodPrefaultDef): boolean {
  const { defaultValue: first } = def
  const { defaultValue: second } = def
  return !equal(first, second)
}

function isCoerced(def: z.core.$ZodTypeDef): boolean {
  return (def as { readonly coerce?: boolean }).coerce === true
}

function isAnyText(schema: z.core.$ZodType): boolean {
  return defOf(schema).type === 'string' && checksOf(schema).length === 0
}

/** A format, such as `z.email()`, is its own first check. */
function checksOf(schema: z.core.$ZodType): readonly z.core.$ZodCheckDef[] {
  const def: z.core.$ZodTypeDef & { readonly check?: string } = defOf(schema)
  const checks = (def.checks ?? []).map((check) => defOf(check))
  return def.check === undefined ? checks : [def as z.core.$ZodTypeDef & z.core.$ZodCheckDef, ...checks]
}

function defOf<Part extends { readonly _zod: { readonly def: unknown } }>(part: Part): Part['_zod']['def'] {
  const { _zod: internals } = part
  return internals.def
}

type FormatDef = z.core.$ZodCheckStringFormatDef & Pick<z.core.$ZodURLDef, 'hostname' | 'protocol'>

function findUnsaidCheck(def: z.core.$ZodCheckDef): string | undefined {
  if (def.check === 'custom' || def.check === 'property')
    return 'no function is called: say it by validate or rules of the kind, or by x-kubernetes-validations'
  if (def.check === 'overwrite') return 'no text is changed: refuse what is not to be by a pattern'
  if (def.check !== 'string_format') return undefined
  const { format, pattern, hostname, protocol } = def as FormatDef
  if (/[vy]/.test(pattern?.flags ?? '')) return 'the flags v and y of a pattern are not known: write it without them'
  if (hostname !== undefined || protocol !== undefined)
    return 'a URL may be of any host and protocol: write z.url(), with a regex for how it begins'
  return pattern === undefined && format !== 'url' ? `the format ${format} is not checked: write a regex` : undefined
}
