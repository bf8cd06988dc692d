import { describe, expect, it } from 'vitest'
import type { Json } from '../../../../shared/model/json.ts'
import { question } from '../../../../shared/model/schema/fit/fit.ts'
import { objectFits } from '../../../../shared/model/schema/fit/fits.ts'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'

const text: StructuralSchema = { type: 'string' }

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
    [
      'what is needed and undefined',
      object({ required: ['a'], properties: { a: text } }),
      { a: undefined },
      'known complete',
    ],
    ['a default that is undefined', withDefaults, { a: undefined, b: 'x' }, 'known valid'],
    ['no default', withDefaults, {}, 'known valid'],
    ['one of two defaults', withDefaults, { b: 'x' }, 'known valid'],
    ['the other of two defaults', withDefaults, { a: 'x' }, 'known valid'],
    ['all defaults', withDefaults, { a: '1', b: '2' }, 'known complete valid'],
    ['a default that is needed', { ...withDefaults, required: ['a'] }, { b: '2' }, 'known'],
    ['another field than a default', { ...withDefaults, ...preserving }, { a: '1', c: '2' }, 'known valid'],
    [
      'a known field, and none that is needed',
      object({ required: ['a'], properties: { a: text, b: text } }),
      { b: 'x' },
      'known complete',
    ],
    [
      'a known field in the place of a default',
      object({ properties: { ...withDefaults.properties, c: text } }),
      { a: '1', c: '2' },
      'known valid',
    ],
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
