import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  findQueue,
  oneQueue,
  planQueues,
  planStaleMs,
  receiveArrival,
  type QueuePlan,
} from '../../../../shared/engine/wake/queue-plan.ts'
import { digest } from '../../../../shared/model/digest.ts'
import type { ObjectKey } from '../../../../shared/model/object-key.ts'
import { share } from '../../../support/strength.ts'

const minuteMs = 60_000
const keyOf = (i: number): ObjectKey => ({ group: 'example.com', kind: 'Widget', namespace: 'default', name: `w${i}` })
const keys = Array.from({ length: 8_000 }, (_, i) => keyOf(i))
const later = 60 * minuteMs

describe('the queue of a key', () => {
  it.each([2, 3, 4, 8, 16])('is one of %i, each for as many keys as any other', (count) => {
    const plan = planQueues(oneQueue, count, later)
    const homes = Map.groupBy(keys, (key) => findQueue(plan, key, 2 * later))
    expect([...homes.keys()].sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, i) => i))
    for (const some of homes.values())
      expect(Math.abs(some.length * count - keys.length)).toBeLessThan(0.15 * keys.length)
  })

  it('is another one only for those that go to a new queue', () => {
    const [two, three] = [2, 3].map((count) => planQueues(oneQueue, count, later))
    const moved = keys.filter((key) => findQueue(two ?? [], key, 2 * later) !== findQueue(three ?? [], key, 2 * later))
    expect(moved.length / keys.length).toBeCloseTo(1 / 3, 1)
    expect(new Set(moved.map((key) => findQueue(three ?? [], key, 2 * later)))).toEqual(new Set([2]))
  })

  // Where two versions do not agree, a key runs from two queues at once while one replaces the other.
  it('is the same in every version of the program', () => {
    const plan = planQueues(oneQueue, 16, later)
    const homes = keys.slice(0, 12).map((key) => findQueue(plan, key, 2 * later))
    expect(homes).toEqual([6, 15, 15, 1, 1, 14, 6, 5, 7, 9, 5, 14])
    const all = keys.map((key) => findQueue(plan, key, 2 * later).toString(16)).join('')
    expect(digest(all)).toBe('c35a5140a18ca765')
  })

  it('changes a quarter of an hour after that is noted, and not again before another one', () => {
    const plan = planQueues(oneQueue, 4, later)
    expect(plan).toEqual([
      [1, 0],
      [4, later + 15 * minuteMs],
    ])
    expect(planQueues(plan, 8, later + 29 * minuteMs)).toBe(plan)
    expect(planQueues(plan, 8, later + 30 * minuteMs)).toEqual([plan[1], [8, later + 45 * minuteMs]])
    expect(planQueues(plan, 4, later + 31 * minuteMs)).toBe(plan)
  })

  it('stays as it is when a deployment is rolled back that has noted more, until everybody would know otherwise', () => {
    const plan = planQueues([[2, 0]], 4, later)
    expect(planQueues(plan, 2, later + 12 * minuteMs)).toEqual([[2, 0]])
    expect(planQueues(plan, 8, later + 12 * minuteMs)).toEqual([[2, 0]])
    // It may be there a minute later, and some have read the plan just before, and rely on it for another minute.
    expect(planQueues(plan, 2, later + 13 * minuteMs)).toBe(plan)
  })

  it('is one of fewer two minutes after that is noted, since those are known to all', () => {
    const plan = planQueues(oneQueue, 4, later)
    expect(planQueues(plan, 2, later + 30 * minuteMs)).toEqual([plan[1], [2, later + 32 * minuteMs + 10_000]])
  })

  it('is, for who knows only some, the one that it would be among those', () => {
    const four: QueuePlan = [[4, 0]]
    expect(keys.map((key) => findQueue(four, key, later, 2))).toEqual(
      keys.map((key) => findQueue([[2, 0]], key, later)),
    )
    expect(keys.map((key) => findQueue(four, key, later, 8))).toEqual(keys.map((key) => findQueue(four, key, later)))
  })
})

