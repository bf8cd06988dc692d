import { expect, it } from 'vitest'
import { pick } from '../support/strength.ts'
import { scenarioOf } from './scenario-of.ts'
import { differencesOf } from './twins.ts'

it.each(pick(Array.from({ length: 12 }, (_, i) => i + 1)))(
  'script %i ends in the same state on one machine and on simulated AWS',
  async (seed) => {
    expect(await differencesOf(scenarioOf(seed))).toEqual([])
  },
)

it('tells two ends apart', async () => {
  const scenario = scenarioOf(12)
  const [first] = await differencesOf(scenario, { ...scenario, steps: scenario.steps.slice(0, -1) })
  expect(first).toMatch(/^promise 12, engines agree: /)
})
