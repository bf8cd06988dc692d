import fc from 'fast-check'
import { keyElement, nameElement, valueElement } from '../../../../../shared/model/apply/fields/field-path.ts'
import { setOfPaths, type FieldSet } from '../../../../../shared/model/apply/fields/field-set.ts'
import type { Json } from '../../../../../shared/model/json.ts'

const literal = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.double({ noNaN: true, noDefaultInfinity: true }))

/** Elements of every kind, few enough that sets overlap. */
const element: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('a', 'b', 'constructor', '.', '').map(nameElement) },
  { weight: 1, arbitrary: literal.map(valueElement) },
  { weight: 1, arbitrary: fc.constantFrom(1, 2).map((key) => keyElement([['name', key]])) },
  { weight: 1, arbitrary: fc.tuple(literal, literal).map(twoKeys) },
  { weight: 1, arbitrary: fc.nat().map((index) => `i:${index}`) },
)

function twoKeys([a, b]: readonly [Json, Json]): string {
  return keyElement([
    ['a "quoted" name', a],
    ['b', b],
  ])
}

export const paths: fc.Arbitrary<string[][]> = fc.array(fc.array(element, { minLength: 1, maxLength: 4 }), {
  maxLength: 12,
})

export const fieldSets: fc.Arbitrary<FieldSet> = paths.map(setOfPaths)
