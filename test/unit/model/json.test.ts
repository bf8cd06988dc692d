import { describe, expect, it } from 'vitest'
import { equal } from '../../../shared/model/json.ts'

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
