import { describe, expect, it } from 'vitest'
import type { Json } from '../../../../shared/model/json.ts'
import { branchesHold } from '../../../../shared/model/schema/check-value.ts'
import { compile } from '../../../../shared/model/schema/compiled-schema.ts'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'
import { interpretSchema } from '../../../../shared/model/schema/validate.ts'
import { location, report, stepsMax, type Walk } from '../../../../shared/model/schema/walk.ts'
import { processorMs } from '../../../support/processor-time.ts'

const whole: StructuralSchema = { type: 'integer' }
const least = (minimum: number): StructuralSchema => ({ minimum })
const most = (maximum: number): StructuralSchema => ({ maximum })

function expectSteps(schema: StructuralSchema, value: Json, holds: boolean, steps: number): void {
  const { branches } = compile(schema)
  const budget = { steps: 1_000 }
  expect(branches && branchesHold(branches, value, budget)).toBe(holds)
  expect(1_000 - budget.steps).toBe(steps)
}

describe('whether alternatives hold takes four steps a value, and a hundred more for each alternative that is tried', () => {
  it.each<[StructuralSchema, Json, boolean, number]>([
    [{ anyOf: [least(1), least(10)] }, 5, true, 104],
    [{ anyOf: [least(10), least(1)] }, 5, true, 208],
    [{ anyOf: [least(10), least(11)] }, 5, false, 208],
    [{ oneOf: [least(10), least(1)] }, 5, true, 208],
    [{ oneOf: [least(2), least(1)] }, 5, false, 208],
    [{ allOf: [least(2), least(1)] }, 5, true, 208],
    [{ allOf: [least(10), least(1)] }, 5, false, 208],
    [{ not: least(10) }, 5, true, 104],
    [{ not: least(1) }, 5, false, 104],
    [{ anyOf: [{ items: least(1) }] }, [5, 6], true, 112],
    // The first that does not fit decides.
    [{ anyOf: [{ items: least(10) }] }, [5, 6, 7], false, 108],
    [{ anyOf: [least(1)], not: least(10) }, 5, true, 208],
    [{ anyOf: [least(10)], not: least(1) }, 5, false, 208],
  ])('%j of %j: %s, %d', expectSteps)

  it('and they do not hold once there are no steps left', () => {
    const { branches } = compile({ anyOf: [least(1)] })
    const left = (steps: number) => branches && branchesHold(branches, 5, { steps })
    expect([left(104), left(103)]).toEqual([true, false])
    const wrong = compile({ anyOf: [least(10)] }).branches
    expect(wrong && branchesHold(wrong, 5, { steps: 104 })).toBe(false)
  })
})

describe('what takes long to look at takes more steps', () => {
  const any = (branch: StructuralSchema): StructuralSchema => ({ anyOf: [branch] })
  const text = 'x'.repeat(16)

  it.each<[string, StructuralSchema, Json, boolean, number]>([
    ['a name', any({ required: ['a', 'b'] }), { a: 1, b: 2, c: 3 }, true, 108],
    ['a name up to the first that is missing', any({ required: ['c', 'a'] }), { a: 1 }, false, 106],
    ['a field that is described', any({ properties: { a: least(1), d: least(1) } }), { a: 1, b: 2, c: 3 }, true, 112],
    ['a field up to the first misfit', any({ properties: { a: least(2), d: most(1) } }), { a: 1, d: 1 }, false, 110],
    ['fields that are counted', any({ minProperties: 2 }), { a: 1, b: 2 }, true, 124],
    ['fields of which there are too many', any({ maxProperties: 1 }), { a: 1, b: 2 }, false, 124],
    ['a format', any({ format: 'date' }), '2026-01-01', true, 114],
    ['no format where the length is wrong', any({ format: 'date', maxLength: 9 }), '2026-01-01', false, 105],
    ['a length that is plain', any({ minLength: 8, maxLength: 16 }), text, true, 104],
    ['a length above', any({ maxLength: 15 }), text, false, 106],
    ['a length below', any({ minLength: 9 }), text, true, 106],
    ['a choice of texts', any({ enum: ['a', text] }), text, true, 104],
    ['a choice of lists', any({ enum: [[1, 'ab']] }), [1, 'ab'], true, 109],
    ['a choice of lists up to the size of the largest', any({ enum: [[1, 'ab']] }), [1, 2, 3, 4, 5, 6, 7], false, 110],
    ['items that differ', any({ uniqueItems: true }), [1, 22], true, 107],
  ])('%s', (_what, ...row) => expectSteps(...row))

  const many = <T>(make: (i: number) => T): T[] => Array.from({ length: 20_000 }, (_, i) => make(i))
  it.each<[string, StructuralSchema, Json]>([
    ['a format', { format: 'duration' }, '1 '.repeat(150_000)],
    ['a length', { maxLength: 80_000, minLength: 76_000 }, '\u{1F600}'.repeat(75_000)],
    ['a name', { required: ['x'] }, Object.fromEntries(many((i) => [`f${i}`, i]))],
    ['a number of fields', { maxProperties: 1 }, Object.fromEntries(many((i) => [`f${i}`, i]))],
    ['an item', { items: most(0) }, many((i) => 1 + i)],
    ['a choice', { items: { enum: [many(() => 1)] } }, [many((i) => i % 2)]],
  ])('so that many alternatives of a large value are given up in time: %s', (_what, branch, value) => {
    const { branches } = compile({ anyOf: Array.from({ length: 1_000 }, () => branch) })
    const work = (): void => expect(branches && branchesHold(branches, value, { steps: stepsMax })).toBe(false)
    expect(processorMs(work)).toBeLessThan(500)
  })
})

