import { describe, expect, it } from 'vitest'
import { createKeyGroups } from '../../../../../shared/adapters/local/queue/key-groups.ts'
import type { Delivery, WakeUp } from '../../../../../shared/ports/work-queue.ts'

const visibilityMs = 10_000

function wakeUp(name: string, more: Partial<WakeUp> = {}): WakeUp {
  const key = { group: '', kind: 'K', namespace: 'n', name }
  return { key, origin: 'change', dedupId: 'd', lane: 'urgent', reason: `${name} changed`, ...more }
}

function open() {
  const waits: number[] = []
  const groups = createKeyGroups({ handlePrefix: 'p', visibilityMs, onHandOut: (ms) => void waits.push(ms) })
  const send = (name: string, nowMs: number, more?: Partial<WakeUp>): void =>
    groups.accept(name, wakeUp(name, more), nowMs)
  /** The names that are handed out. */
  const namesAt = (nowMs: number, max = 10, backgroundMax?: number) =>
    groups.take(max, nowMs, backgroundMax).map(({ wakeUp: { key } }) => key.name)
  const takeAt = (nowMs: number): Delivery => {
    const [delivery] = groups.take(1, nowMs)
    if (delivery === undefined) throw new Error('there is nothing to take')
    return delivery
  }
  const statesAt = (nowMs: number, after?: number) =>
    [...groups.list(nowMs, after)].map(({ key, state, ms }) => `${key.name} ${state} ${ms}`)
  return { groups, waits, send, namesAt, takeAt, statesAt }
}

describe('a key that is ready', () => {
  it('is handed out once, by a receipt of its own, and told how long it has waited', () => {
    const { groups, send, waits } = open()
    send('a', 100)
    expect([groups.depth(), groups.oldestReadyAtMs()]).toEqual([1, 100])
    expect(groups.take(5, 130)).toEqual([{ wakeUp: wakeUp('a'), handle: 'p.1', receiveCount: 1 }])
    expect([groups.take(5, 131), waits, groups.depth(), groups.oldestReadyAtMs()]).toEqual([[], [30], 0, Infinity])
  })

  it('takes what arrives into its one wake-up, and is ready since the first', () => {
    const { groups, send, waits } = open()
    send('a', 100, { lane: 'background', reason: 'one' })
    send('a', 150, { reason: 'two' })
    send('b', 160)
    expect([groups.depth(), groups.oldestReadyAtMs()]).toEqual([2, 100])
    const [first] = groups.take(1, 200)
    expect(first?.wakeUp).toMatchObject({ lane: 'urgent', reason: 'one; two' })
    expect(waits).toEqual([100])
  })

  it('comes in its turn, of so many as are asked for, and of the background as many as are asked for', () => {
    const { send, namesAt } = open()
    for (const name of ['a', 'b', 'c']) send(name, 0)
    for (const name of ['x', 'y', 'z']) send(name, 0, { lane: 'background' })
    expect([namesAt(1, 2), namesAt(1, 4, 1), namesAt(1, 4, 0), namesAt(1)]).toEqual([
      ['a', 'b'],
      ['c', 'x'],
      [],
      ['y', 'z'],
    ])
  })

  it('stays so if its clock is put back, whatever time it is given', () => {
    const { groups, send, namesAt } = open()
    send('a', 100, { notBeforeMs: 90 })
    send('a', 50, { notBeforeMs: 95 })
    expect([groups.nextDeadlineMs(), namesAt(50)]).toEqual([undefined, ['a']])
  })
})

describe('a key with a time ahead', () => {
  it('is handed out when that comes', () => {
    const { groups, send, namesAt, waits } = open()
    send('a', 0, { notBeforeMs: 500 })
    expect([groups.depth(), groups.nextDeadlineMs(), namesAt(499)]).toEqual([0, 500, []])
    expect([namesAt(500), waits]).toEqual([['a'], [0]])
  })

  it('keeps its lane, since nobody has had it yet', () => {
    const { send, takeAt } = open()
    send('a', 0, { notBeforeMs: 500 })
    expect(takeAt(500).wakeUp.lane).toBe('urgent')
  })

  it.each<[string, Partial<WakeUp>, number | undefined, readonly string[]]>([
    ['is handed out at once by what has no time', {}, undefined, ['a']],
    ['is handed out at once by what is due', { notBeforeMs: 100 }, undefined, ['a']],
    ['has the earlier of two times', { notBeforeMs: 300 }, 300, []],
    ['keeps its time by a later one', { notBeforeMs: 900 }, 500, []],
  ])('%s', (_what, more, deadline, names) => {
    const { groups, send, namesAt } = open()
    send('a', 0, { notBeforeMs: 500 })
    send('a', 100, more)
    expect([groups.nextDeadlineMs(), namesAt(100)]).toEqual([deadline, names])
  })
})

