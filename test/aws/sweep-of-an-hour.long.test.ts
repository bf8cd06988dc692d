import { expect, it } from 'vitest'
import { sweep, waitMsMax } from './sweep.ts'

it("a user's change waits less than a second behind the resyncs of 100,000 objects an hour", async () => {
  // With what comes before and after it, a turn takes a tenth of a second. The edits come while the tick sends.
  const sea = { objects: 100_000, slowness: 8, runMs: 60, edits: 30, editMs: 1_200 }
  const { resyncs, waitMs, deadLetters } = await sweep(sea)
  // A minute has 1,667 of an hour's, by chance more or fewer; the edits of some come first.
  expect(resyncs).toBeGreaterThan(1_400)
  expect(waitMs).toBeLessThan(waitMsMax)
  expect(deadLetters).toBe(0)
})
