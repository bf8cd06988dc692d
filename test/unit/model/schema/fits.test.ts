import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../../shared/model/json.ts'
import { applyDefaults } from '../../../../shared/model/schema/defaulting.ts'
import { question } from '../../../../shared/model/schema/fit/fit.ts'
import { objectFits } from '../../../../shared/model/schema/fit/fits.ts'
import { prune } from '../../../../shared/model/schema/prune.ts'
import { isSettled } from '../../../../shared/model/schema/settled.ts'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'
import { interpretSchema, validate } from '../../../../shared/model/schema/validate.ts'
import { schemaAndUpdate } from './schema-arbitrary.ts'
import { least, share } from '../../../support/strength.ts'

/**
 * The quick answers about values are held against the interpreters, which stay the truth: a yes is never wrong, and
 * whatever fits in every way is known to.
 */
const keywords = {
  formats: ['date-time', 'int32', 'byte', 'ipv4', 'duration'],
  branches: true,
  defaults: true,
  nullable: true,
  kubernetes: true,
}

it('finds the errors that the interpreter finds', () => {
  const cases = { valid: 0, invalid: 0 }
  fc.assert(
    fc.property(schemaAndUpdate(keywords), ({ schema, value, old }) => {
      for (const next of [value, completed(schema, value)]) {
        for (const options of [{}, { old, path: 'spec' }]) {
          const errors = interpretSchema(schema, next, options)
          expectEqual(validate(schema, next, options), errors, { schema, next, old })
          cases[errors.length === 0 ? 'valid' : 'invalid']++
        }
      }
    }),
    { numRuns: share(2_000) },
  )
  expect(Math.min(cases.valid, cases.invalid), 'cases of either kind').toBeGreaterThanOrEqual(least(250))
})

it('says of nothing that it is settled which is not', () => {
  const yes = { alone: 0, update: 0 }
  fc.assert(
    fc.property(fc.oneof(schemaAndUpdate(keywords), schemaAndUpdate({ defaults: true })), ({ schema, value, old }) => {
      const before = completed(schema, old)
      const knowsOld = isSettled(schema, before)
      for (const next of [value, completed(schema, value), mixed(before, value)]) {
        if (!isSettled(schema, next, before)) continue
        yes[knowsOld ? 'update' : 'alone']++
        expect(prune(schema, next).value).toBe(next)
        expect(applyDefaults(schema, next)).toBe(next)
        expectEqual(interpretSchema(schema, next), [], { schema, next, before })
      }
    }),
    { numRuns: share(2_000) },
  )
  // Else the property would be about nothing.
  expect(Math.min(yes.alone, yes.update), 'quick answers of either kind').toBeGreaterThanOrEqual(least(10))
})

it('knows what is settled', () => {
  let known = 0
  fc.assert(
    fc.property(schemaAndUpdate({ nullable: true, defaults: true }), ({ schema, value }) => {
      const whole = completed(schema, value)
      // Kubernetes asks nothing of a null in a list, nor of an empty object among fields without a schema; the quick
      // answer does.
      fc.pre(!/null/.test(JSON.stringify(whole)) && !/"additionalProperties":true/.test(JSON.stringify(schema)))
      fc.pre(interpretSchema(schema, whole).length === 0)
      known++
      expect(isSettled(schema, whole)).toBe(true)
    }),
    { numRuns: share(1_000), endOnFailure: true },
  )
  expect(known).toBeGreaterThanOrEqual(share(1_000))
})

function completed(schema: StructuralSchema, value: JsonObject): JsonObject {
  // A default may hold fields that are unknown.
  return prune(schema, applyDefaults(schema, prune(schema, value).value)).value
}

/** The object with some fields of another. */
function mixed(object: JsonObject, other: JsonObject): JsonObject {
  return { ...object, ...Object.fromEntries(Object.entries(other).slice(0, 1)) }
}

/** Quick where both are equal. */
function expectEqual(found: unknown, wanted: unknown, where: object): void {
  if (!isDeepStrictEqual(found, wanted)) expect({ ...where, found }).toEqual({ ...where, found: wanted })
}

const text: StructuralSchema = { type: 'string' }

