import { expect, it } from 'vitest'
import { sweep, waitMsMax } from './sweep.ts'

it.each([
  // An invocation stays free: of two, one runs a resync at a time.
  { runMs: 1_000, slowness: 3, least: 15, most: 60 },
  { runMs: 20_000, slowness: 2, least: 2, most: 4 },
])(
  "a user's change waits less than a second behind turns of $runMs ms, of more resyncs than can be run",
  async ({ runMs, slowness, least, most }) => {
    const sea = { objects: 10_000, slowness, runMs, edits: 15, editMs: 2_500 }
    const { resyncs, waitMs, deadLetters } = await sweep(sea)
    expect(resyncs).toBeGreaterThanOrEqual(least)
    expect(resyncs).toBeLessThanOrEqual(most)
    expect(waitMs).toBeLessThan(waitMsMax)
    expect(deadLetters).toBe(0)
  },
)
