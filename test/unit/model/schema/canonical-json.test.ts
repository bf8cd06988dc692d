import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { equal, type Json } from '../../../../shared/model/json.ts'
import { canonicalJson, canonicalStart } from '../../../../shared/model/schema/canonical-json.ts'

const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>

describe('canonical JSON', () => {
  it.each([
    [{ b: 1, a: [2, { d: 1, c: 2 }] }, '{"a":[2,{"c":2,"d":1}],"b":1}'],
    [[], '[]'],
    [{ a: { b: 1, c: [{ d: 1, e: 2 }] }, f: 3 }, '{"a":{"b":1,"c":[{"d":1,"e":2}]},"f":3}'],
    [{ a: [{ c: 1, b: 2 }] }, '{"a":[{"b":2,"c":1}]}'],
    [[1], '[1]'],
    [{ '-b': 1, '-a': 2 }, '{"-a":2,"-b":1}'],
    [{ '-b': { '1': [{ '.': 1, '-': 2 }] } }, '{"-b":{"1":[{"-":2,".":1}]}}'],
    ['x', '"x"'],
    [null, 'null'],
    [undefined, 'null'],
    [{ a: undefined }, '{}'],
  ])('of %j is %s', (value, text) => {
    expect(canonicalJson(value)).toBe(text)
  })

  it('is the same text exactly if two values are equal', () => {
    fc.assert(fc.property(json, json, (a, b) => (canonicalJson(a) === canonicalJson(b)) === equal(a, b)))
  })

  it('does not depend on the order of fields', () => {
    const reversed = (value: Json): Json =>
      Array.isArray(value)
        ? value.map(reversed)
        : typeof value === 'object' && value !== null
          ? Object.fromEntries(
              Object.entries(value)
                .toReversed()
                .map(([name, part]) => [name, reversed(part as Json)]),
            )
          : value
    fc.assert(fc.property(json, (value) => canonicalJson(reversed(value)) === canonicalJson(value)))
  })

  it('has names that are whole numbers ahead of the others, at its start, too', () => {
    const value = { '': 1, a: 2, '0': 3 }
    expect(canonicalJson(value)).toBe('{"0":3,"":1,"a":2}')
    expect(canonicalStart(value, 60)).toBe(canonicalJson(value))
  })

  it('begins with its start, which is as long as was asked for, or whole', () => {
    fc.assert(
      fc.property(json, fc.integer({ min: 1, max: 60 }), (value, length) => {
        expect(canonicalStart(value, length).slice(0, length)).toBe(canonicalJson(value).slice(0, length))
      }),
    )
  })
})