describe('a key that is taken', () => {
  it('is its receiver’s until that settles, and then gone', () => {
    const { groups, send, takeAt, statesAt } = open()
    send('a', 0)
    const { handle } = takeAt(0)
    expect([groups.isAnyTaken(), groups.nextDeadlineMs()]).toEqual([true, visibilityMs])
    groups.settle(handle, 5)
    expect([statesAt(5), groups.isAnyTaken(), groups.nextDeadlineMs()]).toEqual([[], false, undefined])
  })

  it('is followed by the wake-ups that came during its run, as a new turn', () => {
    const { groups, send, takeAt, namesAt } = open()
    send('a', 0)
    const { handle } = takeAt(0)
    send('a', 1, { reason: 'one' })
    send('a', 2, { reason: 'two', lane: 'background' })
    expect(namesAt(3)).toEqual([])
    groups.settle(handle, 4)
    expect(groups.take(1, 5)).toMatchObject([{ wakeUp: { reason: 'one; two' }, receiveCount: 1, handle: 'p.2' }])
    groups.settle('p.2', 6)
    expect(namesAt(7)).toEqual([])
  })

  it('is followed at its time by a wake-up that came during its run', () => {
    const { groups, send, takeAt, namesAt } = open()
    send('a', 0)
    const { handle } = takeAt(0)
    send('a', 1, { notBeforeMs: 400 })
    groups.settle(handle, 2)
    expect([namesAt(399), namesAt(400)]).toEqual([[], ['a']])
  })

  it.each<[string, readonly Partial<WakeUp>[], boolean]>([
    ['by nothing', [], false],
    ['by a timer', [{ origin: 'timer' }], false],
    ['by a change', [{}], true],
    ['by a resync', [{ origin: 'resync' }], true],
    ['by a timer and a change', [{ origin: 'timer' }, {}], true],
  ])('is wanted: %s', (_what, arrived, isWanted) => {
    const { groups, send, takeAt } = open()
    send('a', 0)
    const { handle } = takeAt(0)
    for (const more of arrived) send('a', 1, more)
    expect(groups.isWanted(handle, 2)).toBe(isWanted)
    expect(groups.isWanted('p.9', 2)).toBe(false)
    expect(groups.isWanted(handle, visibilityMs)).toBe(false)
  })

  it('comes back when its time is over, in the background, and its receipt has ended', () => {
    const { groups, send, takeAt, statesAt } = open()
    send('a', 0)
    const { handle } = takeAt(0)
    expect(groups.take(1, visibilityMs - 1)).toEqual([])
    expect(groups.take(1, visibilityMs)).toMatchObject([
      { handle: 'p.2', receiveCount: 2, wakeUp: { lane: 'background' } },
    ])
    for (const end of [
      () => groups.settle(handle, visibilityMs),
      () => groups.hold(handle, 1, visibilityMs),
      () => groups.wake(handle, visibilityMs),
    ])
      end()
    expect(statesAt(visibilityMs)).toEqual(['a running 0'])
  })

  it('comes back together with the wake-ups that came during its run', () => {
    const { groups, send, takeAt } = open()
    send('a', 0, { reason: 'one' })
    takeAt(0)
    send('a', 1, { reason: 'two' })
    expect(groups.take(1, visibilityMs)).toMatchObject([
      { receiveCount: 2, wakeUp: { lane: 'urgent', reason: 'one; two' } },
    ])
    groups.settle('p.2', visibilityMs + 1)
    expect(groups.take(1, visibilityMs + 2)).toEqual([])
  })

  it('has ended for its receiver at its deadline, though nobody has taken it since', () => {
    const { groups, send, takeAt, namesAt } = open()
    send('a', 0)
    const { handle } = takeAt(0)
    groups.settle(handle, visibilityMs)
    expect(namesAt(visibilityMs)).toEqual(['a'])
  })
})

