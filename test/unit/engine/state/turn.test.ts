import { describe, expect, it } from 'vitest'
import { turnsOf } from '../../../../shared/engine/state/turn.ts'
import type { Delivery, Lane, Origin, WorkQueue } from '../../../../shared/ports/work-queue.ts'

const key = { group: 'example.com', kind: 'Widget', namespace: 'default', name: 'w' }

function delivery(handle: string, origin: Origin, receiveCount: number, notBeforeMs?: number): Delivery {
  const wakeUp = { key, origin, dedupId: handle, lane: 'urgent', reason: '' } as const
  return { wakeUp: notBeforeMs === undefined ? wakeUp : { ...wakeUp, notBeforeMs }, handle, receiveCount }
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

it.each([
  {
    because: 'a resync is run and a timer looked at',
    deliveries: [delivery('a', 'timer', 1), delivery('b', 'resync', 1)],
  },
  { because: 'a change comes before a resync', deliveries: [delivery('a', 'resync', 1), delivery('b', 'change', 9)] },
  { because: 'it has to wait least', deliveries: [delivery('a', 'change', 1, 9), delivery('b', 'change', 5, 8)] },
  { because: 'it has not to wait at all', deliveries: [delivery('a', 'change', 1, 9), delivery('b', 'change', 5)] },
])('of two in either order one is held: $because', async ({ deliveries }) => {
  for (const some of [deliveries, deliveries.toReversed()]) {
    const to = queue()
    await turnsOf(some, to)[0]?.hold(1_000)
    expect(to.calls[0]).toEqual(['hold', 'b'])
  }
})

it('of equals holds the one that came first', async () => {
  const to = queue()
  await turnsOf([delivery('a', 'change', 1), delivery('b', 'change', 1)], to)[0]?.hold(1_000)
  expect(to.calls).toEqual([
    ['hold', 'a'],
    ['settle', 'b'],
  ])
})

it('settles what is not held once, and nothing where there is one message', async () => {
  const to = queue()
  const [turn] = turnsOf([delivery('a', 'change', 1), delivery('b', 'timer', 4)], to)
  await turn?.hold(1_000)
  await turn?.hold(2_000)
  await turn?.settle()
  expect(to.calls).toEqual([
    ['hold', 'a'],
    ['settle', 'b'],
    ['hold', 'a'],
    ['settle', 'a'],
  ])
  const alone = queue()
  await turnsOf([delivery('a', 'change', 1)], alone)[0]?.hold(1_000)
  expect(alone.calls).toEqual([['hold', 'a']])
})

it('is of one key each, in order of arrival, as often received as its most worn message', () => {
  const other = {
    ...delivery('c', 'change', 9),
    wakeUp: { ...delivery('c', 'change', 9).wakeUp, key: { ...key, name: 'x' } },
  }
  const turns = turnsOf([delivery('a', 'change', 1), other, delivery('b', 'timer', 4)], queue())
  expect(turns.map((turn) => [turn.key.name, turn.handle, turn.wakeUps.length, turn.receiveCount])).toEqual([
    ['w', 'a', 2, 4],
    ['x', 'c', 1, 9],
  ])
})

it.each([
  [undefined, false],
  [false, false],
  [true, true],
])('is wanted as its queue says (%j)', async (answer, is) => {
  const to = { ...queue(), ...(answer !== undefined && { isWanted: async () => answer }) }
  expect(await turnsOf([delivery('a', 'change', 1)], to)[0]?.isWanted()).toBe(is)
})

it('is worn when the message it would hold was handed out too often for that, where the queue counts', () => {
  const worn = [delivery('a', 'change', 7)]
  expect(turnsOf(worn, queue(7))[0]?.isNearReceiveLimit).toBe(true)
  expect(turnsOf(worn, queue(8))[0]?.isNearReceiveLimit).toBe(false)
  expect(turnsOf(worn, queue())[0]?.isNearReceiveLimit).toBe(false)
  expect(turnsOf([...worn, delivery('b', 'change', 1)], queue(7))[0]?.isNearReceiveLimit).toBe(false)
})

describe('it is repeated', () => {
  const of = (lane: Lane, ...counts: readonly number[]): readonly Delivery[] =>
    counts.map((count, i) => {
      const one = delivery(String(i), 'change', count)
      return { ...one, wakeUp: { ...one.wakeUp, lane } }
    })
  const isRepeated = (deliveries: readonly Delivery[], to: WorkQueue): boolean | undefined =>
    turnsOf(deliveries, to)[0]?.isRepeated

  it('when all of it came before, where messages are kept apart, in whatever lane they were sent', () => {
    const apart = { ...queue(), keepsApart: true }
    expect(isRepeated(of('urgent', 2), apart)).toBe(true)
    expect(isRepeated(of('urgent', 2, 1), apart)).toBe(false)
    expect(isRepeated(of('background', 1), apart)).toBe(false)
  })

  it('when it comes again with nothing urgent, where they are merged', () => {
    expect(isRepeated(of('background', 2), queue())).toBe(true)
    expect(isRepeated(of('urgent', 2), queue())).toBe(false)
    expect(isRepeated(of('background', 1), queue())).toBe(false)
  })
})
