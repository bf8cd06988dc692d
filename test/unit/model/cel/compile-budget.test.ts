import { describe, expect, it } from 'vitest'
import { CompileBudget } from '../../../../shared/model/cel/compile-budget.ts'
import { checkRuleCosts } from '../../../../shared/model/cel/cost/check-costs.ts'
import { TypeBudget } from '../../../../shared/model/cel/type.ts'
import { checkCrd } from '../../../../shared/model/crd/check-crd.ts'
import type { SentDefinition } from '../../../../shared/model/custom-resource-definition.ts'
import { compilePolicy } from '../../../../shared/model/policy/compile-policy.ts'
import type { FieldError } from '../../../../shared/model/schema/field-error.ts'
import { checkStructural } from '../../../../shared/model/schema/structural.ts'
import type { StructuralSchema, ValidationRule } from '../../../../shared/model/schema/structural-schema.ts'
import { leastProcessorMs } from '../../../support/processor-time.ts'

/** Its types double with each step. */
const doubling = (steps: number): string => `[1]${'.map(v, {v: v})'.repeat(steps)}.size() == 1`
const repeated = (count: number, steps: number): ValidationRule[] =>
  Array.from({ length: count }, () => ({ rule: doubling(steps) }))
const schemaWith = (rules: readonly ValidationRule[]): StructuralSchema => ({
  type: 'object',
  properties: { spec: { type: 'object' } },
  'x-kubernetes-validations': rules,
})

function definition(...schemas: readonly StructuralSchema[]): SentDefinition {
  const versions = schemas.map((openAPIV3Schema, i) => ({
    name: `v${i + 1}`,
    served: true,
    storage: i === 0,
    schema: { openAPIV3Schema },
  }))
  const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com' },
    spec: { group: 'example.com', names, scope: 'Namespaced', versions },
  } as never
}

const tooLarge = 'has types that are too large, with those of the expressions before it'

describe('the patterns of one object may take a million steps', () => {
  /** So long that only its characters count, ten each, beside the 700 of every pattern. */
  const whole = 'x'.repeat(99_930)

  it('and not one more', () => {
    const budget = new CompileBudget()
    expect([budget.spend(whole, 'p'), budget.isSpent]).toEqual([[], false])
    expect([budget.spend(whole, 'q'), budget.isSpent]).toEqual([[], false])
    expect(budget.spend('a', 'r')).toMatchObject([{ field: 'r', reason: 'FieldValueForbidden' }])
    expect([budget.spend('b', 's'), budget.isSpent]).toEqual([[], true])
  })

  it.each([
    ['a call that matches', 'self.a.matches("a")', ['q']],
    ['two calls, of which the first is said', 'self.a.matches("a") && self.a.find("b") == ""', ['q']],
    ['a call that finds', 'self.a.find("a") == ""', ['q']],
    ['a call with what is computed', 'self.a.matches("a" + "b")', []],
    ['a text', 'self.a == "a"', []],
    ['what is no expression', 'self.a.matches("a"', []],
  ])('and of those in an expression the patterns count: %s', (_what, expression, fields) => {
    const budget = new CompileBudget()
    budget.spend(whole, 'p')
    expect(budget.spendOnExpression(expression, 'q').map(({ field }) => field)).toEqual(fields)
    expect(budget.isSpent).toBe(fields.length > 0)
  })
})

describe('the types of all expressions are looked at so many times', () => {
  it('of a definition, over all its versions', () => {
    const rules = repeated(2, 11)
    expect(checkCrd(definition(schemaWith(rules)))).toEqual([])
    let errors: readonly FieldError[] = []
    const work = (): void => {
      errors = checkCrd(definition(schemaWith(rules), schemaWith(repeated(40, 17))))
    }
    expect(leastProcessorMs(work)).toBeLessThan(100)
    expect(errors.map(({ message }) => message.includes(tooLarge))).toEqual([true])
    expect(errors[0]?.field).toContain('spec.versions[1].schema.openAPIV3Schema.x-kubernetes-validations[')
  })

  it('of a policy', () => {
    const validations = Array.from({ length: 90 }, () => ({ expression: doubling(17) }))
    let errors: readonly FieldError[] = []
    const work = (): void => {
      errors = compilePolicy({ validations }, new CompileBudget()).errors
    }
    expect(leastProcessorMs(work)).toBeLessThan(100)
    expect(errors.map(({ message }) => message.includes(tooLarge))).toEqual([true])
  })

  it('but not of what is stored already', () => {
    const large = (): SentDefinition => definition(schemaWith(repeated(60, 13)))
    expect(checkCrd(large()).length).toBeGreaterThan(0)
    expect(checkCrd(large(), large())).toEqual([])
  })

  it('and what cannot be looked at is too expensive, and compiles with more looks', () => {
    const types = new TypeBudget()
    const schema = schemaWith(repeated(1, 13))
    while (!types.isSpent) {
      const before = checkRuleCosts(schema, 'p', types).map(({ message }) => message)
      expect(before).toEqual(
        types.isSpent ? [expect.stringContaining('more than 100x'), expect.anything(), expect.anything()] : [],
      )
    }
    expect(checkRuleCosts(schema, 'p', types)).toEqual([])
    expect(checkStructural(schema, 'p', types)).toEqual([])
    const broken = schemaWith([{ rule: 'self.nothing' }])
    expect(checkStructural(broken, 'p', types)).toEqual([])
    expect(checkStructural(broken, 'p')).toHaveLength(1)
  })
})