const rows: readonly { because: string; schema: StructuralSchema; value: JsonObject; fits: boolean }[] = [
  {
    because: 'identity is known, and still checked',
    schema: { type: 'object', additionalProperties: false },
    value: { kind: 'A' },
    fits: false,
  },
  {
    because: 'an embedded resource has an identity',
    schema: { type: 'object', properties: { a: { type: 'object', 'x-kubernetes-embedded-resource': true } } },
    value: { a: {} },
    fits: false,
  },
  {
    because: 'its identity is known',
    schema: { type: 'object', properties: { a: { type: 'object', 'x-kubernetes-embedded-resource': true } } },
    value: { a: { apiVersion: 'v1', kind: 'A', metadata: { name: 'a' } } },
    fits: true,
  },
  {
    because: 'fields that are preserved need no schema',
    schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    value: { a: { b: [{}] } },
    fits: true,
  },
  {
    because: 'what is inherited is no field',
    schema: { type: 'object', required: ['constructor'], properties: { constructor: text } },
    value: {},
    fits: false,
  },
  {
    because: 'a list of objects whose keys differ is a map',
    schema: listOf('map'),
    value: { list: [{ name: 'a' }, { name: 'b' }] },
    fits: true,
  },
  {
    because: 'a list of objects whose keys repeat is none',
    schema: listOf('map'),
    value: { list: [{ name: 'a' }, { name: 'a' }] },
    fits: false,
  },
]

function listOf(type: 'map' | 'set'): StructuralSchema {
  const items: StructuralSchema = { type: 'object', properties: { name: text } }
  return {
    type: 'object',
    properties: {
      list: { type: 'array', items, 'x-kubernetes-list-type': type, 'x-kubernetes-list-map-keys': ['name'] },
    },
  }
}

it.each(rows)('answers $fits: $because', ({ schema, value, fits }) => {
  expect(isSettled(structuredClone(schema), value)).toBe(fits)
})

