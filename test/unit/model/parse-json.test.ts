import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../../../shared/model/parse-json.ts'
import { share } from '../../support/strength.ts'

const hard = fc.constantFrom(
  '\\',
  '"',
  '\n',
  '\u0001',
  'a\\',
  'a"',
  '\\\\',
  'é',
  '{',
  ',"',
  '__proto__',
  '1',
  '',
  '\u2028',
)
const name = fc.oneof(
  hard,
  fc.string({ maxLength: 3 }),
  fc.tuple(hard, hard).map(([a, b]) => a + b),
)
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(name, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(name, tie('value')), { maxLength: 5 }).map((fields) => Object.fromEntries(fields)),
  ),
}))

describe('the value of a JSON text', () => {
  it('has the names of the text, whatever was read before', () => {
    parseJson(String.raw`{"\\":0,"x":{"a\\":1}}`)
    expect(Object.keys(parseJson(String.raw`{"\"":0}`) as object)).toEqual(['"'])
    expect(parseJson(String.raw`{"\n" : [1,"\\,\"",{ }], "x":{"a\"":-1.5e3}}`)).toEqual({
      '\n': [1, '\\,"', {}],
      x: { 'a"': -1500 },
    })
  })

  it('is the value that the text was made of', () => {
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 2), (made, indent) => {
        const text = JSON.stringify(made, undefined, indent)
        const read = parseJson(text)
        expect(JSON.stringify(read, undefined, indent)).toBe(text)
        expect(Object.getPrototypeOf(Object(read))).toBe(Object.getPrototypeOf(Object(made)))
      }),
      { numRuns: share(20_000) },
    )
  })

  it('has fields that can be changed and removed', () => {
    for (const text of ['{"a":1}', String.raw`{"a":1,"\"":2}`]) {
      const read = parseJson(text) as object
      const descriptor = { value: 1, writable: true, enumerable: true, configurable: true }
      expect(Object.getOwnPropertyDescriptor(read, 'a')).toEqual(descriptor)
    }
  })

  it('is the last of what one object says twice', () => {
    expect(parseJson(String.raw`{"\"":1,"a":2,"\"":3}`)).toEqual({ '"': 3, a: 2 })
  })

  it.each(['', '{', '{"\\":1}', String.raw`{"\"":1,}`, '[1', 'x'])('is none of %j', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError)
  })

  it('takes time that grows with the text', () => {
    const text = `{"\\"":"${'\\"'.repeat(500_000)}","x":[${'{"\\n":1},'.repeat(50_000)}1]}`
    expect(JSON.stringify(parseJson(text)).length).toBe(text.length)
  })
})
