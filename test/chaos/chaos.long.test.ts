import { expect, it } from 'vitest'
import { runChaos } from './chaos.ts'
import { runDatabaseChaos } from './databases.ts'
import { canFillDisk } from './shaken.ts'
import { drawSeed } from '../support/strength.ts'

/** `npm run chaos` goes on for longer. */
const rounds = 8
/** What it draws is the same each time; when the kills come is up to the machine. */
const seed = drawSeed % 1_000_000
const applies = 200

it(`loses nothing acknowledged, and runs nothing twice at once, when it is killed during ${applies} applies`, async () => {
  console.log(`npm run chaos -- --seed ${seed} --rounds ${rounds}`)
  const { faults, ...counts } = await runChaos({ seed, rounds, appliesMin: applies })
  console.log(JSON.stringify(counts))
  expect(faults).toEqual([])
  expect(counts.applies).toBeGreaterThanOrEqual(applies)
  expect(counts.cutOff).toBeGreaterThan(0)
})

it('loses nothing acknowledged when its disk is full for a while and its clock jumps', async ({ skip }) => {
  if (!canFillDisk()) skip('prlimit is not installed')
  console.log(`npm run chaos -- --seed ${seed} --rounds 6 --troubles 'full disk,clock jump'`)
  const { faults, ...counts } = await runChaos({
    seed,
    rounds: 6,
    appliesMin: 200,
    troubles: ['full disk', 'full disk', 'clock jump'],
  })
  console.log(JSON.stringify(counts))
  expect(faults).toEqual([])
  if ((counts.done['full disk'] ?? 0) > 0) expect(counts.refused).toBeGreaterThan(0)
})

it('leaves the caches of informers right that are cut off, and whose control plane is killed', async () => {
  console.log(`npm run chaos -- --seed ${seed} --rounds ${rounds} --troubles kill --informers`)
  const { faults, informed, ...counts } = await runChaos({ seed, rounds, appliesMin: applies, informers: 10 })
  console.log(JSON.stringify({ ...counts, informed }))
  expect(faults).toEqual([])
  expect(counts.applies).toBeGreaterThanOrEqual(applies)
  expect(informed?.resumes).toBeGreaterThan(0)
  expect(informed?.events).toBeGreaterThan(applies)
})

it('keeps databases and what is in them when it is killed while they are made and changed, now and then with their server', async () => {
  console.log(`npm run chaos -- --seed ${seed} --rounds 8 --databases`)
  const { faults, ...counts } = await runDatabaseChaos(seed, 8)
  console.log(JSON.stringify(counts))
  expect(faults).toEqual([])
  expect(counts.rows).toBeGreaterThan(0)
})
