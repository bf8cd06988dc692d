import { describe, expect, it } from 'vitest'
import { feedingOf } from '../../../../infra/constructs/work-queue.ts'
import {
  isQuick,
  knownOf,
  limitsOf,
  noteAhead,
  noteDepth,
  noteSent,
  openWindow,
  roomIn,
  workersOf,
  type KnownQueue,
  type QueueDepth,
  type SendWindow,
} from '../../../../shared/runtime/aws/send-window.ts'

const alone = { index: 0, of: 1 }
const ten = limitsOf(10, alone)
const hundred = limitsOf(100, alone)
const empty: QueueDepth = { waiting: 0, taken: 0 }
const nowMs = 1_000_000
const quick: KnownQueue = { size: 60, turnMs: 500, provenMs: nowMs - 60_000 }
const slow: KnownQueue = { size: 1, turnMs: 20_000, provenMs: 0 }

function open(known?: KnownQueue, depth = empty, limits = ten): SendWindow {
  return openWindow(limits, known, { depth, nowMs })
}

it('the function runs as many at once as infra feeds it', () => {
  for (const concurrency of [1, 2, 3, 9, 10, 11, 40, 99, 100, 1_000, 10_000]) {
    const { batchSize, maxConcurrency } = feedingOf({ concurrency })
    expect(workersOf(concurrency)).toEqual({ batchSize, invocations: maxConcurrency })
  }
})

describe('how many a tick may send at first', () => {
  it.each<
    { readonly what: string; readonly known?: KnownQueue; readonly room: readonly [number, number] } & Partial<Begun>
  >([
    { what: 'of nothing known, an invocation stays free', room: [1, 10] },
    { what: 'the same of more invocations', limits: hundred, room: [9, 100] },
    { what: 'where turns are slow', known: slow, room: [1, 10] },
    { what: 'where turns are quick, as many as run at once', known: quick, room: [10, 10] },
    {
      what: 'what was seen too long ago is not known',
      known: { ...quick, provenMs: nowMs - 11 * 60_000 },
      room: [1, 10],
    },
    { what: 'held messages are nobody before anybody', known: slow, taken: 500, room: [1, 10] },
    { what: 'users that wait do not keep everything back', known: slow, waiting: 50, taken: 10, room: [1, 10] },
    { what: 'what the last tick left is under way', known: leftBehind(15_000), taken: 1, room: [0, 10] },
    { what: 'unless it is gone', known: leftBehind(15_000), room: [1, 10] },
    { what: 'or sent two turns ago', known: leftBehind(41_000), taken: 1, room: [1, 10] },
  ])('$what', ({ known, limits = ten, waiting = 0, taken = 0, room }) => {
    const window = open(known, { waiting, taken }, limits)
    expect([roomIn(window, 'sweep', nowMs), roomIn(window, 'timer', nowMs)]).toEqual(room)
  })
})

interface Begun extends QueueDepth {
  readonly limits: typeof ten
}

function leftBehind(agoMs: number): KnownQueue {
  return { ...slow, left: 1, leftMs: nowMs - agoMs }
}

/** So many are sent; then the queue says so much of itself, after so long. */
function after(window: SendWindow, keys: number, ...looks: readonly (readonly [ms: number, QueueDepth])[]): SendWindow {
  const sentMs = nowMs + 10_000
  return looks.reduce(
    (one, [ms, depth]) => noteDepth(one, depth, sentMs + ms),
    noteSent(window, keys, { rank: 'sweep', nowMs: sentMs }),
  )
}
const later = nowMs + 60_000

