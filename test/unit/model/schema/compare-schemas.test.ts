import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compareSchemas } from '../../../../shared/model/schema/compare-schemas.ts'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'
import { share } from '../../../support/strength.ts'

const text: StructuralSchema = { type: 'string' }
const whole: StructuralSchema = { type: 'integer' }
const object = (
  properties: Readonly<Record<string, StructuralSchema>>,
  required: readonly string[] = [],
): StructuralSchema => ({ type: 'object', properties, required })

it.each<[string, StructuralSchema, StructuralSchema, readonly string[]]>([
  ['nothing', object({ a: text }), object({ a: { ...text, description: 'said better' } }), []],
  ['an optional field', object({}), object({ a: text }), ['a is new']],
  ['a default', object({}), object({ a: { ...text, default: 'x' } }), ['a is new, and "x" where an object has none']],
  ['a required field', object({}), object({ a: text }, ['a']), ['a is new and required, and has no default']],
  ['a removed field', object({ a: text }), object({}), ['a is gone: the next write of an object drops it']],
  [
    'a renamed field',
    object({ title: text, size: whole }, ['title']),
    object({ heading: text, size: whole }, ['heading']),
    [
      'heading is new and required, and has no default',
      'title is gone: the next write of an object drops it; if it is called heading now, set that one in each object before',
    ],
  ],
  ['a requirement', object({ a: text }), object({ a: text }, ['a']), ['a is required now']],
  ['a type', object({ a: text }), object({ a: whole }), ['a was string and is integer']],
  [
    'limits',
    object({ a: { ...text, maxLength: 9, pattern: '^a' } }),
    object({ a: { ...text, maxLength: 5, minLength: 1 } }),
    ['a has no pattern any more', 'a has minLength 1', 'a has maxLength 5, not 9'],
  ],
  ['values', { enum: ['a', 'b'] }, { enum: ['b', 'c'] }, [' takes "a" no more']],
  ['some values only', text, { ...text, enum: ['a'] }, [' takes some values only']],
  ['another default', { ...text, default: 'a' }, { ...text, default: 'b' }, [' has the default "b"']],
  ['rules', text, { ...text, 'x-kubernetes-validations': [{ rule: 'self != ""' }] }, [' has other rules']],
  [
    'what is below',
    object({ l: { type: 'array', items: object({ a: text }) }, m: { type: 'object', additionalProperties: text } }),
    object({ l: { type: 'array', items: object({ a: whole }) }, m: { type: 'object', additionalProperties: whole } }),
    ['l[].a was string and is integer', 'm.* was string and is integer'],
  ],
])('tells of %s', (_, before, after, told) => {
  expect(compareSchemas(before, after).map(({ path, says }) => `${path} ${says}`)).toEqual(told)
})

const { schema } = fc.letrec<{ schema: StructuralSchema }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small' },
    fc.record(
      {
        type: fc.constantFrom('string', 'integer'),
        maxLength: fc.nat(5),
        enum: fc.array(fc.nat(3)),
        default: fc.nat(3),
      },
      { requiredKeys: ['type'] },
    ),
    fc.record(
      {
        type: fc.constant('object' as const),
        properties: fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'constructor'), tie('schema')),
        required: fc.subarray(['a', 'b', 'constructor']),
      },
      { requiredKeys: ['type'] },
    ),
    fc.record({ type: fc.constant('array' as const), items: tie('schema') }),
  ),
}))

it('tells nothing of a schema and its copy, and something where fields differ', () => {
  fc.assert(
    fc.property(schema, schema, (one, other) => {
      expect(compareSchemas(one, structuredClone(one))).toEqual([])
      expect(compareSchemas(one, other).length).toBeLessThan(1_000)
      if (one.type === 'string' && other.type === 'integer') expect(compareSchemas(one, other)).toHaveLength(1)
    }),
    { numRuns: share(1_000) },
  )
})
