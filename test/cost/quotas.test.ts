import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { longOnly } from '../support/strength.ts'
import { carriedBy, pictureOf, quotaTable, scenes } from './quota-report.ts'
import { resyncsPerSecond, simulateQuotas, type QuotaScene } from './quotas.ts'

/** What AWS's quotas let through, in virtual time: the same in each run. */
const sceneCalled = (name: string): QuotaScene => {
  const scene = scenes.find((one) => one.name.startsWith(name))
  if (scene === undefined) throw new Error(`there is no scene ${name}`)
  return scene
}
const raised = sceneCalled('raised: ')

describe('the simulation of quotas', () => {
  it('carries ten thousand changes a second of ten million objects where the quotas are raised', async () => {
    const all = await simulateQuotas(raised, 600)
    expect(all.at(-1)).toMatchObject({ accepted: 10_000, bound: 'nothing', buckets: 16 })
    expect(all.at(-1)?.converged).toBeCloseTo(10_000)
    expect(all.at(-1)?.waitMs).toBe(120)
    // The index has buckets for that two minutes after it was full, and what waited is through soon after.
    const last = all.findLastIndex(({ waitMs }) => waitMs > 1_000)
    expect(last).toBeGreaterThan(120)
    expect(last).toBeLessThan(420)
  })

  it('accepts no more than it is asked for, and converges all that it accepts', async () => {
    const all = await simulateQuotas({ ...raised, changesPerSecond: 5_000 }, 300)
    const sum = (of: 'asked' | 'accepted' | 'converged') => all.reduce((total, second) => total + second[of], 0)
    expect(sum('accepted')).toBeCloseTo(sum('asked'))
    // What was asked for in the last second is on its way.
    expect(sum('asked') - sum('converged')).toBeCloseTo(5_000)
  })

  it.each([
    ['partitions of the table', { kinds: 1 }],
    ['units of the table', { tableUnits: 20_000 }],
    ['calls of the queues', { fifoCalls: 100 }],
    ['functions at once', { concurrency: 340 }],
    ['the relay', { objectBytes: 1_500_000 }],
  ] as const)('finds %s to hold back where there are too few of them', async (bound, change) => {
    const all = await simulateQuotas({ ...raised, ...change }, 600)
    expect(all.at(-1)?.bound).toBe(bound)
    expect(all.at(-1)?.waitMs).toBeGreaterThan(1_000)
  })

  it('a tick sends what one function can, and several send together', () => {
    const hourly = { ...raised, resyncHours: 1 }
    expect(resyncsPerSecond(hourly)).toBe(375)
    expect(Math.round(resyncsPerSecond({ ...hourly, ticksAtOnce: 8 }))).toBe(2_778)
  })
})

describe('docs/aws.md', () => {
  it('has the table of `npm run cost -- --quotas`', longOnly, async () => {
    const table = quotaTable(await Promise.all(scenes.map(carriedBy)))
    expect(readFileSync('docs/aws.md', 'utf8')).toContain(table)
  })

  it('shows the picture of it', async () => {
    expect(readFileSync('docs/images/quotas.svg', 'utf8')).toBe(await pictureOf(raised))
  })
})
