import { validateRules } from '../model/cel/validate-rules.ts'
import { OperatingError } from '../model/errors.ts'
import { equal, isObject, type Json, type JsonObject } from '../model/json.ts'
import { apiVersionOf, parseApiVersion, type ApiObject } from '../model/object.ts'
import type { ServedKind } from '../model/served-kind.ts'
import { applyDefaults } from '../model/schema/defaulting.ts'
import { concealValue, errorsMax, listErrors, shortenSent, type FieldError } from '../model/schema/field-error.ts'
import { prune } from '../model/schema/prune.ts'
import type { StructuralSchema } from '../model/schema/structural-schema.ts'
import { isSettled } from '../model/schema/settled.ts'
import { interpretSchema } from '../model/schema/validate.ts'
import { siftMetadata } from './metadata-fields.ts'
import { createSameness, type Sameness } from '../model/sameness.ts'
import { undecodablePatch } from './refusals.ts'
import type { WriteOptions } from './resources.ts'
import { normalizeBody, siftBeyondSchema } from './strategies.ts'

/** The gate every body passes: of the right kind, without fields the schema does not know. */
export interface Admitted {
  readonly body: JsonObject
  readonly warnings: readonly string[]
}

/** A body of the right kind, and its fields that nobody knows: the schema, and the metadata of Kubernetes. */
export interface Sifted extends Admitted {
  readonly given: JsonObject
  readonly unknown: readonly string[]
  readonly strange: readonly string[]
}

/**
 * Throws BAD_REQUEST for another kind's body, and as `warnOfFaults` for unknown fields. `live` is what a patch is to
 * replace.
 */
export function admitBody(
  kind: ServedKind,
  given: JsonObject,
  options: Pick<WriteOptions, 'fieldValidation'>,
  live?: ApiObject,
): Admitted {
  const sifted = siftBody(kind, given, live)
  const faults = faultsBeside(kind, sifted, live)
  const { body, warnings } = sifted
  if (faults.length === 0) return { body, warnings }
  return { body, warnings: [...warnOfFaults(kind, faults, options, live !== undefined), ...warnings] }
}

/** Throws BAD_REQUEST for another kind's body. */
export function siftBody(kind: ServedKind, sent: JsonObject, live?: ApiObject): Sifted {
  checkType(kind, sent)
  const sifted = siftBeyondSchema(kind, normalizeBody(kind, sent))
  const { body: given, unknown: strange, warnings } = admitMetadata(sifted.body, live)
  const isKnown = live !== undefined && isSettled(kind.schema, given, live)
  const { value: body, unknown } = isKnown ? { value: given, unknown: [] } : prune(kind.schema, given)
  return {
    given,
    body,
    unknown,
    strange: sifted.unknown.length === 0 ? strange : [...sifted.unknown, ...strange],
    warnings,
  }
}

/**
 * What is wrong with a body. An object that was stored under another schema has fields that this one does not know: who
 * leaves them as they are has not sent them.
 */
export function faultsBeside({ schema }: ServedKind, sifted: Sifted, live?: ApiObject): readonly string[] {
  const { given, unknown, strange } = sifted
  const sent =
    live === undefined || unknown.length === 0
      ? unknown
      : unknownIn(schema, unknown, changedIn(given, live, createSameness()))
  return [...sent, ...strange].map((field) => `unknown field "${field}"`)
}

/** Those of the unknown fields that are in a part of the body. */
function unknownIn(schema: StructuralSchema, unknown: readonly string[], part: Json): readonly string[] {
  const there = new Set(prune(schema, part as JsonObject).unknown)
  return unknown.filter((field) => there.has(field))
}

/** What of a value is another than in the live one, at its place. */
function changedIn(value: Json, live: Json | undefined, isSame: Sameness): Json {
  if (Array.isArray(value) && Array.isArray(live))
    return value.map((item, i) => (isSame(live[i], item) ? null : changedIn(item, live[i], isSame)))
  if (!isObject(value) || !isObject(live)) return value
  const names = Object.keys(value).filter((name) => !isSame(live[name], value[name]))
  return Object.fromEntries(names.map((name) => [name, changedIn(value[name] as Json, live[name], isSame)]))
}

/**
 * The warnings for what is wrong with a body and harms nothing, unless its writer wants none. Throws under `Strict`:
 * UNDECODABLE, or INVALID about a patch, which in Kubernetes is a fault of the object that it makes.
 */
export function warnOfFaults(
  { kind, version }: Pick<ServedKind, 'kind' | 'version'>,
  faults: readonly string[],
  { fieldValidation = 'Warn' }: Pick<WriteOptions, 'fieldValidation'>,
  isPatch = false,
): readonly string[] {
  if (fieldValidation === 'Ignore' || faults.length === 0) return []
  const told = faults.map(shortenSent)
  if (fieldValidation === 'Warn') return told
  const why = `strict decoding error: ${told.join(', ')}`
  if (isPatch) throw undecodablePatch(why)
  const message = `${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`
  throw new OperatingError('UNDECODABLE', message)
}

/** The metadata of `live` is known. */
function admitMetadata(
  body: JsonObject,
  live: ApiObject | undefined,
): Admitted & { readonly unknown: readonly string[] } {
  const given = body['metadata']
  if (!isObject(given) || given === live?.metadata) return { body, unknown: [], warnings: [] }
  const { metadata, unknown, repeated } = siftMetadata(given)
  const warnings = repeated.length === 0 ? [] : [`${repeatedOwners} ${repeated.join(', ')}`]
  return { body: metadata === given ? body : { ...body, metadata }, unknown, warnings }
}

