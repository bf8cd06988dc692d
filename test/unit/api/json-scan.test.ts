import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pathOfSteps, scanJson } from '../../../shared/api/json-scan.ts'
import { isObject } from '../../../shared/model/json.ts'

/** Names and numbers of a JSON text with their paths, in the order in which they stand there. */
function scanned(text: string): readonly string[] {
  const told: string[] = []
  scanJson(text, {
    name: (places) => void told.push(`name ${pathOfSteps(places.map((place) => place.step()))}`),
    number: (from, to, places) =>
      void told.push(`${text.slice(from, to)} at ${pathOfSteps(places.map((place) => place.step()))}`),
  })
  return told
}

/** The same, of a value. */
function walked(value: unknown, steps: readonly (string | number)[] = []): readonly string[] {
  if (typeof value === 'number') return [`${JSON.stringify(value)} at ${pathOfSteps(steps)}`]
  if (Array.isArray(value)) return value.flatMap((item, i) => walked(item, [...steps, i]))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, field]) => {
    const below = [...steps, name]
    return [`name ${pathOfSteps(below)}`, ...walked(field, below)]
  })
}

describe('a scan of JSON', () => {
  it('tells each name and each number with its path, as a walk through the value does', () => {
    const same = (value: unknown, indent: number) => {
      const text = JSON.stringify(value, null, indent)
      expect(scanned(text)).toEqual(walked(JSON.parse(text)))
    }
    fc.assert(fc.property(fc.jsonValue({ maxDepth: 5 }), fc.nat(2), same))
  })

  it.each([
    ['{"a" : [1, -2.5e+10]}', ['name a', '1 at a[0]', '-2.5e+10 at a[1]']],
    ['{"a\\"b\\\\":1}', ['name a"b\\', '1 at a"b\\']],
    [
      '{"\\u0061":{"b":"c\\\\","d":"{[1,2"},"e":[[],[3]]}',
      ['name a', 'name a.b', 'name a.d', 'name e', '3 at e[1][0]'],
    ],
    ['[true, {"n":\n\t0}, null, 1E5]', ['name [1].n', '0 at [1].n', '1E5 at [3]']],
    [
      '{"a":[{"b":1},{"b":2}],"c":"1"}',
      ['name a', 'name a[0].b', '1 at a[0].b', 'name a[1].b', '2 at a[1].b', 'name c'],
    ],
    ['-7', ['-7 at ']],
    ['"a:1"', []],
  ])('finds in %s what stands there', (text, told) => {
    expect(scanned(text)).toEqual(told)
  })
})