describe('whether every field is known, no default is missing and all is valid are three questions', () => {
  const object = (more: StructuralSchema): StructuralSchema => ({ type: 'object', ...more })
  const withDefaults = object({ properties: { a: { ...text, default: 'x' }, b: { ...text, default: 'y' } } })
  const embedded = object({ 'x-kubernetes-embedded-resource': true })
  const preserving = { 'x-kubernetes-preserve-unknown-fields': true } as const
  const inside = (schema: StructuralSchema): StructuralSchema => object({ properties: { v: schema } })

  it.each<[string, StructuralSchema, Json, string]>([
    ['a field', object({ properties: { a: text } }), { a: 'x' }, 'known complete valid'],
    ['a field of another type', object({ properties: { a: text } }), { a: 5 }, ''],
    ['a field that nobody knows', object({ properties: { a: text } }), { b: 'x' }, 'complete valid'],
    ['what is refused', object({ additionalProperties: false }), { b: 'x' }, 'known complete'],
    ['an object that is refused', object({ additionalProperties: false }), { b: {} }, 'complete'],
    ['any other field', object({ additionalProperties: true }), { b: 'x', c: null }, 'known complete valid'],
    ['any other object', object({ additionalProperties: true }), { b: {} }, 'complete valid'],
    ['what is preserved', object(preserving), { b: { c: 5 } }, 'known complete valid'],
    ['a field that is undefined', object({ properties: { a: text } }), { b: undefined }, 'known complete valid'],
    ['no default', withDefaults, {}, 'known valid'],
    ['one of two defaults', withDefaults, { b: 'x' }, 'known valid'],
    ['the other of two defaults', withDefaults, { a: 'x' }, 'known valid'],
    ['all defaults', withDefaults, { a: '1', b: '2' }, 'known complete valid'],
    ['a default that is needed', { ...withDefaults, required: ['a'] }, { b: '2' }, 'known'],
    ['another field than a default', { ...withDefaults, ...preserving }, { a: '1', c: '2' }, 'known valid'],
    ['another field than what is needed', object({ required: ['a'], ...preserving }), { c: 1 }, 'known complete'],
    ['what is needed', object({ required: ['a', 'b'], ...preserving }), { a: 1, b: 2 }, 'known complete valid'],
    ['the first of two that are needed', object({ required: ['a', 'b'], ...preserving }), { a: 1 }, 'known complete'],
    ['the second of two that are needed', object({ required: ['a', 'b'], ...preserving }), { b: 1 }, 'known complete'],
    ['too few fields', object({ ...preserving, minProperties: 2 }), { a: 1 }, 'known complete'],
    ['too many fields', object({ ...preserving, maxProperties: 1 }), { a: 1, b: 1 }, 'known complete'],
    [
      'what every object has',
      object({}),
      { apiVersion: 'v1', kind: 'K', metadata: { name: 'a', x: 1 } },
      'known complete valid',
    ],
    ['a kind of another type', object({ properties: { kind: text } }), { kind: 5 }, 'known'],
    ['what every object has, deeper down', inside(object({})), { v: { kind: 'K' } }, 'complete valid'],
    [
      'an embedded resource',
      inside(embedded),
      { v: { apiVersion: 'v1', kind: 'K', metadata: { name: 'a' } } },
      'known complete valid',
    ],
    [
      'metadata that no object has',
      inside(embedded),
      { v: { apiVersion: 'v1', kind: 'K', metadata: { x: 1 } } },
      'complete valid',
    ],
    ['a resource without a kind', inside(embedded), { v: { apiVersion: 'v1' } }, 'known complete'],
    ['a text that is too long', inside({ ...text, maxLength: 1 }), { v: 'ab' }, 'known complete'],
    ['a text by another pattern', inside({ ...text, pattern: 'b' }), { v: 'a' }, 'known complete'],
    ['a fraction', inside({ type: 'integer' }), { v: 0.5 }, 'known complete'],
    ['a number that is too large', inside({ type: 'number', maximum: 1 }), { v: 2 }, 'known complete'],
    [
      'a list that is too long',
      inside({ type: 'array', items: text, maxItems: 1 }),
      { v: ['a', 'b'] },
      'known complete',
    ],
    ['a list of items that nobody described', inside({ type: 'array' }), { v: ['a', null] }, 'known complete valid'],
    ['a list of objects that nobody described', inside({ type: 'array' }), { v: [{}] }, 'complete valid'],
    ['a list that is preserved', inside({ type: 'array', ...preserving }), { v: [{}] }, 'known complete valid'],
    ['none of some texts', inside({ ...text, enum: ['a'] }), { v: 'b' }, 'known complete'],
    ['no alternative', inside({ ...text, anyOf: [{ maxLength: 1 }] }), { v: 'ab' }, 'known complete'],
    ['null', inside({ ...text, nullable: true, anyOf: [{ minLength: 1 }] }), { v: null }, 'known complete valid'],
    ['null that may not be', inside(text), { v: null }, ''],
    ['a text where an object may be', inside(object({})), { v: 'x' }, ''],
    ['a value of any type', inside(preserving), { v: [{ a: 1 }] }, 'known complete valid'],
    ['a number or a text', inside({ 'x-kubernetes-int-or-string': true }), { v: 5 }, 'known complete valid'],
    ['a flag in the place of both', inside({ 'x-kubernetes-int-or-string': true }), { v: true }, ''],
  ])('%s', (_what, schema, value, yes) => {
    const answers = Object.entries(question).filter(([, asks]) => objectFits(structuredClone(schema), value, asks))
    expect(answers.map(([name]) => name).join(' ')).toBe(yes)
  })

  it('of what was so before none is asked', () => {
    const schema = inside(object({ properties: { a: text } }))
    const old = { v: { b: 1 } }
    expect(objectFits(schema, old, question.known, old)).toBe(true)
    expect(objectFits(schema, { v: old.v }, question.known, old)).toBe(true)
    expect(objectFits(schema, { v: { b: 1 } }, question.known, old)).toBe(true)
    expect(objectFits(schema, { v: { b: 2 } }, question.known, old)).toBe(false)
    expect(objectFits(schema, { v: { a: 'x' } }, question.known, { v: null })).toBe(true)
    expect(objectFits(schema, { v: { a: 5 } }, question.valid, { v: null })).toBe(false)
  })
})
