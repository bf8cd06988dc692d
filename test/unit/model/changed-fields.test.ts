import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findChangedFields } from '../../../shared/model/changed-fields.ts'
import { equal, type JsonObject } from '../../../shared/model/json.ts'

describe('the fields that differ', () => {
  it.each([
    { because: 'a value differs', before: { spec: { size: 1 } }, after: { spec: { size: 2 } }, paths: ['spec.size'] },
    { because: 'a field comes', before: { spec: {} }, after: { spec: { size: 2 } }, paths: ['spec.size'] },
    { because: 'a field goes', before: { spec: { size: 1 } }, after: { spec: {} }, paths: ['spec.size'] },
    { because: 'an object comes as a whole', before: {}, after: { spec: { a: { b: 1 } } }, paths: ['spec'] },
    { because: 'a list is one field', before: { list: [1, 2] }, after: { list: [1, 3] }, paths: ['list'] },
    { because: 'nothing differs', before: { spec: { a: [{ b: 1 }] } }, after: { spec: { a: [{ b: 1 }] } }, paths: [] },
    {
      because: 'there are more than anybody reads',
      before: {},
      after: { a: 1, b: 2, c: 3, d: 4 },
      paths: ['a', 'b', 'c', '…'],
    },
    {
      because: 'there are more in one object that both have',
      before: { s: { a: 1, b: 1, c: 1, d: 1, e: 1 } },
      after: { s: { a: 2, b: 2, c: 2, d: 2, e: 2 } },
      paths: ['s.a', 's.b', 's.c', '…'],
    },
    { because: 'a field has its value no longer', before: { a: undefined }, after: { a: 1 }, paths: ['a'] },
    { because: 'one goes and one comes', before: { a: 1 }, after: { b: 1 }, paths: ['a', 'b'] },
    { because: 'a field says that it has no value', before: { a: 1 }, after: { a: 1, b: undefined }, paths: [] },
    { because: 'null is a value', before: { a: null }, after: { a: {} }, paths: ['a'] },
    { because: 'there are just as many', before: {}, after: { a: 1, b: 2, c: 3 }, paths: ['a', 'b', 'c'] },
  ])('are $paths when $because', ({ before, after, paths }) => {
    expect(findChangedFields(before, after, 3)).toEqual(paths)
  })

  it('are told without those that are hidden', () => {
    const before = { metadata: { a: 1, b: { c: 1 }, d: 1 }, a: 1 }
    const after = { metadata: { a: 2, b: { c: 2 }, d: 2 }, a: 2 }
    expect(findChangedFields(before, after, 3, new Map([['metadata', new Set(['a', 'b'])]]))).toEqual([
      'metadata.d',
      'a',
    ])
  })

  it('are none if and only if the objects are equal', () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue()) as fc.Arbitrary<JsonObject>
    fc.assert(
      fc.property(object, object, (before, after) => {
        expect(findChangedFields(before, after, 3).length === 0).toBe(equal(before, after))
      }),
    )
  })
})
