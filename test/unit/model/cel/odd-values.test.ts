import { describe, expect, it } from 'vitest'
import { Meter } from '../../../../shared/model/cel/meter.ts'
import { compileExpression } from '../../../../shared/model/cel/program.ts'
import { plain } from '../../../../shared/model/cel/type.ts'
import { readUntyped } from '../../../../shared/model/cel/untyped-value.ts'
import { validateRules } from '../../../../shared/model/cel/validate-rules.ts'
import { CelFailure } from '../../../../shared/model/cel/value.ts'
import type { Json } from '../../../../shared/model/json.ts'
import { compilePolicy } from '../../../../shared/model/policy/compile-policy.ts'
import { judge } from '../../../../shared/model/policy/judge.ts'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'

/** Values that an expression's types do not foresee: they make it fail as CEL fails, and never throw. */

function run(text: string, object: Json): unknown {
  const program = compileExpression(text, { object: plain.dyn }, { gives: [] })
  if ('fault' in program) return program.fault
  const result = program.run([readUntyped(object)], new Meter(1_000_000))
  return result instanceof CelFailure ? `failure: ${result.message}` : result
}

const noOverload = 'failure: no such overload'

it.each<[string, Json, unknown]>([
  ['object.l.sum() > 2.0', { l: [1.5, 2.5] }, true],
  ['object.l.sum()', { l: ['a'] }, noOverload],
  ['object.l.sum()', { l: [1, 'a'] }, noOverload],
  ['object.l.sum()', { l: [1, null] }, noOverload],
  ['object.l.join(",")', { l: ['a', null] }, noOverload],
  ['object.l.join(",")', { l: ['a', 1] }, noOverload],
  ['object.l.max()', { l: [null, 1] }, noOverload],
  ['object.l.min()', { l: ['a', 1] }, noOverload],
  ['object.l.isSorted()', { l: [{}, null] }, noOverload],
  ['object.?a.hasValue()', { a: null }, true],
  ['object.?a.value() == null', { a: null }, true],
  ['object.?a.orValue("x") == null', { a: null }, true],
  ['object.?a.optMap(v, v == null).orValue(false)', { a: null }, true],
  ['object.?b.orValue("x") == "x"', { a: null }, true],
  ['optional.ofNonZeroValue(0u).hasValue()', {}, false],
  ['optional.ofNonZeroValue(1u).hasValue()', {}, true],
  ['optional.ofNonZeroValue(b"").hasValue()', {}, false],
])('%s of %j is %j', (text, object, wanted) => expect(run(text, object)).toEqual(wanted))

describe('a rule', () => {
  const list = (items: StructuralSchema): StructuralSchema => ({
    type: 'object',
    properties: {
      l: { type: 'array', maxItems: 10, items, 'x-kubernetes-validations': [{ rule: 'self.sum() < 100' }] },
    },
  })

  it.each<[StructuralSchema, Json]>([
    [{ 'x-kubernetes-int-or-string': true }, [1, 'http']],
    [{ type: 'integer', nullable: true }, [1, null]],
  ])('over items of %j refuses what it cannot judge', (items, l) => {
    expect(validateRules(list(items), { l })).toMatchObject([{ message: expect.stringContaining('no such overload') }])
  })
})

it('a policy whose failures are ignored throws nothing', () => {
  const spec = { failurePolicy: 'Ignore', validations: [{ expression: 'object.l.sum() <= 1.0' }] } as const
  const { policy, errors } = compilePolicy(spec)
  expect(errors).toEqual([])
  for (const l of [[0.5, 0.25], [1, 'a'], [null]]) {
    const subject = { object: { l }, oldObject: undefined, request: {}, params: undefined, namespaceObject: undefined }
    expect(judge(spec, policy, subject as never, new Meter(100_000))).toEqual([])
  }
})
