import { expect, it } from 'vitest'
import { turnsOf } from '../../../../shared/engine/state/turn.ts'
import type { Delivery, Origin, WorkQueue } from '../../../../shared/ports/work-queue.ts'

const key = { group: 'example.com', kind: 'Widget', namespace: 'default', name: 'w' }

function delivery(handle: string, origin: Origin, receiveCount: number): Delivery {
  return { wakeUp: { key, origin, dedupId: handle, lane: 'urgent', reason: '' }, handle, receiveCount }
}

function queue(receivesMax?: number): WorkQueue & { readonly calls: unknown[][] } {
  const calls: unknown[][] = []
  const note = (call: string) => async (deliveries: readonly Delivery[]) =>
    void calls.push([call, ...deliveries.map(({ handle }) => handle)])
  const worn = receivesMax === undefined ? {} : { receivesMax }
  const [send, receive, wake] = [async () => {}, async () => [], async () => {}]
  return { send, receive, wake, settle: note('settle'), hold: note('hold'), ...worn, calls }
}

it.each([
  { because: 'a change is not looked at again like a timer', deliveries: ['timer', 'change'] as const, counts: [1, 5] },
  { because: 'the least worn lasts longest', deliveries: ['change', 'change'] as const, counts: [5, 1] },
])('the message that is held is the second: $because', async ({ deliveries, counts }) => {
  const to = queue()
  const [turn] = turnsOf(
    deliveries.map((origin, i) => delivery(String(i), origin, counts[i] ?? 0)),
    to,
  )
  await turn?.hold(1_000)
  expect(to.calls).toEqual([
    ['hold', '1'],
    ['settle', '0'],
  ])
})

it('is worn when the message it would hold was handed out too often for that, where the queue counts', () => {
  const worn = [delivery('a', 'change', 7)]
  expect(turnsOf(worn, queue(7))[0]?.isNearReceiveLimit).toBe(true)
  expect(turnsOf(worn, queue(8))[0]?.isNearReceiveLimit).toBe(false)
  expect(turnsOf(worn, queue())[0]?.isNearReceiveLimit).toBe(false)
  expect(turnsOf([...worn, delivery('b', 'change', 1)], queue(7))[0]?.isNearReceiveLimit).toBe(false)
})