describe('a key that is held', () => {
  function held(ms = 3_000) {
    const world = open()
    world.send('a', 0)
    const { handle } = world.takeAt(0)
    world.groups.hold(handle, ms, 1_000)
    return { ...world, handle }
  }

  it.each([1, 3_000])('is hidden for so long, and comes back: %d ms', (ms) => {
    const { groups, namesAt, statesAt } = held(ms)
    const untilMs = 1_000 + ms
    expect([groups.isAnyTaken(), groups.nextDeadlineMs(), statesAt(1_000)]).toEqual([false, untilMs, [`a held ${ms}`]])
    expect([namesAt(untilMs - 1), namesAt(untilMs)]).toEqual([[], ['a']])
  })

  it.each([0, -1])('for %d ms comes back at once', (ms) => {
    const { groups, namesAt, waits } = held(ms)
    expect([groups.depth(), namesAt(1_007), waits]).toEqual([1, ['a'], [0, 7]])
  })

  it('comes back when it is woken, and is running then', () => {
    const { groups, handle, statesAt } = held()
    groups.wake(handle, 2_000)
    expect(statesAt(2_500)).toEqual(['a ready 500'])
    expect(groups.take(1, 2_500)).toMatchObject([{ receiveCount: 2, handle: 'p.2' }])
    expect([groups.isAnyTaken(), statesAt(2_600)]).toEqual([true, ['a running 100']])
    groups.wake(handle, 2_600)
    groups.wake('p.2', 2_600)
    expect(statesAt(2_600)).toEqual(['a running 100'])
  })

  it('is not woken once its time is over', () => {
    const { groups, handle, statesAt } = held()
    groups.wake(handle, 4_000)
    expect([groups.depth(), statesAt(4_000)]).toEqual([0, ['a held 0']])
  })
})

describe('a clock that jumps', () => {
  it('leaves those who have taken a key as long as before, and holds where they are', () => {
    const { groups, send, namesAt } = open()
    for (const name of ['taken', 'held']) send(name, 0)
    const [, held] = groups.take(2, 0)
    groups.hold(held?.handle ?? '', 3_000, 0)
    send('delayed', 0, { notBeforeMs: 5_000 })
    groups.clockJumped(4_000)
    expect(namesAt(3_000)).toEqual(['held'])
    expect(namesAt(5_000)).toEqual(['delayed'])
    expect([namesAt(visibilityMs + 2_999), namesAt(visibilityMs + 4_000)]).toEqual([[], ['held', 'taken']])
  })
})

describe('a clock that is put back', () => {
  it('lets what is held or delayed come as soon as before, and what is ready is as old as before', () => {
    const { groups, send, namesAt, statesAt } = open()
    for (const name of ['taken', 'held']) send(name, 9_000)
    const [, held] = groups.take(2, 9_000)
    groups.hold(held?.handle ?? '', 3_000, 9_000)
    send('held', 9_000, { notBeforeMs: 14_000 })
    send('delayed', 9_000, { notBeforeMs: 14_000 })
    send('ready', 9_000)
    groups.clockJumped(-8_000)
    expect(statesAt(2_000)).toEqual([
      'taken running 1000',
      'held held 2000',
      'delayed delayed 4000',
      'ready ready 1000',
    ])
    expect([namesAt(3_999), namesAt(4_000)]).toEqual([['ready'], ['held']])
    expect(namesAt(6_000)).toEqual(['delayed'])
  })
})

describe('a queue, as people see it', () => {
  it('has its keys in the order in which they came, with their state and for how long they are so', () => {
    const { groups, send, takeAt, statesAt } = open()
    for (const name of ['a', 'b', 'c']) send(name, 100)
    send('d', 100, { notBeforeMs: 900 })
    takeAt(200)
    groups.hold(takeAt(200).handle, 500, 200)
    expect(statesAt(300)).toEqual(['a running 100', 'b held 400', 'c ready 200', 'd delayed 600'])
    expect(statesAt(300, 2)).toEqual(['c ready 200', 'd delayed 600'])
    expect(statesAt(50).slice(2)).toEqual(['c ready 0', 'd delayed 850'])
    expect(groups.find('c', 300)).toEqual({
      key: wakeUp('c').key,
      state: 'ready',
      ms: 200,
      lane: 'urgent',
      reason: 'c changed',
      order: 3,
    })
    expect(groups.find('x', 300)).toBeUndefined()
    expect(groups.oldestReadyAtMs()).toBe(100)
  })

  it('counts a key that comes again as a new one', () => {
    const { groups, send, takeAt, statesAt } = open()
    send('a', 0)
    send('b', 0)
    groups.settle(takeAt(0).handle, 1)
    send('a', 2)
    expect([statesAt(2), statesAt(2, 2)]).toEqual([['b ready 2', 'a ready 0'], ['a ready 0']])
  })
})
