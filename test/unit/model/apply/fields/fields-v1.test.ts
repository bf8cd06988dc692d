import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pathsOf, sameFields, setOfPaths } from '../../../../../shared/model/apply/fields/field-set.ts'
import { decodeFields, encodeFields } from '../../../../../shared/model/apply/fields/fields-v1.ts'
import type { JsonObject } from '../../../../../shared/model/json.ts'
import { fieldSets, paths } from './field-arbitrary.ts'

describe('FieldsV1', () => {
  it('reads back what it wrote, also through JSON', () => {
    const roundTrip = (text: string) => decodeFields(JSON.parse(text) as JsonObject)
    fc.assert(
      fc.property(fieldSets, (set) => {
        expect(sameFields(roundTrip(JSON.stringify(encodeFields(set))), set)).toBe(true)
      }),
    )
  })

  it('writes equal sets as equal text', () => {
    const text = (given: string[][]) => JSON.stringify(encodeFields(setOfPaths(given)))
    const same = (given: string[][]) => {
      expect(text(given.toReversed())).toBe(text(given))
    }
    fc.assert(fc.property(paths, same))
  })

  it('marks a place that is owned beside what is below it', () => {
    const fields = { 'f:spec': { 'f:tags': { '.': {}, 'v:"a"': {} } } }
    expect(
      encodeFields(
        setOfPaths([
          ['f:spec', 'f:tags'],
          ['f:spec', 'f:tags', 'v:"a"'],
        ]),
      ),
    ).toEqual(fields)
  })

  const notations = [
    { because: 'white space means nothing', text: 'k:{ "name" : "http" }', element: 'k:{"name":"http"}' },
    { because: 'keys have no order', text: 'k:{"b":1,"a":true}', element: 'k:{"a":true,"b":1}' },
    { because: 'Go escapes what HTML could take amiss', text: 'v:"\\u003cb\\u003e"', element: 'v:"<b>"' },
    { because: 'numbers have many spellings', text: 'v:1.50e1', element: 'v:15' },
    { because: 'names are taken as they are', text: 'f:a:"b', element: 'f:a:"b' },
    { because: 'a position is one number', text: 'i:7', element: 'i:7' },
  ]

  it.each(notations)('reads $text as $element: $because', ({ text, element }) => {
    expect(pathsOf(decodeFields({ [text]: {} }))).toEqual([[element]])
  })

  it('leaves out elements of a kind it does not know, and takes what held only these as a field', () => {
    expect(pathsOf(decodeFields({ 'f:a': { 'x:new': {} }, 'y:other': {} }))).toEqual([['f:a']])
  })

  const broken = [
    { because: 'it is no element', fields: { spec: {} } },
    { because: 'a value is no JSON', fields: { 'v:{': {} } },
    { because: 'keys are no object', fields: { 'k:[1]': {} } },
    { because: 'a position is no number', fields: { 'i:x': {} } },
    { because: 'a literal has a brace too many', fields: { 'v:"x"}': {} } },
    { because: 'what is below is no object', fields: { 'f:a': null } },
  ]

  it.each(broken)('does not read $fields: $because', ({ fields }) => {
    expect(() => decodeFields(fields)).toThrow(SyntaxError)
  })
})
