import type { Json, JsonObject } from '../json.ts'
import { type Branches, type CompiledSchema, fieldSchema } from './compiled-schema.ts'
import { resourceFaults } from './embedded-resource.ts'
import { child, type FieldError, invalid, notSupported, fieldRequired, tooMany } from './field-error.ts'
import { checkListType, isUniqueByValue } from './list-type.ts'
import type { Options } from './options.ts'
import { hasField } from './own-field.ts'
import { checkNumber, checkString, reportType, typeOf } from './scalars.ts'
import { type Budget, branchOff, isOver, isSpent, location, report, spend, type Walk } from './walk.ts'

/** Whether the logical junctors of a node hold for a value, which is not null. */
export function branchesHold(branches: Branches, value: Json, budget: Budget): boolean {
  const walk: Walk = { root: '', steps: [], found: 0, errors: [], budget, isUnchanged: undefined, isQuiet: true }
  checkBranches(branches, value, walk)
  return walk.found === 0 && !isSpent(budget)
}

/** What it takes to hold a value against a schema, in steps of a pattern's matcher. */
const stepsOfValue = 4
/** The same for one of many alternatives, which lie far from each other in memory. */
const stepsOfBranch = 100
/** To come by a field of an object. */
const stepsOfField = 10
/** To look for a field by its name. */
const stepsOfName = 2

/** Reports everything in the value that the node refuses. */
export function checkValue(node: CompiledSchema, value: Json, walk: Walk): void {
  if (isOver(walk) || !spend(walk.budget, stepsOfValue)) return
  if (value === null) return checkNull(node, walk)
  if (node.types !== 0 && (node.types & typeOf(value)) === 0) reportType(node, value, walk)
  if (node.branches !== undefined) checkBranches(node.branches, value, walk)
  if (typeof value === 'string') checkString(node, value, walk)
  else if (typeof value === 'number') checkNumber(node, value, walk)
  else if (Array.isArray(value)) checkItems(node, value, walk)
  else if (typeof value === 'object') checkFields(node, value, walk)
  if (node.enum !== undefined) checkEnum(node.enum, value, walk)
}

/** Of a null, nothing is asked but that it may be one. */
function checkNull(node: CompiledSchema, walk: Walk): void {
  if (node.types !== 0 && !node.nullable) reportType(node, null, walk)
  if (node.enum !== undefined) checkEnum(node.enum, null, walk)
}

function checkEnum(options: Options, value: Json, walk: Walk): void {
  spend(walk.budget, options.stepsOf(value))
  if (!options.has(value)) report(walk, () => notSupported(location(walk), value, options.names))
}

function checkItems(node: CompiledSchema, items: readonly Json[], walk: Walk): void {
  if (node.items !== undefined) {
    const depth = walk.steps.push(0) - 1
    for (let i = 0; i < items.length && !isOver(walk); i++) {
      walk.steps[depth] = i
      checkValue(node.items, items[i] as Json, walk)
    }
    walk.steps.pop()
  }
  if (node.forArray !== undefined) checkArrayKeywords(node.forArray, items, walk)
  if (node.listType !== undefined) checkListType(node, items, walk)
}

type ArrayKeywords = NonNullable<CompiledSchema['forArray']>

function checkArrayKeywords(
  { minItems, maxItems, uniqueItems }: ArrayKeywords,
  items: readonly Json[],
  walk: Walk,
): void {
  const count = items.length
  if (minItems !== undefined && count < minItems) {
    report(walk, () => invalidHere(walk, count, `should have at least ${minItems} items`))
  }
  if (maxItems !== undefined && count > maxItems) report(walk, () => tooMany(location(walk), count, maxItems))
  if (uniqueItems === true && !isUniqueByValue(items, walk.budget)) {
    report(walk, () => invalidHere(walk, '', "shouldn't contain duplicates"))
  }
}

function checkFields(node: CompiledSchema, fields: JsonObject, walk: Walk): void {
  if (node.isResource) for (const fault of resourceFaults(fields, location(walk))) report(walk, () => fault)
  // The order of errors counts only where they are told.
  const count = walk.isQuiet && !concernsAll(node) ? checkNamed(node, fields, walk) : checkEach(node, fields, walk)
  if (node.forObject !== undefined) checkObjectKeywords(node.forObject, { fields, count }, walk)
}

/** Whether a node says something about fields that it does not name. */
function concernsAll({ others, forObject }: CompiledSchema): boolean {
  const { minProperties, maxProperties } = forObject ?? {}
  return others === 'refused' || typeof others === 'object' || (minProperties ?? maxProperties) !== undefined
}

