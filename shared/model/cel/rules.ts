import type { StructuralSchema, ValidationRule } from '../schema/structural-schema.ts'
import { readsName } from './expression.ts'
import { parseExpression } from './parse.ts'
import { compileExpression, type Program } from './program.ts'
import { shapeOf } from './schema-value.ts'
import { optionalOf, plain, type TypeBudget } from './type.ts'

/** A rule of a schema, ready to run. */
export interface CompiledRule {
  readonly rule: ValidationRule
  readonly program: Program
  readonly message?: Program
  /** It speaks of the value before an update. */
  readonly usesOld: boolean
}

/** What is wrong with a rule, in the field of it where it is wrong. */
export interface RuleFault {
  readonly i: number
  readonly field: 'rule' | 'messageExpression'
  readonly fault: string
}

export interface CompiledRules {
  readonly rules: readonly CompiledRule[]
  readonly faults: readonly RuleFault[]
}

const compiled = new WeakMap<StructuralSchema, CompiledRules>()
const none: CompiledRules = { rules: [], faults: [] }

/** The rules of one place of a schema, compiled once. Those that there are too many types for are left out. */
export function celRulesOf(schema: StructuralSchema, isResource: boolean, types?: TypeBudget): CompiledRules {
  const rules = schema['x-kubernetes-validations']
  if (rules === undefined || rules.length === 0) return none
  const known = compiled.get(schema)
  if (known !== undefined) return known
  const made = compileRules(schema, isResource, types)
  if (types?.isSpent !== true) compiled.set(schema, made)
  return made
}

function compileRules(schema: StructuralSchema, isResource: boolean, types: TypeBudget | undefined): CompiledRules {
  const rules = schema['x-kubernetes-validations'] ?? []
  const self = shapeOf(schema, isResource)?.type ?? plain.dyn
  const good: CompiledRule[] = []
  const faults: RuleFault[] = []
  for (const [i, rule] of rules.entries()) {
    if (types?.isSpent === true) break
    const oldSelf = rule.optionalOldSelf === true ? optionalOf(self) : self
    const program = compileExpression(rule.rule, { self, oldSelf }, ['bool'], types)
    const { messageExpression = '' } = rule
    const message =
      messageExpression === '' ? undefined : compileExpression(messageExpression, { self, oldSelf }, ['string'], types)
    if ('fault' in program) faults.push({ i, field: 'rule', fault: program.fault })
    if (message !== undefined && 'fault' in message)
      faults.push({ i, field: 'messageExpression', fault: message.fault })
    if ('fault' in program || (message !== undefined && 'fault' in message)) continue
    good.push({ rule, program, usesOld: usesOldSelf(rule), ...(message === undefined ? {} : { message }) })
  }
  return { rules: good, faults }
}

/** By its name: a comment, a text or a field may be called so, too. */
function usesOldSelf({ rule }: ValidationRule): boolean {
  return rule.includes('oldSelf') && readsName(parseExpression(rule), 'oldSelf')
}

const withRules = new WeakMap<StructuralSchema, boolean>()

/** Whether there is a rule in a schema, at its place or below. */
export function hasRules(schema: StructuralSchema): boolean {
  const known = withRules.get(schema)
  if (known !== undefined) return known
  const has = (schema['x-kubernetes-validations'] ?? []).length > 0 || partsOf(schema).some(hasRules)
  withRules.set(schema, has)
  return has
}

function partsOf({ properties = {}, items, additionalProperties: others }: StructuralSchema): StructuralSchema[] {
  return [
    ...Object.values(properties),
    ...(items === undefined ? [] : [items]),
    ...(typeof others === 'object' ? [others] : []),
  ]
}
