import { expect, it } from 'vitest'
import { runChaos } from './chaos.ts'

/** `npm run chaos` is the long form. */
it('loses nothing acknowledged, and runs nothing twice at once, when it is killed during 200 applies', async () => {
  const seed = Date.now() % 1_000_000
  console.log(`npm run chaos -- --seed ${seed} --rounds 8`)
  const { faults, ...counts } = await runChaos({ seed, rounds: 8, appliesMin: 200 })
  console.log(JSON.stringify(counts))
  expect(faults).toEqual([])
  expect(counts.applies).toBeGreaterThanOrEqual(200)
  expect(counts.cutOff).toBeGreaterThan(0)
}, 180_000)
