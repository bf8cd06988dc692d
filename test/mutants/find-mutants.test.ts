import { describe, expect, it } from 'vitest'
import { applyMutant, findMutants } from './find-mutants.ts'

function mutated(text: string): readonly string[] {
  return findMutants('a.ts', text).map((mutant) => applyMutant(mutant, text))
}

describe('mutants', () => {
  it.each([
    ['comparisons', 'export const f = (a, b) => a < b', ['(a) <= (b)', '(a) >= (b)']],
    ['equality', 'export const f = (a, b) => a === b', ['(a) !== (b)']],
    ['logic', 'export const f = (a, b) => a && b', ['(a) || (b)']],
    ['a default', 'export const f = (a, b) => a ?? b', ['(a) && (b)']],
    ['arithmetic', 'export const f = (a, b) => a + b', ['(a) - (b)']],
    ['a negation', 'export const f = (a) => !a', ['=> a']],
    ['a condition', 'export const f = (a) => (a ? b : c)', ['(true ? b : c)', '(false ? b : c)']],
    ['a number', 'export const max = 10', ['max = 11']],
    ['a large number by much', 'export const ms = 1_000', ['ms = 2000']],
    ['a flag', 'export const is = true', ['is = false']],
    ['a call that is left out', 'g()', ['void 0']],
    ['a call that is left out with its await', 'await g()', ['void 0']],
  ])('change %s', (_what, text, parts) => {
    const found = mutated(text)
    expect(found).toHaveLength(parts.length)
    for (const [i, part] of parts.entries()) expect(found[i]).toContain(part)
  })

  it.each([
    ['a sum of texts', "export const f = (a) => 'x' + a"],
    ['a text', "export const name = 'x'"],
    ['a type', 'export type A = 1 | true'],
    ['a set of names', 'export const names = { a: true, b: true, c: true, d: true }'],
  ])('leave %s alone', (_what, text) => {
    expect(mutated(text)).toEqual([])
  })

  it.each([
    ['the sign that sorting asks for', 'export const f = (all) => all.toSorted((a, b) => (a.is(b) ? -1 : 1))', 2],
    ['such a sign the other way round', 'export const f = (all) => all.sort(([a], [b]) => (a.is(b) ? 1 : -1))', 2],
  ])('leave %s alone, and not what it hangs on', (_what, text, count) => {
    expect(mutated(text)).toHaveLength(count)
  })

  it('change a sign that is multiplied by', () => {
    expect(mutated('export const f = (a) => a.by(a.is ? -1 : 1)')).toHaveLength(4)
  })

  it.each([
    ['few', '{ a: true, b: true, c: true }', 3],
    ['some of which are not set', '{ a: true, b: true, c: true, d: false }', 4],
  ])('change flags, %s', (_what, flags, count) => {
    expect(mutated(`export const flags = ${flags}`)).toHaveLength(count)
  })

  it('are named by their line', () => {
    expect(findMutants('a.ts', '\n\nexport const max = 1')[0]).toMatchObject({ line: 3, original: '1' })
  })
})

it('says which are done when their module is loaded, and by no function of it', () => {
  const text = `
    const one = 1
    const half = one / two(() => 3)
    function four() { return 4 }
    class Five { five = 5; static six = 6; seven() { return 7 } }
    export const eight = { eight: 8, nine: () => 9 }`
  const atLoad = findMutants('a.ts', text).filter(({ isAtLoad }) => isAtLoad)
  expect(atLoad.map(({ original }) => original)).toEqual(['1', '/', '6', '8'])
})
