import { isObject, type Json, type JsonObject } from '../json.ts'
import { createSameness, type Sameness } from '../sameness.ts'
import { keyIdentity } from '../schema/list-type.ts'
import {
  child,
  duplicate,
  entry,
  errorsMax,
  fieldRequired,
  forbidden,
  invalid,
  type FieldError,
} from '../schema/field-error.ts'
import type { StructuralSchema, ValidationRule } from '../schema/structural-schema.ts'
import { CostError, Meter } from './meter.ts'
import { hasRules, celRulesOf, type CompiledRule } from './rules.ts'
import { shapeOf } from './schema-value.ts'
import { readUntyped } from './untyped-value.ts'
import { CelFailure, Optional, type Result } from './value.ts'

/** What all rules of an object may cost together, in steps of the meter: about a twentieth of a second. */
const ruleStepsMax = 300_000

export interface RuleOptions {
  readonly path?: string
  /** The value before an update. What has not changed since is not held against the update. */
  readonly old?: Json | undefined
  /** The value is an object, with the fields that all objects have. */
  readonly isResource?: boolean
}

/** What the rules in CEL of a schema say against a value that fits it otherwise; 100 errors at most. */
export function validateRules(
  schema: StructuralSchema,
  value: Json,
  { path = '', old, isResource = false }: RuleOptions = {},
): readonly FieldError[] {
  if (!hasRules(schema)) return none
  const walk: Walk = { errors: [], meter: new Meter(ruleStepsMax), isSame: createSameness() }
  try {
    visit({ schema, value, old, path, isResource }, walk)
  } catch (error) {
    if (!(error instanceof CostError)) throw error
    const detail = 'the rules of the schema take too many steps; make the value smaller, or the rules simpler'
    return [...walk.errors, invalid(path, '', detail)]
  }
  return walk.errors
}

const none: readonly FieldError[] = []

interface Walk {
  readonly errors: FieldError[]
  readonly meter: Meter
  readonly isSame: Sameness
}

interface Place {
  readonly schema: StructuralSchema
  readonly value: Json
  /** Undefined where nothing was, or nothing of which it is known that it was this. */
  readonly old: Json | undefined
  readonly path: string
  readonly isResource: boolean
}

function visit(place: Place, walk: Walk): void {
  const { schema, value, old } = place
  if (!hasRules(schema) || walk.errors.length >= errorsMax || value === null) return
  walk.meter.spend(4)
  if (old !== undefined && walk.isSame(old, value)) return
  judge(place, walk)
  if (Array.isArray(value)) return visitItems(value, place, walk)
  if (isObject(value)) visitFields(value, place, walk)
}

function visitFields(fields: JsonObject, { schema, old, path }: Place, walk: Walk): void {
  const { properties = {}, additionalProperties: others } = schema
  const before = isObject(old) ? old : {}
  for (const [name, property] of Object.entries(properties)) {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (value !== undefined && hasRules(property))
      visit({ schema: property, value, old: ownField(before, name), path: child(path, name), isResource: false }, walk)
  }
  if (typeof others !== 'object' || !hasRules(others)) return
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue
    visit({ schema: others, value, old: ownField(before, name), path: entry(path, name), isResource: false }, walk)
  }
}

function ownField(fields: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}

function visitItems(items: readonly Json[], { schema, old, path }: Place, walk: Walk): void {
  const { items: below } = schema
  if (below === undefined || !hasRules(below)) return
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const isMap = schema['x-kubernetes-list-type'] === 'map'
  const known = isMap && Array.isArray(old) ? new Map(old.map((item) => [keyIdentity(item, keys), item])) : undefined
  for (const [i, value] of items.entries()) {
    const before = known?.get(keyIdentity(value, keys))
    visit({ schema: below, value, old: before, path: entry(path, i), isResource: false }, walk)
  }
}

function judge({ schema, value, old, path, isResource }: Place, walk: Walk): void {
  const { rules } = celRulesOf(schema, isResource)
  if (rules.length === 0) return
  const shape = shapeOf(schema, isResource)
  const read = (json: Json): Result => (shape === undefined ? readUntyped(json) : shape.read(json))
  const self = read(value)
  const before = old === undefined || old === null ? undefined : read(old)
  for (const rule of rules) {
    const isOptional = rule.rule.optionalOldSelf === true
    if (rule.usesOld && before === undefined && !isOptional) continue
    const oldSelf: Result = isOptional ? optional(before) : (before ?? new CelFailure('there is no oldSelf'))
    const error = judgeOne(rule, [self, oldSelf], { path, type: schema.type ?? 'object', meter: walk.meter })
    if (error !== undefined) walk.errors.push(error)
  }
}

function optional(value: Result | undefined): Result {
  return value instanceof CelFailure ? value : new Optional(value)
}

interface Judged {
  readonly path: string
  readonly type: string
  readonly meter: Meter
}

function judgeOne(
  { rule, program, message }: CompiledRule,
  values: readonly Result[],
  { path, type, meter }: Judged,
): FieldError | undefined {
  const result = program.run(values, meter)
  if (result === true) return undefined
  const field = rule.fieldPath === undefined || rule.fieldPath === '' ? path : joinPath(path, rule.fieldPath)
  if (result instanceof CelFailure) return invalid(field, type, `${result.message} evaluating rule: ${nameOf(rule)}`)
  const said = message?.run(values, meter)
  return errorOf(rule, { field, type, detail: messageOf(rule, said) })
}

function messageOf(rule: ValidationRule, said: Result | undefined): string {
  const isMessage = typeof said === 'string' && said.trim() !== '' && !said.includes('\n') && said.length <= messageMax
  return isMessage ? said.trim() : (trimmed(rule.message) ?? `failed rule: ${rule.rule.trim()}`)
}

const messageMax = 5_120

function nameOf({ rule, message }: ValidationRule): string {
  return trimmed(message) ?? rule.trim()
}

function trimmed(text: string | undefined): string | undefined {
  const bare = text?.trim() ?? ''
  return bare === '' ? undefined : bare
}

function errorOf(
  { reason }: ValidationRule,
  { field, type, detail }: { readonly field: string; readonly type: string; readonly detail: string },
): FieldError {
  switch (reason) {
    case 'FieldValueForbidden':
      return forbidden(field, detail)
    case 'FieldValueRequired':
      return fieldRequired(field, detail)
    case 'FieldValueDuplicate':
      return duplicate(field, type)
    default:
      return invalid(field, type, detail)
  }
}

/** A path below another: `.a['b']`. */
function joinPath(path: string, below: string): string {
  const names = [...below.matchAll(/\.([^.[\]']+)|\['([^']+)'\]/g)].map(([, name, quoted]) => name ?? quoted ?? '')
  return names.reduce(child, path)
}
