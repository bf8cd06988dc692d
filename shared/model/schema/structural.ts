import { checkRules } from '../cel/check-rules.ts'
import type { TypeBudget } from '../cel/type.ts'
import type { Json } from '../json.ts'
import { child, entry, type FieldError, forbidden, invalid, fieldRequired } from './field-error.ts'
import { checkKeywords } from './keywords.ts'
import { checkListKeywords } from './list-keywords.ts'
import { pruneValue } from './prune.ts'
import type { StructuralSchema } from './structural-schema.ts'
import { interpretSchema } from './validate.ts'
import { checkBranches, checkPattern } from './value-validation.ts'
import type { Budget } from './walk.ts'

/**
 * Everything that keeps a value from being a structural schema as Kubernetes asks for one: what is said of a value's
 * structure is said outside of `allOf`, `anyOf`, `oneOf` and `not`, at every level. Each error has the path of the node
 * and says what would be right; 100 errors at most. Takes any value; without errors it is a StructuralSchema, and safe
 * to use. Source: apiextensions-apiserver, `schema/validation.go`, `schema/complete.go`,
 * `apis/apiextensions/validation`.
 */
export function checkStructural(schema: unknown, path = '', types?: TypeBudget): readonly FieldError[] {
  return findErrors(schema, path, types).slice(0, mostErrors)
}

const mostErrors = 100

function findErrors(schema: unknown, path: string, types: TypeBudget | undefined): readonly FieldError[] {
  const keywordErrors = checkKeywords(schema as Json, path)
  if (keywordErrors.length > 0) return keywordErrors
  const structureErrors = walk(schema as StructuralSchema, { path, level: 'root' }, checkNode)
  if (structureErrors.length > 0) return structureErrors
  // Defaults and rules can only be held against a schema that holds.
  const budget = { steps: defaultStepsMax }
  const checkOwnDefault: Check = (node, place) => checkDefault(node, place, budget)
  const defaultErrors = walk(schema as StructuralSchema, { path, level: 'root' }, checkOwnDefault)
  return [...defaultErrors, ...checkRules(schema as StructuralSchema, path, types)]
}

/** All defaults of a schema are held against it while one request waits. */
const defaultStepsMax = 1_000_000

interface Place {
  readonly path: string
  readonly level: 'root' | 'item' | 'field'
  /**
   * Which part of a resource's own conventions this node describes: `metadata`, or something below it, for instance.
   */
  readonly within?: ResourcePart | undefined
}

interface ResourcePart {
  readonly name: string
  /** Of the object itself, not of a resource embedded in it. */
  readonly isTopLevel: boolean
}

type Check = (schema: StructuralSchema, place: Place) => readonly FieldError[]

function walk(schema: StructuralSchema, place: Place, check: Check): readonly FieldError[] {
  return [...check(schema, place), ...children(schema, place).flatMap(([node, below]) => walk(node, below, check))]
}

function checkNode(schema: StructuralSchema, place: Place): readonly FieldError[] {
  return [
    ...checkType(schema, place),
    ...checkExtensions(schema, place),
    ...checkFields(schema, place),
    ...checkResource(schema, place),
    ...checkListKeywords(schema, place.path),
    ...checkPattern(schema, place.path),
    ...checkRuleTexts(schema, place.path),
    ...checkBranches(schema, place),
  ]
}

function children(schema: StructuralSchema, place: Place): readonly (readonly [StructuralSchema, Place])[] {
  const { properties = {}, items, additionalProperties: others } = schema
  const { path, level, within } = place
  const isResource = level === 'root' || schema['x-kubernetes-embedded-resource'] === true
  const below: (readonly [StructuralSchema, Place])[] = []
  const fields = child(path, 'properties')
  for (const [name, node] of Object.entries(properties)) {
    const part = isResource && resourceParts.has(name) ? { name, isTopLevel: level === 'root' } : within
    below.push([node, { path: entry(fields, name), level: 'field', within: part }])
  }
  if (items !== undefined) below.push([items, { path: child(path, 'items'), level: 'item', within }])
  if (typeof others === 'object') {
    below.push([others, { path: child(path, 'additionalProperties'), level: 'field', within }])
  }
  return below
}

const resourceParts = new Set(['apiVersion', 'kind', 'metadata'])

const missingType = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
} as const

function checkType(schema: StructuralSchema, { path, level }: Place): readonly FieldError[] {
  const { type } = schema
  const field = child(path, 'type')
  if (schema['x-kubernetes-embedded-resource'] === true && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true'
    return [type === undefined ? fieldRequired(field, detail) : invalid(field, type, detail)]
  }
  if (type === undefined && !isUntyped(schema)) {
    return [
      fieldRequired(
        field,
        `${missingType[level]}; for a value of any type say x-kubernetes-preserve-unknown-fields: true`,
      ),
    ]
  }
  if (level === 'root' && type !== undefined && type !== 'object') {
    return [invalid(field, type, 'must be object at the root')]
  }
  return []
}

function isUntyped(schema: StructuralSchema): boolean {
  return schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true
}