/** The fields that the node describes. Counts none. */
function checkNamed(node: CompiledSchema, fields: JsonObject, walk: Walk): 0 {
  for (const [name, schema] of node.properties) {
    if (isOver(walk) || !spend(walk.budget, stepsOfName)) break
    if (!hasField(fields, name)) continue
    walk.steps.push(name)
    checkValue(schema, fields[name] as Json, walk)
    walk.steps.pop()
  }
  return 0
}

/** All fields, in their order; how many there are. */
function checkEach(node: CompiledSchema, fields: JsonObject, walk: Walk): number {
  let count = 0
  for (const name in fields) {
    if (isOver(walk) || !spend(walk.budget, stepsOfField)) break
    const field = fields[name]
    if (field === undefined) continue
    count++
    const schema = fieldSchema(node, name)
    if (schema !== undefined) {
      walk.steps.push(name)
      checkValue(schema, field, walk)
      walk.steps.pop()
    } else if (node.others === 'refused') {
      report(walk, () => {
        const path = location(walk)
        return invalid(path, name, `${path}.${name} in body is a forbidden property`)
      })
    }
  }
  return count
}

type ObjectKeywords = NonNullable<CompiledSchema['forObject']>
type Counted = { readonly fields: JsonObject; readonly count: number }

function checkObjectKeywords(keywords: ObjectKeywords, { fields, count }: Counted, walk: Walk): void {
  const { required: names = [], minProperties, maxProperties } = keywords
  for (const name of names) {
    if (isOver(walk) || !spend(walk.budget, stepsOfName)) return
    if (!hasField(fields, name)) report(walk, () => fieldRequired(child(location(walk), name)))
  }
  if (minProperties !== undefined && count < minProperties) {
    report(walk, () => invalidHere(walk, count, `should have at least ${minProperties} properties`))
  }
  if (maxProperties !== undefined && count > maxProperties)
    report(walk, () => tooMany(location(walk), count, maxProperties))
}

function invalidHere(walk: Walk, value: unknown, fault: string): FieldError {
  const path = location(walk)
  return invalid(path, value, `${path} in body ${fault}`)
}

function checkBranches({ allOf, anyOf, oneOf, not }: Branches, value: Json, walk: Walk): void {
  const aside = branchOff(walk, true)
  /** Whether the value is valid by the branch; no error is worded. */
  const holds = (branch: CompiledSchema): boolean => {
    aside.found = 0
    spend(walk.budget, stepsOfBranch)
    checkValue(branch, value, aside)
    return aside.found === 0
  }
  if (anyOf.length > 0 && !anyOf.some(holds)) {
    reportBranch('must validate at least one schema (anyOf)', walk)
    reportNearest(anyOf, value, walk)
  }
  if (oneOf.length > 0) reportOneOf(oneOf, oneOf.filter(holds).length, { value, walk })
  if (allOf.length > 0)
    reportAllOf(
      allOf,
      allOf.filter((branch) => !holds(branch)),
      { value, walk },
    )
  if (not !== undefined && holds(not)) reportBranch('must not validate the schema (not)', walk)
}

interface Here {
  readonly value: Json
  readonly walk: Walk
}

function reportOneOf(branches: readonly CompiledSchema[], valid: number, { value, walk }: Here): void {
  if (valid === 1) return
  const outcome = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`
  reportBranch(`must validate one and only one schema (oneOf). ${outcome}`, walk)
  if (valid === 0) reportNearest(branches, value, walk)
}

function reportAllOf(
  branches: readonly CompiledSchema[],
  broken: readonly CompiledSchema[],
  { value, walk }: Here,
): void {
  if (broken.length === 0) return
  for (const branch of broken) for (const error of errorsIn(branch, value, walk)) report(walk, () => error)
  const outcome = broken.length === branches.length ? '. None validated' : ''
  reportBranch(`must validate all the schemas (allOf)${outcome}`, walk)
}

function errorsIn(branch: CompiledSchema, value: Json, walk: Walk): readonly FieldError[] {
  if (walk.isQuiet) return []
  const aside = branchOff(walk, false)
  checkValue(branch, value, aside)
  return aside.errors
}

/** The errors of the alternative that was missed by the least: most likely the one that was meant. */
function reportNearest(branches: readonly CompiledSchema[], value: Json, walk: Walk): void {
  let nearest: readonly FieldError[] | undefined
  for (const branch of branches) {
    const errors = errorsIn(branch, value, walk)
    if (nearest === undefined || errors.length < nearest.length) nearest = errors
    // None holds, so that none is nearer; and errors in words cost more than the value.
    if (nearest.length <= 1) break
  }
  for (const error of nearest ?? []) report(walk, () => error)
}

function reportBranch(what: string, walk: Walk): void {
  report(walk, () => {
    const path = location(walk)
    return invalid(path, '', `${JSON.stringify(path)} ${what}`)
  })
}
