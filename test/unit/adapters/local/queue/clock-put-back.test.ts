import { expect, it } from 'vitest'
import { createLocalWorkQueue } from '../../../../../shared/adapters/local/queue/local-work-queue.ts'
import { createSeededRandom } from '../../../../../shared/testing/seeded-random.ts'
import type { WakeUp } from '../../../../../shared/ports/work-queue.ts'
import { createVirtualClock } from '../../../../support/virtual-clock.ts'

/** Waits are durations, whatever becomes of the clock of the machine. */

const key = { group: 'g', kind: 'K', namespace: 'n', name: 'w' }
const wakeUp = (more: Partial<WakeUp>): WakeUp => ({
  key,
  origin: 'change',
  dedupId: 'a',
  lane: 'urgent',
  reason: 'r',
  ...more,
})

function machine() {
  const passing = createVirtualClock(1_000_000_000)
  let aheadMs = 3_600_000
  const clock = {
    nowMs: () => passing.nowMs() + aheadMs,
    steadyMs: () => passing.nowMs(),
    sleep: (ms: number, signal?: AbortSignal) => passing.sleep(ms, signal),
  }
  const queue = createLocalWorkQueue({ clock, random: createSeededRandom(1), visibilityMs: 360_000 })
  return { queue, clock, passing, putRight: () => void (aheadMs = 0) }
}

it.each([
  ['nothing else', undefined],
  ['a resync', wakeUp({ origin: 'resync', dedupId: 'resync:1', lane: 'background' })],
])('a message that is hidden for five seconds comes again after them, with %s behind it', async (_, behind) => {
  const { queue, passing, putRight } = machine()
  const stop = new AbortController()
  await queue.send([wakeUp({})])
  const got = await queue.receive(1, stop.signal)
  await queue.hold(got, 5_000)
  let came: number | undefined
  const begun = passing.nowMs()
  void queue.receive(1, stop.signal).then(() => (came = passing.nowMs() - begun))
  await passing.advance(1_000)
  putRight()
  if (behind !== undefined) await queue.send([behind])
  await passing.advance(600_000)
  stop.abort()
  expect(came).toBe(5_000)
})

it('a change that is debounced for ten seconds comes after them', async () => {
  const { queue, clock, passing, putRight } = machine()
  const stop = new AbortController()
  await queue.send([wakeUp({ notBeforeMs: clock.nowMs() + 10_000 })])
  let came: number | undefined
  const begun = passing.nowMs()
  void queue.receive(1, stop.signal).then((all) => (came = all.length === 0 ? undefined : passing.nowMs() - begun))
  await passing.advance(1_000)
  putRight()
  await passing.advance(600_000)
  expect(came).toBe(10_000)
  stop.abort()
})