function checkExtensions(schema: StructuralSchema, { path, level, within }: Place): readonly FieldError[] {
  const errors: FieldError[] = []
  const intOrString = schema['x-kubernetes-int-or-string'] === true
  const preserves = schema['x-kubernetes-preserve-unknown-fields']
  const preservesField = child(path, 'x-kubernetes-preserve-unknown-fields')
  const embeddedField = child(path, 'x-kubernetes-embedded-resource')
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true
  if (preserves === false) errors.push(invalid(preservesField, false, 'must be true or undefined'))
  const conflict = 'must be false if x-kubernetes-int-or-string is true'
  if (intOrString && preserves === true) errors.push(invalid(preservesField, true, conflict))
  if (intOrString && isEmbedded) errors.push(invalid(embeddedField, true, conflict))
  if (isEmbedded && within !== undefined)
    errors.push(forbidden(embeddedField, 'must not be used inside of resource meta'))
  if (level === 'root' && schema.nullable === true) {
    errors.push(forbidden(child(path, 'nullable'), 'nullable cannot be true at the root'))
  }
  return errors
}

function checkFields(schema: StructuralSchema, { path, level }: Place): readonly FieldError[] {
  const { properties = {}, additionalProperties: others } = schema
  const field = child(path, 'additionalProperties')
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true
  const hasProperties = Object.keys(properties).length > 0
  const errors: FieldError[] = []
  if (others !== undefined) {
    if (level === 'root') errors.push(forbidden(field, 'must not be used at the root'))
    if (isEmbedded) errors.push(forbidden(field, 'must not be used if x-kubernetes-embedded-resource is set'))
    if (others !== true && hasProperties) {
      errors.push(forbidden(field, 'additionalProperties and properties are mutual exclusive'))
    }
  }
  if (isEmbedded && !hasProperties && schema['x-kubernetes-preserve-unknown-fields'] !== true) {
    const detail =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields'
    errors.push(fieldRequired(child(path, 'properties'), detail))
  }
  return errors
}

/** What a resource has by convention may be narrowed, not redefined. */
function checkResource(schema: StructuralSchema, { path, level }: Place): readonly FieldError[] {
  const errors: FieldError[] = []
  const isResource = level === 'root' || schema['x-kubernetes-embedded-resource'] === true
  const { kind, apiVersion, metadata } = schema.properties ?? {}
  const must = (name: string, node: StructuralSchema | undefined, type: string): void => {
    if (!isResource || node === undefined || node.type === type) return
    const field = child(entry(child(path, 'properties'), name), 'type')
    errors.push(invalid(field, node.type ?? '', `must be ${type}`))
  }
  must('kind', kind, 'string')
  must('apiVersion', apiVersion, 'string')
  must('metadata', metadata, 'object')
  if (level === 'root' && metadata !== undefined && !isPlainMetadata(metadata)) {
    const detail = 'must not specify anything other than name and generateName, but metadata is implicitly specified'
    errors.push(forbidden(entry(child(path, 'properties'), 'metadata'), detail))
  }
  return errors
}

function isPlainMetadata({ type: _, default: _default, properties = {}, ...rest }: StructuralSchema): boolean {
  const isNamesOnly = Object.keys(properties).every((name) => name === 'name' || name === 'generateName')
  return (
    isNamesOnly &&
    Object.entries(rest).every(([keyword, value]) => value === false && keyword !== 'additionalProperties')
  )
}

/** Of the rules in CEL, what can be said without compiling them. */
function checkRuleTexts(schema: StructuralSchema, path: string): readonly FieldError[] {
  const rules = schema['x-kubernetes-validations'] ?? []
  return rules.flatMap(({ rule, message = '', messageExpression = '' }, i) => {
    const field = entry(child(path, 'x-kubernetes-validations'), i)
    if (rule.trim() === '') return [fieldRequired(child(field, 'rule'), 'rule is not specified')]
    if (message !== '' && message.trim() === '')
      return [invalid(child(field, 'message'), message, 'must be non-empty if specified')]
    if (messageExpression !== '' && messageExpression.trim() === '')
      return [fieldRequired(child(field, 'messageExpression'), 'must be non-empty if specified')]
    if (/[\n\r]/.test(message.trim()))
      return [invalid(child(field, 'message'), message, 'must not contain line breaks')]
    if (!/[\n\r]/.test(rule.trim()) || message.trim() !== '') return []
    return [fieldRequired(child(field, 'message'), 'message must be specified if rule contains line breaks')]
  })
}

/** A default must be a value that its own schema takes whole, without fields it does not know. */
function checkDefault(schema: StructuralSchema, { path, within }: Place, budget: Budget): readonly FieldError[] {
  const value = schema.default ?? undefined
  const field = child(path, 'default')
  if (value === undefined) return []
  if (within !== undefined)
    return within.isTopLevel ? [forbidden(field, `must not be set in top-level ${within.name}`)] : []
  const { unknown } = pruneValue(schema, value)
  if (unknown.length > 0)
    return [invalid(field, value, `must not have unknown fields; ${unknown.join(', ')} is not in the schema`)]
  return interpretSchema(schema, value, { path: field }, budget)
}
