import { stripTypeScriptTypes } from 'node:module'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { applyMutant, findMutants } from './find-mutants.ts'
import { instrument } from './instrument.ts'

/** What a program leaves in `seen` when it ends, or the name of the error that ends it. */
function outcomeOf(text: string, on: number): unknown {
  const $m = (id: number): boolean => id === on
  const context = { seen: [], $m }
  try {
    runInNewContext(stripTypeScriptTypes(`{ ${text} }`), context)
  } catch (error) {
    return [...context.seen, (error as Error).name]
  }
  return context.seen
}

it.each([
  [
    'operators in each other',
    'const f = (a: number, b: number) => a < b && b < 3 || a - b * 2 > 4\nseen.push(f(1, 2), f(3, 3), f(9, 1))',
  ],
  [
    'conditions in each other',
    'for (const a of [1, 2, 3]) { if (a > 1 && !(a > 2)) seen.push(a)\n else seen.push(a > 2 ? a + 1 : a - 1) }',
  ],
  [
    'a default behind another operator',
    'const f = (a?: number, b?: number) => (a ?? b) || 7\nseen.push(f(), f(0, 1), f(2))',
  ],
  [
    'a number that names a property',
    'const a = { 1: true, 2: false } as Record<number, boolean>\nseen.push(a[1], a[2], a[3])',
  ],
  ['a call without its await', 'const f = async () => { await g()\nreturn 1 }\nconst g = () => seen.push(5)\nf()'],
  ['a comment within an expression', 'const a = [1, 2].length > // two\n 1\nseen.push(a)'],
])('%s: every mutant does with its switch what it does in the text', (_what, text) => {
  const mutants = findMutants('a.ts', text).map((mutant, id) => ({ mutant, id }))
  expect(mutants.length).toBeGreaterThan(1)
  const all = instrument('a.ts', text, mutants)
  expect(outcomeOf(all, -1)).toEqual(outcomeOf(text, -1))
  for (const { mutant, id } of mutants)
    expect([mutant.replacement, outcomeOf(all, id)]).toEqual([
      mutant.replacement,
      outcomeOf(applyMutant(mutant, text), id),
    ])
})

it('goes on with no line before, where none ends with a semicolon', () => {
  const text = 'let a = 1\na === 1 && seen.push(a)\nseen.push(2)'
  const mutants = findMutants('a.ts', text).map((mutant, id) => ({ mutant, id }))
  expect(outcomeOf(instrument('a.ts', text, mutants), -1)).toEqual([1, 2])
})