describe('a sweep', () => {
  it.each<readonly [string, SendWindow, number]>([
    ['waits while its message is under way', after(open(slow), 1, [5_000, { waiting: 0, taken: 1 }]), 0],
    ['goes on when it is through', after(open(slow), 1, [5_000, { waiting: 0, taken: 1 }], [20_000, empty]), 1],
    ['waits while users wait', after(open(slow), 1, [20_000, { waiting: 3, taken: 10 }]), 0],
    ['has twice as many when they are through at once', after(open(quick), 10, [1_000, empty]), 20],
    [
      'has one more when they are through in time',
      after({ ...open(quick), size: 4 }, 4, [400, { waiting: 0, taken: 1 }], [550, empty]),
      5,
    ],
    ['has no more when they were few', after(open(quick), 2, [1_000, empty]), 10],
    [
      'has fewer when they take longer than a second',
      after(open(quick), 10, [1_000, { waiting: 0, taken: 10 }], [1_250, { waiting: 0, taken: 5 }]),
      0,
    ],
    ['has the least when they take long', after(open(quick), 10, [1_000, { waiting: 5, taken: 5 }], [5_000, empty]), 1],
    [
      'of many is judged by what waits: held ones do not matter',
      after({ ...open(quick), size: 20 }, 20, [400, { waiting: 0, taken: 300 }]),
      30,
    ],
  ])('%s', (_, window, room) => {
    expect(roomIn(window, 'sweep', later)).toBe(room)
  })

  it('never has less than leaves an invocation free, nor more than the work of about half a second', () => {
    let window = open(quick)
    for (let i = 0; i < 20; i++)
      window = noteDepth(
        noteSent(window, 60, { rank: 'sweep', nowMs: later + i * 1_100 }),
        empty,
        later + i * 1_100 + 400,
      )
    expect(window.size).toBe(50)
    for (let i = 0; i < 20; i++) window = after(window, 60, [20_000, { waiting: 50, taken: 10 }])
    expect(window.size).toBe(1)
  })
})

describe('something gets done in each tick', () => {
  it('though users keep the function busy: the least of sweeps, and of timers as many as run at once', () => {
    const window = open(slow, { waiting: 100, taken: 10 })
    expect([roomIn(window, 'sweep', nowMs), roomIn(window, 'timer', nowMs)]).toEqual([1, 10])
    const swept = noteDepth(noteSent(window, 1, { rank: 'sweep', nowMs }), { waiting: 100, taken: 10 }, later)
    expect(roomIn(swept, 'sweep', later)).toBe(0)
  })

  it('and half of what runs at once of sweeps that have fallen behind', () => {
    let window = { ...open(slow, { waiting: 100, taken: 10 }), isBehind: true }
    let sent = 0
    for (; roomIn(window, 'sweep', nowMs) > 0; sent++) window = noteSent(window, 1, { rank: 'sweep', nowMs })
    expect(sent).toBe(5)
  })

  it('though messages stand for ever behind lost ones: they are nobody before anybody in the tick after', () => {
    const before = noteDepth(open(slow, { waiting: 3, taken: 1 }), { waiting: 5, taken: 1 }, later)
    const known = knownOf(before)
    expect(known.stuck).toBe(3)
    const window = noteDepth(open(known, { waiting: 3, taken: 1 }), { waiting: 3, taken: 1 }, later)
    expect(roomIn(window, 'sweep', later)).toBe(1)
    expect(roomIn(noteDepth(window, { waiting: 4, taken: 1 }, later), 'sweep', later)).toBe(1)
    const sent = noteDepth(noteSent(window, 1, { rank: 'sweep', nowMs: later }), { waiting: 4, taken: 1 }, later)
    expect(roomIn(sent, 'sweep', later)).toBe(0)
  })
})