const repeatedOwners =
  '.metadata.ownerReferences contains duplicate entries, of which one is kept; duplicate UID(s) observed:'

/**
 * Throws BAD_REQUEST for another kind's body, and for one of another version: its fields may mean something else. A
 * body need not name its kind.
 */
export function checkType(kind: ServedKind, given: JsonObject): void {
  const misfit = (['apiVersion', 'kind'] as const).find((field) => !isTextOrAbsent(given[field]))
  if (misfit !== undefined) throw new OperatingError('BAD_REQUEST', `${misfit}: must be a string`)
  const wanted = apiVersionOf(kind.group, kind.version)
  const apiVersion = textOr(given['apiVersion'], wanted)
  const name = textOr(given['kind'], kind.kind)
  if (name === kind.kind && apiVersion === wanted) return
  throw new OperatingError(
    'BAD_REQUEST',
    name === kind.kind && parseApiVersion(apiVersion).group === kind.group
      ? `the API version in the data (${apiVersion}) does not match the expected API version (${wanted})`
      : `the object provided is ${apiVersion} ${name}, but this path is for ${wanted} ${kind.kind}`,
  )
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'string'
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value !== '' ? value : otherwise
}

/** The object with the defaults of its schema; the same object if it has them all. `live` is what it is to replace. */
export function withDefaults(kind: ServedKind, object: ApiObject, live?: ApiObject): ApiObject {
  return isSettled(kind.schema, object, live) ? object : applyDefaults(kind.schema, object)
}

/** Errors of the values, after pruning and defaults. What was invalid before and did not change is let be. */
export function checkSchema(kind: ServedKind, object: ApiObject, live?: ApiObject): readonly FieldError[] {
  const errors = checkStructure(kind, object, live)
  if (errors.length > 0 || kind.builtIn) return errors
  return checkRules(kind, object, live)
}

/**
 * What its rules say of an object. They see nothing of metadata that a write can change, so who changes that alone
 * hears nothing of them; who changes the status hears nothing of a rule that was broken before. An object that was
 * there before a rule, and breaks it, can be paused, labelled and deleted.
 */
function checkRules({ schema }: ServedKind, object: ApiObject, live: ApiObject | undefined): readonly FieldError[] {
  const moved = live === undefined ? [] : findMoved(object, live)
  if (live !== undefined && moved.length === 0) return []
  const errors = validateRules(schema, object, { old: live, isResource: true })
  if (errors.length === 0 || live === undefined || changesContent(object, live)) return errors
  const before = validateRules(schema, live, { isResource: true })
  return errors.filter((error) => !before.some((one) => equal(one, error)))
}

/** Whether a write changes more of an object than its metadata and its status. */
export function changesContent(object: ApiObject, live: ApiObject): boolean {
  return findMoved(object, live).some((field) => field !== 'status')
}

/** The fields at the top of an object that a write changes, but for its metadata. */
function findMoved(object: ApiObject, live: ApiObject): readonly string[] {
  return Object.keys({ ...live, ...object }).filter(
    (field) => field !== 'metadata' && !equal(live[field], object[field]),
  )
}

function checkStructure(kind: ServedKind, object: ApiObject, live?: ApiObject): readonly FieldError[] {
  if (isSettled(kind.schema, object, live)) return []
  if (live === undefined) return interpretSchema(kind.schema, object)
  const moved = findMoved(object, live)
  const errors = interpretSchema(kind.schema, object, { old: live })
  return errors.filter(({ field }) => concerns(field, moved))
}

/**
 * Whether an error is about what a write has moved: what is missing at the top of an object was missing before, if the
 * write left that field alone. What a kind asks of names and of the whole object holds wherever it is reported.
 */
function concerns(path: string, moved: readonly string[]): boolean {
  if (path === '<nil>') return moved.length > 0
  // A field may have a dot in its name.
  return ['metadata', ...moved].some(
    (field) => path.startsWith(field) && ['', '.', '['].includes(path.charAt(field.length)),
  )
}

/** Names, labels and the like are told everywhere; annotations may repeat what was applied. */
function concealUnlessPublic(error: FieldError): FieldError {
  const isPublic = error.field.startsWith('metadata.') && !error.field.startsWith('metadata.annotations')
  return isPublic || error.reason === 'FieldValueForbidden' ? error : concealValue(error)
}

/** Throws INVALID with one cause per error. */
export function refuse(
  kind: Pick<ServedKind, 'group' | 'kind' | 'isConfidential'>,
  name: string,
  found: readonly FieldError[],
): void {
  if (found.length === 0) return
  throw invalidBecause(kind, name, kind.isConfidential === true ? found.map(concealUnlessPublic) : found)
}

/** INVALID with one cause per error; the first hundred, if there are more. */
export function invalidBecause(
  kind: Pick<ServedKind, 'group' | 'kind'>,
  name: string,
  errors: readonly FieldError[],
): OperatingError {
  const causes = errors.slice(0, errorsMax)
  const subject = kind.group === '' ? `${kind.kind} "${name}"` : `${kind.kind}.${kind.group} "${name}"`
  return new OperatingError('INVALID', `${subject} is invalid: ${listErrors(causes)}`, {
    details: { name, group: kind.group, kind: kind.kind, causes },
  })
}