describe('a message', () => {
  const plan: QueuePlan = [
    [1, 0],
    [4, later],
  ]
  const moved = keys.find((key) => findQueue(plan, key, later) === 3) as ObjectKey
  const stayed = keys.find((key) => findQueue(plan, key, later) === 0) as ObjectKey
  const longestRunMs = 75_000

  it.each([
    ['of a queue that is not used yet is sent to where its key is now', moved, 3, later - 1, { kind: 'forward' }],
    ['of the old queue runs before the change', moved, 0, later - 1, { kind: 'run' }],
    ['of the old queue is sent on after it', moved, 0, later, { kind: 'forward' }],
    ['of the new queue waits until what began before is over', moved, 3, later + 5_000, { kind: 'hold', ms: 80_000 }],
    ['of the new queue waits to the end', moved, 3, later + 84_999, { kind: 'hold', ms: 1 }],
    ['of the new queue runs then', moved, 3, later + 85_000, { kind: 'run' }],
    ['of a key that stays is not held', stayed, 0, later, { kind: 'run' }],
    ['of a queue that nobody knows any more is sent on', stayed, -1, later, { kind: 'forward' }],
  ] as const)('%s', (...[, key, queue, nowMs, arrival]) => {
    expect(receiveArrival(key, { plan, queue, known: 4, longestRunMs, nowMs })).toEqual(arrival)
  })

  it.each([
    ['waits where its queue is not known, as another version may run it from there', plan, moved, 5 * minuteMs],
    ['waits there until the next step begins', [...plan, [2, later + 90_000]], moved, 90_000],
  ] as const)('%s', (_, known, key, ms) => {
    const facts = { plan: known, queue: 0, known: 2, longestRunMs, nowMs: later }
    expect(receiveArrival(key, facts)).toEqual({ kind: 'hold', ms })
    expect(receiveArrival(stayed, facts)).toEqual({ kind: 'run' })
  })
})

/**
 * A world of queues, senders and receivers with clocks of their own and plans of the last minute. Deployments have more
 * or fewer queues, and for some minutes after each of them there are functions of before.
 */
