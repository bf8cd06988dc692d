import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fanOutScenario, waitsOfEdits } from './fan-out-scenario.ts'
import { allPlanted } from './all-planted.ts'
import type { PlantedBug } from './planted-bugs.ts'
import { runTwice } from './run-seed.ts'
import { scenarioOf } from './scenario-of.ts'
import type { Scenario } from './scenario.ts'
import { runPool } from './seed-pool.ts'
import { parseRegression } from './shrink.ts'
import { simulate } from './simulate.ts'
import { isLong, pick, share } from '../support/strength.ts'

/** `npm run sim -- --seeds A..B` runs any number. In the long form one seed in sixteen runs twice. */
const seeds = isLong ? 300 : 6
const threads = 2
const herd = share(10_000)

describe('the control plane on simulated AWS', () => {
  it(`breaks no promise in ${seeds} seeds, and runs the same twice`, async () => {
    const { broken, seeds: ran } = await runPool({ engine: 'aws', from: 1, to: seeds, threads, isOnce: isLong })
    expect(broken.map(({ seed, violations }) => `npm run sim -- --seed ${seed}: ${violations[0]}`)).toEqual([])
    expect(ran).toBe(seeds)
  })

  it(`lets a change pass while ${herd} objects are woken by another`, async () => {
    const result = await simulate(fanOutScenario(herd))
    expect(result.violations).toEqual([])
    expect(result.runs).toBeGreaterThan(herd)
    expect(Math.max(...waitsOfEdits(result))).toBeLessThan(2_000)
  })

  it('lets nobody change what is outside, and loses no record of the stream, where no resync finds it', () => {
    const seedsDrawn = [...Array.from({ length: share(5_000) }, (_, i) => i + 1), 230_176, 307_872]
    const needsResync = ({ steps, climate }: Scenario): boolean =>
      // What a Deed stands for is looked at once a minute.
      steps.some(({ act, kind }) => act === 'tamper' && kind !== 'Deed') || climate.streamRetriesMax < 100
    const scenarios = seedsDrawn.map(scenarioOf).filter(needsResync)
    expect(scenarios.length).toBeGreaterThan(share(100))
    expect(scenarios.filter(({ resyncMinutes }) => resyncMinutes === 0).map(({ seed }) => seed)).toEqual([])
  })

  it('can have each of its bugs planted: what they stand in place of is there, once', () => {
    const root = join(import.meta.dirname, '../..')
    const timesIn = ({ file, find }: PlantedBug): number =>
      readFileSync(join(root, file), 'utf8').split(find).length - 1
    expect(allPlanted.length).toBeGreaterThanOrEqual(110)
    expect(allPlanted.filter((one) => timesIn(one) !== 1).map(({ bug }) => bug)).toEqual([])
  })

  it('names each of its planted bugs in its page', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/simulator.md'), 'utf8')
    const [, tables = ''] = page.split('## Planted bugs')
    const named = [...tables.matchAll(/^\| (?!planted bug|---)(.+?) \|/gm)].map(([, bug = '']) => bug)
    expect(named.toSorted()).toEqual(allPlanted.map(({ bug }) => bug).toSorted())
  })

  const folder = join(import.meta.dirname, 'regressions')
  it.each(pick(readdirSync(folder)))('keeps what once was broken: %s', async (file) => {
    const { scenario } = parseRegression(readFileSync(join(folder, file), 'utf8'))
    expect((await runTwice(scenario)).violations).toEqual([])
  })
})
