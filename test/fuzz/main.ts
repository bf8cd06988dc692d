import fc from 'fast-check'
import { optionsOf, wholeNumber } from '../support/command-line.ts'
import { differenceOf, unexplained } from './http-differences.ts'
import { traffic } from './http-grammar.ts'
import { runPair } from './http-pair.ts'

/**
 * `npm run fuzz -- [--runs N] [--seed N]`: the lean server beside node:http, over traffic made up of what is right,
 * nearly right and hostile. Ends with 1 at the first difference that decision 24 does not explain, made as short as
 * can be, with the seed that repeats it.
 */
const { values } = optionsOf('npm run fuzz --', {
  options: {
    runs: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  },
})
const [numRuns, seed] = [wholeNumber('--runs', values.runs, 1), wholeNumber('--seed', values.seed)]
const counts = new Map<string, number>()
const property = fc.asyncProperty(traffic(), async (one) => {
  const difference = differenceOf(await runPair(one)) ?? 'the same'
  counts.set(difference, (counts.get(difference) ?? 0) + 1)
  return difference !== unexplained
})
const details = await fc.check(property, { numRuns, seed })
for (const [name, count] of [...counts].toSorted(([, a], [, b]) => b - a)) console.log(String(count).padStart(8), name)
if (details.failed) {
  const [shortest] = details.counterexample ?? []
  console.error(`npm run fuzz -- --seed ${seed} --runs ${numRuns}\n${JSON.stringify(shortest, undefined, 1)}`)
  if (shortest !== undefined) console.error(JSON.stringify(await runPair(shortest), undefined, 1))
  process.exit(1)
}