describe('what is said where alternatives do not hold', () => {
  const said = (schema: StructuralSchema, value: Json): readonly string[] =>
    interpretSchema({ ...whole, ...schema }, value, { path: 'p' }).map(({ message }) =>
      message.replace(/^Invalid value: (?:""|\d+): (?:"p" |p in body )/, ''),
    )
  const multiple = (multipleOf: number, minimum: number): StructuralSchema => ({ multipleOf, minimum })
  const any = 'must validate at least one schema (anyOf)'
  const one = 'must validate one and only one schema (oneOf).'
  const all = 'must validate all the schemas (allOf)'

  it.each<[string, StructuralSchema, readonly string[]]>([
    [
      'the errors of that which was missed by the least',
      { anyOf: [multiple(3, 10), least(20)] },
      [any, 'should be greater than or equal to 20'],
    ],
    ['those of the first of these', { anyOf: [least(20), least(30)] }, [any, 'should be greater than or equal to 20']],
    [
      'those of the first of these, also where all were missed by more',
      { anyOf: [multiple(3, 10), multiple(3, 20)] },
      [any, 'should be a multiple of 3', 'should be greater than or equal to 10'],
    ],
    [
      'those of the nearest of one of several, too',
      { oneOf: [least(20), most(1)] },
      [`${one} Found none valid`, 'should be greater than or equal to 20'],
    ],
    [
      'that there are too many, and nothing against those that do not hold',
      { oneOf: [least(20), most(9), most(8)] },
      [`${one} Found 2 valid alternatives`],
    ],
    ['those of each that must hold', { allOf: [least(20), most(9)] }, ['should be greater than or equal to 20', all]],
    [
      'that none holds',
      { allOf: [least(20), least(10)] },
      ['should be greater than or equal to 20', 'should be greater than or equal to 10', `${all}. None validated`],
    ],
    ['that it must not hold', { not: most(9) }, ['must not validate the schema (not)']],
  ])('is %s', (_what, schema, messages) => {
    expect(said(schema, 5)).toEqual(messages)
  })
})

it('an error in words takes a hundred steps, and one that nobody reads neither steps nor words', () => {
  const walk = (isQuiet: boolean): Walk => ({
    root: 'p',
    steps: ['a', 0],
    found: 0,
    errors: [],
    budget: { steps: 1_000 },
    isQuiet,
    isUnchanged: undefined,
  })
  const [loud, quiet] = [walk(false), walk(true)]
  let worded = 0
  for (const one of [loud, quiet]) {
    report(one, () => {
      worded++
      return { field: location(one), reason: 'FieldValueInvalid', message: 'no' }
    })
  }
  expect(loud).toMatchObject({ budget: { steps: 900 }, errors: [{ field: 'p.a[0]', message: 'no' }] })
  expect(quiet).toMatchObject({ budget: { steps: 1_000 }, found: 1, errors: [] })
  expect(worded).toBe(1)
})

it('a field that is undefined is none', () => {
  const value = { a: undefined }
  const count = (schema: StructuralSchema): number => interpretSchema({ type: 'object', ...schema }, value).length
  expect(count({ properties: { a: { type: 'string' } } })).toBe(0)
  expect(count({ additionalProperties: { type: 'string' } })).toBe(0)
  expect(count({ minProperties: 1 })).toBe(1)
  expect(count({ maxProperties: 0 })).toBe(0)
  expect(count({ required: ['a'] })).toBe(1)
})

it('a schema is made ready once', () => {
  const schema: StructuralSchema = { type: 'array', items: whole }
  expect(compile(schema)).toBe(compile(schema))
})

it.each<[StructuralSchema, Json, string | undefined]>([
  [{ type: 'integer', format: 'int32' }, true, 'must be of type int32: ""'],
  [{ type: 'integer', format: 'int32' }, 'a', 'must be of type integer: "string"'],
  [{ type: 'integer', format: 'int32' }, null, 'must be of type integer: "null"'],
  [{ type: 'integer', format: 'int32' }, [], 'must be of type integer: "array"'],
  [{ type: 'integer', format: 'int32' }, {}, 'must be of type int32: ""'],
  [{ type: 'integer', format: 'int32' }, 0.5, 'must be of type int32: "float64"'],
  [{ type: 'integer', format: 'nobody' }, true, 'must be of type integer: "boolean"'],
  [{ type: 'boolean', format: 'date' }, 5, 'must be of type boolean: "integer"'],
  [{ type: 'string', format: 'date' }, 5, 'must be of type date: "int64"'],
  [{ format: 'date' }, 'x', 'must be of type date: "x"'],
  [{ format: 'date' }, '2026-01-01', undefined],
])('by %j against %j it is said: %s', (schema, value, message) => {
  const [error] = interpretSchema(schema, value, { path: 'p' })
  expect(error?.message.split(' in body ')[1]).toBe(message)
})
