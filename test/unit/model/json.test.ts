import { describe, expect, it } from 'vitest'
import { copyJson, equal, isJson } from '../../../shared/model/json.ts'

describe('equal', () => {
  it.each<{ a: unknown; b: unknown; same: boolean; because: string }>([
    { a: { x: 1, y: [2] }, b: { y: [2], x: 1 }, same: true, because: 'the order of fields does not count' },
    { a: { x: undefined }, b: {}, same: true, because: 'an undefined field is absent' },
    { a: [1, 2], b: [2, 1], same: false, because: 'the order of items counts' },
    { a: { x: null }, b: {}, same: false, because: 'null is a value' },
    { a: {}, b: { constructor: 'x' }, same: false, because: 'what objects inherit is no field' },
    { a: { toString: 'x' }, b: {}, same: false, because: 'what objects inherit is no field' },
    { a: [], b: {}, same: false, because: 'a list is no object' },
  ])('is $same for $a and $b: $because', ({ a, b, same }) => {
    expect(equal(a, b)).toBe(same)
  })
})

describe('isJson', () => {
  it.each([
    [{ a: [1, { b: null }], c: 'x', d: true }, true],
    [{ a: undefined }, false],
    [{ a: [Number.NaN] }, false],
    [{ a: new Date(0) }, false],
    [{ a: () => {} }, false],
  ])('of %j is %s: what its text gives back is what it is', (value, is) => {
    expect(isJson(value)).toBe(is)
  })
})

describe('copyJson', () => {
  it('shares nothing with its original, and leaves out what is undefined', () => {
    const value = { a: [{ b: 1 }], c: undefined, d: null }
    const copy = copyJson(value)
    expect(copy).toEqual({ a: [{ b: 1 }], d: null })
    expect('c' in copy).toBe(false)
    expect(copy.a).not.toBe(value.a)
    expect(copy.a[0]).not.toBe(value.a[0])
  })
})