it('a key has one holder and loses no wake-up, however often the number of its queues changes', () => {
  const longestRunMs = 75_000
  const scene = fc.record({
    changes: fc.array(
      fc.record({
        minute: fc.oneof(fc.nat(40), fc.nat(180)),
        count: fc.integer({ min: 1, max: 8 }),
        unused: fc.constantFrom(0, 0, 3),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    // A tick may stand still ahead of the write of what it has noted: its function has 55 seconds.
    saveMs: fc.constantFrom(0, 55_000),
    // Most of them about when a change begins, which is when it matters.
    sends: fc.array(
      fc.record({
        change: fc.nat(7),
        offsetMs: fc.oneof(fc.integer({ min: -100_000, max: 100_000 }), fc.nat(3 * later)),
        key: fc.nat(3),
        skewMs: fc.constantFrom(-4_000, 0, 4_000),
        staleMs: fc.oneof(fc.constant(planStaleMs), fc.nat(planStaleMs)),
        oldMs: fc.nat(5 * minuteMs),
      }),
      { maxLength: 30 },
    ),
    runs: fc.infiniteStream(
      fc.record({
        ms: fc.oneof(fc.constant(longestRunMs), fc.nat(longestRunMs)),
        skewMs: fc.constantFrom(-4_000, 0, 4_000),
        staleMs: fc.oneof(fc.constant(planStaleMs), fc.nat(planStaleMs)),
        lateMs: fc.nat(5_000),
        oldMs: fc.nat(5 * minuteMs),
      }),
    ),
  })
  fc.assert(
    fc.property(scene, ({ changes: drawn, saveMs, sends: near, runs }) => {
      const changes = drawn
        .map(({ minute, count, unused }) => ({ atMs: minute * minuteMs, count, known: count + unused }))
        .toSorted((a, b) => a.atMs - b.atMs)
      const plans = notedPlans(changes, saveMs)
      const moments = [...plans.map(({ plan }) => plan.at(-1)?.[1] ?? 0), ...changes.map(({ atMs }) => atMs)]
      const sends = near.map(({ change, offsetMs, ...send }) => {
        const beginMs = moments[change % moments.length] ?? 0
        return { ...send, atMs: Math.max(0, beginMs + offsetMs) }
      })
      const planAt = (atMs: number): QueuePlan => plans.findLast(({ fromMs }) => fromMs <= atMs)?.plan ?? oneQueue
      const knownAt = (atMs: number): number => changes.findLast((change) => change.atMs <= atMs)?.known ?? 1
      const waiting: { atMs: number; holds: number; queue: number; key: number }[] = sends.map((send) => {
        const { atMs, skewMs, staleMs, oldMs, key } = send
        const queue = findQueue(planAt(atMs - staleMs), keyOf(key), atMs + skewMs, knownAt(atMs - oldMs))
        return { atMs, holds: 0, queue, key }
      })
      const ran: { key: number; fromMs: number; toMs: number }[] = []
      /** By queue and key: SQS gives a group to one receiver at a time. */
      const busy = new Map<string, number>()
      for (let steps = 0; waiting.length > 0; steps++) {
        expect(steps).toBeLessThan(2_000)
        waiting.sort((a, b) => b.atMs - a.atMs)
        const message = waiting.pop()
        const run = runs.next().value
        if (message === undefined) break
        const group = `${message.queue} ${message.key}`
        const nowMs = Math.max(message.atMs, busy.get(group) ?? 0)
        if (nowMs > message.atMs) {
          waiting.push({ ...message, atMs: nowMs })
          continue
        }
        const key = keyOf(message.key)
        const known = knownAt(nowMs - run.oldMs)
        const facts = {
          plan: planAt(nowMs - run.staleMs),
          queue: message.queue,
          known,
          longestRunMs,
          nowMs: nowMs + run.skewMs,
        }
        const isForeign = message.queue >= known
        const arrival = isForeign ? ({ kind: 'forward' } as const) : receiveArrival(key, facts)
        if (arrival.kind === 'hold') {
          // SQS gives up what it has handed out ten times.
          expect(message.holds).toBeLessThan(8)
          waiting.push({ ...message, atMs: nowMs + arrival.ms, holds: message.holds + 1 })
        } else if (arrival.kind === 'forward') {
          const queue = findQueue(facts.plan, key, facts.nowMs, known)
          expect(queue).not.toBe(message.queue)
          waiting.push({ ...message, atMs: nowMs + run.lateMs, holds: 0, queue })
        } else {
          ran.push({ key: message.key, fromMs: nowMs, toMs: nowMs + run.ms })
          busy.set(group, nowMs + run.ms)
        }
      }
      for (const { key, fromMs, toMs } of ran)
        expect(ran.filter((other) => other.key === key && other.fromMs > fromMs && other.fromMs < toMs)).toEqual([])
      for (const { key, atMs } of sends) expect(ran.some((run) => run.key === key && run.fromMs >= atMs)).toBe(true)
    }),
    { numRuns: share(20_000) },
  )
})

/** What the tick notes, minute by minute, when these numbers of queues are deployed; it is there so much later. */
function notedPlans(changes: readonly { readonly atMs: number; readonly count: number }[], saveMs: number) {
  const plans: { readonly fromMs: number; readonly plan: QueuePlan }[] = []
  for (let atMs = 0; atMs < 6 * later; atMs += minuteMs) {
    const plan = plans.at(-1)?.plan ?? oneQueue
    const next = planQueues(plan, changes.findLast((change) => change.atMs <= atMs)?.count ?? 1, atMs)
    if (next !== plan) plans.push({ fromMs: atMs + saveMs, plan: next })
  }
  return plans
}
