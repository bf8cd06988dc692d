import { expect, it } from 'vitest'
import { createLocalWorkQueue } from '../../../../../shared/adapters/local/queue/local-work-queue.ts'
import type { WakeUp } from '../../../../../shared/ports/work-queue.ts'
import { createSeededRandom } from '../../../../../shared/testing/seeded-random.ts'
import { createVirtualClock } from '../../../../support/virtual-clock.ts'

const wakeUp: WakeUp = {
  key: { group: '', kind: 'ConfigMap', namespace: 'default', name: 'one' },
  origin: 'change',
  dedupId: 'id',
  lane: 'urgent',
  reason: 'test',
}

/** A machine whose clock can jump while time passes as it does. */
function machine() {
  const passing = createVirtualClock()
  let aheadMs = 0
  const clock = {
    nowMs: () => passing.nowMs() + aheadMs,
    steadyMs: () => passing.nowMs(),
    sleep: passing.sleep,
  }
  const queue = createLocalWorkQueue({ clock, random: createSeededRandom(1), visibilityMs: 30_000 })
  const jump = (byMs: number): void => {
    aheadMs += byMs
  }
  return { queue, pass: passing.advance, jump }
}

it.each([3_600_000, -3_600_000])('ends nobody’s turn early or late when the clock jumps by %i ms', async (byMs) => {
  const { queue, pass, jump } = machine()
  await queue.send([wakeUp])
  await queue.receive(1, new AbortController().signal)
  jump(byMs)
  const again = queue.receive(1, new AbortController().signal)
  let hasCome = false
  void again.then(() => (hasCome = true))
  await pass(29_000)
  await queue.send([])
  expect(hasCome).toBe(false)
  await pass(1_500)
  await queue.send([])
  expect((await again).map(({ receiveCount }) => receiveCount)).toEqual([2])
})

it('gives way to all else after each 32 that it has handed out', async () => {
  const { queue } = machine()
  const { signal } = new AbortController()
  const names = Array.from({ length: 100 }, (_, i) => String(i))
  await queue.send(names.map((name) => ({ ...wakeUp, key: { ...wakeUp.key, name }, dedupId: name })))
  let handedOut = 0
  const counts: number[] = []
  const note = (): void => {
    counts.push(handedOut)
    if (handedOut < names.length) setImmediate(note)
  }
  setImmediate(note)
  while (handedOut < names.length) handedOut += (await queue.receive(1, signal)).length
  expect(counts.slice(0, 3)).toEqual([32, 64, 96])
})

it('leaves nothing on the signal of who has received', async () => {
  const { queue, pass } = machine()
  const { signal } = new AbortController()
  const changes = ['addEventListener', 'removeEventListener'] as const
  const counts = changes.map((name) => {
    let count = 0
    const inner = signal[name].bind(signal) as (...given: unknown[]) => void
    Object.assign(signal, {
      [name]: (...given: unknown[]) => {
        count++
        inner(...given)
      },
    })
    return () => count
  })
  const received = queue.receive(1, signal)
  await pass(1)
  await queue.send([wakeUp])
  expect(await received).toHaveLength(1)
  expect(counts.map((count) => count())).toEqual([1, 1])
})
