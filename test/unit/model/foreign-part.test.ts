import fc from 'fast-check'
import { expect, it } from 'vitest'
import { foreignPart } from '../../../shared/model/foreign-part.ts'
import { equal } from '../../../shared/model/json.ts'
import { share } from '../../support/strength.ts'

const anything = fc.anything({
  maxDepth: 4,
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withTypedArray: true,
  withNullPrototype: true,
  withSparseArray: true,
  withObjectString: true,
})

it('a value without a foreign part comes back as it was', () => {
  fc.assert(
    fc.property(anything, (value) => {
      fc.pre(foreignPart(value, '') === undefined)
      expect(equal(JSON.parse(JSON.stringify(value)), value)).toBe(true)
    }),
    { numRuns: share(2_000) },
  )
})

it('JSON has no foreign part', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), (text) => {
      expect(foreignPart(JSON.parse(text), '')).toBeUndefined()
    }),
  )
})

it('what tells JSON something else is foreign, whatever it inherits', () => {
  const text = Object.assign(Object.create(null) as object, { toJSON: () => 'x' })
  expect(foreignPart({ a: text }, 'status')).toMatch(/^status\.a is /)
  expect(foreignPart({ a: { toJSON: () => 'x' } }, 'status')).toMatch(
    /^status\.a\.toJSON is of type function; JSON has /,
  )
})

const says = (what: string): string => `${what}; JSON has strings, numbers, booleans, null, lists and plain objects`
const nested = (depth: number, inner: unknown): unknown => (depth === 0 ? inner : { a: nested(depth - 1, inner) })
const lists = (depth: number, inner: unknown = 5): unknown => (depth === 0 ? inner : [lists(depth - 1, inner)])

it.each<[unknown, string]>([
  [Number.NaN, 's is NaN'],
  [{ a: [1, Infinity] }, 's.a[1] is Infinity'],
  [undefined, 's is of type undefined'],
  [{ a: 5n }, 's.a is of type bigint'],
  [{ a: { b: Symbol('x') } }, 's.a.b is of type symbol'],
  [[1, undefined], 's[1] is of type undefined'],
  // oxlint-disable-next-line no-sparse-arrays -- a hole is what is looked for
  [[1, , 2], 's[1] is of type undefined'],
  [{ a: new Date(0) }, 's.a is of class Date'],
  [new Map(), 's is of class Map'],
  [{ a: 1, b: 5n, c: Number.NaN }, 's.b is of type bigint'],
  [{ a: 'x', b: true, c: null, d: undefined, e: [false, ''], f: Number.NaN }, 's.f is NaN'],
  [nested(199, Number.NaN), `s${'.a'.repeat(199)} is NaN`],
  [lists(199, Number.NaN), `s${'[0]'.repeat(199)} is NaN`],
  [nested(200, {}), `${'s' + '.a'.repeat(49)}. is nested deeper than 200 levels`],
  [nested(201, 5), `${'s' + '.a'.repeat(49)}. is nested deeper than 200 levels`],
  [lists(201), `${'s' + '[0]'.repeat(33)} is nested deeper than 200 levels`],
])('the foreign part is named: %#', (value, what) => {
  expect(foreignPart(value, 's')).toBe(says(what))
})

class Point {
  readonly x = 1
}

it.each<[string, unknown]>([
  ['of a class with fields alone', new Point()],
  ['without a prototype', Object.assign(Object.create(null) as object, { a: 1 })],
  ['with a field that is undefined', { a: undefined, b: null }],
  ['as deep as may be', nested(200, 5)],
  ['of lists as deep as may be', lists(200)],
  ['of a class with fields alone, as deep as may be', nested(199, new Point())],
])('a value %s has none', (_what, value) => {
  expect(foreignPart(value, 's')).toBeUndefined()
})
