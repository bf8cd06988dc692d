import fc from 'fast-check'
import { expect, it } from 'vitest'
import { differenceOf, differences, unexplained } from './http-differences.ts'
import { traffic } from './http-grammar.ts'
import { runPair } from './http-pair.ts'

/** The lean server beside node:http, over what a grammar makes up. `npm run fuzz` goes on for longer. */

it.each(differences)('they differ, on purpose, in $name', async ({ name, example }) => {
  expect(differenceOf(await runPair({ text: example, pieces: [example] }))).toBe(name)
})

it('they do not differ in anything else', async () => {
  const tally = { same: 0, answered: 0, refused: 0 }
  const property = fc.asyncProperty(traffic(), async (one) => {
    const pair = await runPair(one)
    const difference = differenceOf(pair)
    if (difference === undefined) tally.same++
    if (pair.lean.statuses.includes(200)) tally.answered++
    if (pair.lean.statuses.some((status) => status >= 400)) tally.refused++
    if (difference === unexplained) throw new Error(JSON.stringify(pair, undefined, 1))
  })
  await fc.assert(property, { numRuns: 1_500, seed: 1 })
  // Nothing is shown by traffic that both refuse at once, or that is never wrong.
  for (const count of Object.values(tally)) expect(count).toBeGreaterThan(200)
})
