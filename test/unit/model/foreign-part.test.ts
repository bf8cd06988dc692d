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
