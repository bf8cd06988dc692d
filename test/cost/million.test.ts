import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { longOnly } from '../support/strength.ts'
import { billOf } from './bill.ts'
import { measure, type Cost, type Measured } from './measure.ts'
import { million, millionTable } from './million.ts'

/** As the functions were counted on 2026-11-23: the long form counts again. */
const counted: Measured = {
  change: { readUnits: 2, writeUnits: 4, queueRequests: 2, logBytes: 1_400 },
  creation: { readUnits: 2.3, writeUnits: 5, queueRequests: 2, logBytes: 1_400 },
  resync: { readUnits: 1, writeUnits: 0, queueRequests: 0.1, logBytes: 91 },
  read: { readUnits: 1, writeUnits: 0, queueRequests: 0, logBytes: 604 },
  tick: { readUnits: 7.4, writeUnits: 1, queueRequests: 1, logBytes: 0 },
  tickOfController: { readUnits: 8.8, writeUnits: 0, queueRequests: 0, logBytes: 0 },
  series: { whole: 14, perController: 4 },
}

describe('a million changes, and 100,000 objects that run each hour', () => {
  it('are at most $60 a month by the list, and $45 with the free tier', () => {
    const { usd, usdWithFreeTier } = billOf(million, counted)
    expect(usd).toBeLessThanOrEqual(60)
    expect(usdWithFreeTier).toBeLessThanOrEqual(45)
  })

  it('cost more where the batches of the queue are small', () => {
    expect(billOf({ ...million, sharedConcurrency: 10 }, counted).usd).toBeGreaterThan(60)
  })

  it('are counted so', longOnly, async () => {
    let over: readonly string[] = ['nothing was counted']
    for (let i = 0; i < countsMax && over.length > 0; i++) over = findOver(await measure(million.objectBytes))
    expect(over).toEqual([])
  })

  it('stand in docs/aws.md', () => {
    expect(readFileSync('docs/aws.md', 'utf8')).toContain(millionTable(counted))
  })
})

/** A busy machine adds requests, because batches come apart and work takes longer. It takes none away. */
const countsMax = 5

/** What costs more than was counted. */
function findOver(now: Measured): readonly string[] {
  const { usd } = billOf(million, now)
  const parts = (['change', 'resync'] as const).flatMap((part) =>
    (Object.keys(counted[part]) as (keyof Cost)[])
      .filter((name) => now[part][name] > 1.1 * counted[part][name])
      .map((name) => `${part} ${name}: ${now[part][name]}`),
  )
  return usd > 60 ? [`a month: $${usd}`, ...parts] : parts
}
