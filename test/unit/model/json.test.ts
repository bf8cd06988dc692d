import { describe, expect, it } from 'vitest'
import { copyFrozen, copyJson, deepFreeze, equal, isJson, isObject, textOf } from '../../../shared/model/json.ts'

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
    [{ a: { toJSON: 1 } }, false],
    [[1, { a: [undefined] }], false],
    [[], true],
    [{}, true],
    [null, true],
    [undefined, false],
    ['', true],
    [false, true],
    [0, true],
    [Infinity, false],
    [5n, false],
    [Symbol('x'), false],
  ])('of value %#: what its text gives back is what it is', (...row) => {
    const [value, is] = row
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

describe('copyFrozen', () => {
  it('shares nothing with its original, is frozen throughout, and leaves out what is undefined', () => {
    const value = { a: [{ b: 1 }, null], c: undefined, d: null, e: '', f: { g: false } }
    const copy = copyFrozen(value)
    expect(copy).toStrictEqual({ a: [{ b: 1 }, null], d: null, e: '', f: { g: false } })
    expect([copy, copy.a, copy.a[0], copy.f].every(Object.isFrozen)).toBe(true)
    expect([value, value.a, value.a[0], value.f].some(Object.isFrozen)).toBe(false)
    expect([copyFrozen(null), copyFrozen('x'), copyFrozen([])]).toEqual([null, 'x', []])
  })
})

describe('deepFreeze', () => {
  it('freezes the value itself through and through', () => {
    const value = { a: [{ b: 1 }, null], d: null }
    expect(deepFreeze(value)).toBe(value)
    expect([value, value.a, value.a[0]].every(Object.isFrozen)).toBe(true)
    expect([deepFreeze(null), deepFreeze('x'), deepFreeze(5)]).toEqual([null, 'x', 5])
  })

  it('looks no further into what is frozen', () => {
    const inner = { b: 1 }
    deepFreeze(Object.freeze({ inner }))
    expect(Object.isFrozen(inner)).toBe(false)
  })
})

it.each([
  ['a', 'a', false],
  ['', '', false],
  [5, '', false],
  [undefined, '', false],
  [null, '', false],
  [[], '', false],
  [{}, '', true],
])('%j is the text %j, and an object: %s', (value, text, is) => {
  expect([textOf(value), isObject(value)]).toEqual([text, is])
})
