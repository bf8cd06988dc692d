import { describe, expect, it } from 'vitest'
import { isLong, pick } from '../../support/strength.ts'
import { clearOutside, clearSky } from '../climate.ts'
import type { End, LocalTrouble, Scenario, Step } from '../scenario.ts'
import { runPool } from '../seed-pool.ts'
import { simulate } from '../simulate.ts'

/** `npm run sim -- --engine local --seeds A..B` runs any number. In the long form one seed in sixteen runs twice. */
const seeds = isLong ? 150 : 4

describe('the local engine in a simulated process', () => {
  it(`breaks no promise in ${seeds} seeds, and runs the same twice`, async () => {
    const { broken, seeds: ran } = await runPool({ engine: 'local', from: 1, to: seeds, threads: 2, isOnce: isLong })
    const commands = broken.map(
      ({ seed, violations }) => `npm run sim -- --engine local --seed ${seed}: ${violations[0]}`,
    )
    expect(commands).toEqual([])
    expect(ran).toBe(seeds)
  })

  it.each<End>(pick(['power lost', 'killed', 'power lost in a commit']))(
    'breaks no promise at whichever step the process ends: %s',
    async (end) => {
      const every = isLong ? 1 : 29
      let ends = 0
      for (let step = 1 + (end.length % every); ; step += every) {
        const { violations, faults } = await simulate(shortLife({ step, end }))
        expect(violations.map((violation) => `at step ${step}: ${violation}`)).toEqual([])
        if (faults.get(end) !== 1) break
        ends++
      }
      expect(ends).toBeGreaterThan(200 / every)
    },
  )
})

/** An object with a child and a finalizer is made, changed and deleted, and another one fails. */
function shortLife(firstEnd: LocalTrouble['firstEnd'] & object): Scenario {
  const step = { user: 0, kind: 'Gadget', name: 'g0-0', mood: 'plain', to: '', size: 0 } as const
  const steps: readonly Step[] = [
    { ...step, act: 'apply', afterMs: 1_000, value: 1 },
    { ...step, act: 'apply', afterMs: 5_000, value: 2, user: 1, name: 'g1-0', mood: 'fail' },
    { ...step, act: 'apply', afterMs: 5_000, value: 2 },
    { ...step, act: 'strip', afterMs: 5_000, value: 3 },
    { ...step, act: 'delete', afterMs: 5_000, value: 4 },
  ]
  return {
    seed: 1,
    // That something goes wrong is known to the checkers by this.
    climate: { ...clearSky, latencyMsMax: 2, crash: 1e-12, outside: clearOutside },
    resyncMinutes: 0,
    herd: 0,
    steps,
    local: { tickMs: 10_000, powerLoss: 0, informers: 1, firstEnd },
  }
}