describe('a queue of which nothing is known', () => {
  const through = after(open(), 1, [400, empty])
  const sentMs = nowMs + 10_000

  it('gets nothing for five seconds behind its first messages, neither sweeps nor timers', () => {
    expect([roomIn(through, 'sweep', later), roomIn(through, 'timer', later)]).toEqual([0, 0])
    expect(isQuick(through)).toBe(false)
  })

  it('is quick if its counts show nothing of them then, but for a user now and then', () => {
    const looks = [500, 1_000, 1_500, 2_000, 2_500, 3_000, 3_500, 4_000, 4_500, 5_000]
    const seen = looks.reduce(
      (one, ms, i) => noteDepth(one, i % 3 < 2 ? { waiting: 0, taken: 1 } : empty, sentMs + ms),
      through,
    )
    expect(isQuick(seen)).toBe(true)
    expect(roomIn(seen, 'sweep', later)).toBeGreaterThan(0)
  })

  it('is slow if its counts show them late', () => {
    const seen = [2_000, 2_500, 3_000].reduce(
      (one, ms) => noteDepth(one, { waiting: 0, taken: 1 }, sentMs + ms),
      through,
    )
    expect(isQuick(seen)).toBe(false)
    expect(knownOf(seen)).toMatchObject({ size: 1, turnMs: 3_000 })
  })
})

describe('timers', () => {
  it('may take all invocations, and then none stands in line', () => {
    const window = noteSent(open(slow), 10, { rank: 'timer', nowMs })
    expect(roomIn(window, 'timer', nowMs)).toBe(0)
    expect(roomIn(noteDepth(window, { waiting: 0, taken: 6 }, later), 'timer', later)).toBe(4)
    expect(roomIn(noteDepth(window, { waiting: 3, taken: 10 }, later), 'timer', later)).toBe(0)
  })

  it('that were sent ahead are held, and stand before nobody until they are due', () => {
    const window = noteAhead(open(slow), [nowMs + 30_000, nowMs + 30_000])
    expect(roomIn(after(window, 1, [5_000, { waiting: 0, taken: 2 }]), 'sweep', later)).toBe(1)
    expect(roomIn(after(window, 1, [5_000, { waiting: 0, taken: 3 }]), 'sweep', later)).toBe(0)
    expect(roomIn(after(window, 1, [25_000, { waiting: 0, taken: 2 }]), 'sweep', later)).toBe(0)
  })
})

describe('others that are taken', () => {
  it('and end later do not make a message look as if it had ended', () => {
    const window = open(slow, { waiting: 0, taken: 5 })
    expect(roomIn(after(window, 1, [5_000, { waiting: 0, taken: 3 }]), 'sweep', later)).toBe(0)
    expect(
      roomIn(after(window, 1, [5_000, { waiting: 0, taken: 3 }], [20_000, { waiting: 0, taken: 2 }]), 'sweep', later),
    ).toBe(1)
  })

  it('and stay keep a sweep back for two turns only', () => {
    const window = open(slow, { waiting: 0, taken: 5 })
    const looks = [5_000, 39_000, 40_000].map((ms) => [ms, { waiting: 0, taken: 3 }] as const)
    expect(roomIn(after(window, 1, ...looks.slice(0, 2)), 'sweep', later)).toBe(0)
    expect(roomIn(after(window, 1, ...looks), 'sweep', later)).toBe(1)
  })
})

describe('several ticks at once', () => {
  const shareOf = (index: number) => limitsOf(10, { index, of: 8 })

  it('have a part each of what one would have', () => {
    const window = { ...open(quick, empty, shareOf(0)), size: 40 }
    expect(roomIn(window, 'sweep', nowMs)).toBe(5)
  })

  it('of less than one for each, one sends at a time, when the counts show what the one before it sent', () => {
    const atMs = 64_000 * 20
    const rooms = Array.from({ length: 8 }, (_, index) =>
      Array.from({ length: 64 }, (__, second) => {
        const ms = atMs + second * 1_000
        return roomIn(noteDepth(open(slow, empty, shareOf(index)), empty, ms), 'sweep', ms)
      }),
    )
    for (let second = 0; second < 64; second++) {
      const own = rooms.filter((room) => (room[second] ?? 0) > 0).length
      expect(own, `in second ${second}`).toBe(second % 8 === 0 ? 0 : 1)
    }
  })
})
