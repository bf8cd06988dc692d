import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { findSettledParts, hasDefaults, isSettled } from '../../../../shared/model/schema/settled.ts'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'

const text: StructuralSchema = { type: 'string' }
/** Schemas of another run are remembered in the same process. */
const run = randomUUID()
let made = 0
/** No two have one text, so that nothing is known of it. */
const freshSchema = (): StructuralSchema => ({
  type: 'object',
  description: `schema ${made++} of ${run}`,
  properties: {
    spec: { type: 'object', properties: { a: { ...text, maxLength: 3 }, b: { ...text, default: 'x' } } },
    other: { type: 'object', properties: { a: text } },
    words: { type: 'array', items: text },
  },
})

describe('a part of an object that was found to be settled', () => {
  const metadata = { name: 'a', labels: {} }

  it('is known by its field, in every object and by the text of its schema', () => {
    const [schema, spec] = [freshSchema(), { a: 'x', b: 'y' }]
    expect(findSettledParts(schema, { spec })).toEqual({})
    expect(isSettled(schema, { apiVersion: 'v1', metadata, spec, words: ['a'] })).toBe(true)
    expect(findSettledParts(schema, { metadata, spec, other: spec, words: ['a'] })).toEqual({ spec })
    expect(findSettledParts(structuredClone(schema), { spec }).spec).toBe(spec)
    expect(findSettledParts(freshSchema(), { spec })).toEqual({})
    expect(findSettledParts(schema, { spec: { ...spec } })).toEqual({})
  })

  it('is none of an object of which anything is not', () => {
    const [schema, spec] = [freshSchema(), { a: 'x', b: 'y' }]
    expect(isSettled(schema, { spec, other: { a: 5 } })).toBe(false)
    expect(findSettledParts(schema, { spec })).toEqual({})
  })

  it('is not looked at again, and neither is what has not changed since', () => {
    const schema = freshSchema()
    const before = { a: 'x', b: 'y' }
    expect(isSettled(schema, { spec: before })).toBe(true)
    // Nobody changes an object in place: this only shows that nobody looks.
    before.a = 'long'
    expect(isSettled(schema, { spec: before })).toBe(true)
    expect(isSettled(schema, { spec: { ...before } })).toBe(false)
    expect(isSettled(schema, { spec: { ...before, b: 'z' } }, { spec: before })).toBe(true)
    expect(isSettled(schema, { spec: { ...before, a: 'longer' } }, { spec: before })).toBe(false)
  })

  it('is none of what was before and nobody has looked at', () => {
    const before = { a: 'long', b: 'y' }
    expect(isSettled(freshSchema(), { spec: { ...before, b: 'z' } }, { spec: before })).toBe(false)
  })

  it('is known from one schema to the next, and forgotten with all others after a thousand of them', () => {
    const [schema, spec] = [freshSchema(), { a: 'x', b: 'y' }]
    const isKnownAfter = (count: number): boolean => {
      isSettled(structuredClone(schema), { spec })
      for (let i = 0; i < count; i++) findSettledParts({ description: `other ${made++} of ${run}` }, {})
      return 'spec' in findSettledParts(structuredClone(schema), { spec })
    }
    // The first of these may be the thousandth.
    expect([isKnownAfter(1), isKnownAfter(1)]).toContain(true)
    expect(isKnownAfter(1_000)).toBe(false)
  })
})

it.each([
  [{}, true],
  [{ spec: {} }, false],
  [{ spec: { b: 'y' } }, true],
  [{ spec: { a: 5, b: 'y' } }, false],
  [{ spec: { c: 5, b: 'y' } }, true],
])('%j has the defaults of its schema: %s', (object, has) => {
  expect(hasDefaults(freshSchema(), object)).toBe(has)
})
