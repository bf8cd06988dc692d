import { describe, expect, it } from 'vitest'
import {
  createLiveKinds,
  type LiveChanges,
  type Segment,
  type Watcher,
} from '../../../shared/api/watch/live-changes.ts'
import type { Conversion } from '../../../shared/model/conversion.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import { objectText } from '../../../shared/model/object-text.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import type { Change, ChangeBatch, ChangeFeed, FollowOptions } from '../../../shared/ports/change-feed.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'
import { plainKind } from './called.ts'
import { storedOf } from './fake-services.ts'

/** A feed that tells what a test gives it. */
function createFeed() {
  const follows: FollowOptions[] = []
  let given: (ChangeBatch | Error)[] = []
  let wake = () => {}
  async function* follow(options: FollowOptions): AsyncGenerator<ChangeBatch> {
    follows.push(options)
    given = []
    options.signal.addEventListener('abort', () => wake())
    while (!options.signal.aborted) {
      const next = given.shift()
      if (next instanceof Error || typeof next === 'string') throw next
      if (next !== undefined) yield next
      else
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    }
  }
  const give = (next: ChangeBatch | Error) => {
    given.push(next)
    wake()
  }
  const latest = { version: '10', failure: undefined as Error | undefined }
  const feed = {
    follow,
    latest: async () => {
      if (latest.failure !== undefined) throw latest.failure
      return latest.version
    },
  } as unknown as ChangeFeed
  return { feed, follows, give, latest }
}

/** Of kinds that come with the control plane nobody asks. */
const catalog = {
  byPlural: () => {
    throw new Error('nobody has to ask')
  },
}

function open() {
  const { feed, follows, give, latest } = createFeed()
  const clock = createVirtualClock(0)
  const live = createLiveKinds({ feed, clock, catalog })(plainKind)
  return { feed, follows, give, latest, clock, live }
}

interface TestWatcher extends Watcher {
  woken: number
  cuts: (Error | undefined)[]
  ends: number
}

function watcherOf(more: Partial<Watcher> = {}): TestWatcher {
  const watcher: TestWatcher = {
    at: undefined,
    dueAtMs: Infinity,
    wroteAtMs: 0,
    isTaken: true,
    woken: 0,
    cuts: [],
    wake: () => void watcher.woken++,
    cut: (failure) => void watcher.cuts.push(failure),
    ends: 0,
    end: () => void watcher.ends++,
    ...more,
  }
  return watcher
}

async function joined(live: LiveChanges, more: Partial<Watcher> = {}): Promise<TestWatcher> {
  const watcher = watcherOf(more)
  await live.join(watcher)
  return watcher
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

function batchOf(resourceVersion: string, ...texts: readonly string[]): ChangeBatch {
  const changes = texts.map((text, i): Change => ({
    type: 'added',
    stored: storedOf({ name: `x${i}` }, { spec: { text } }),
    touched: {} as unknown as Change['touched'],
  }))
  return { changes, resourceVersion }
}

describe('the changes of a kind', () => {
  it('are read once for all who watch it, and no longer than somebody does', async () => {
    const { live, follows } = open()
    const [one, other] = [await joined(live), await joined(live)]
    await settle()
    expect(follows).toMatchObject([{ after: '10', of: plainKind }])
    expect(one.at).toBe(other.at)
    live.leave(one)
    live.leave(one)
    expect(follows[0]?.signal.aborted).toBe(false)
    live.leave(watcherOf())
    expect(follows[0]?.signal.aborted).toBe(false)
    live.leave(other)
    expect(follows[0]?.signal.aborted).toBe(true)
    live.leave(other)
    await joined(live)
    await settle()
    expect(follows).toHaveLength(2)
  })

  it('hang behind the place of each', async () => {
    const { live, give } = open()
    const watcher = await joined(live)
    const begin = watcher.at as Segment
    expect(begin).toMatchObject({ changes: [], unshown: [], resourceVersion: '10', total: 0, next: undefined })
    give(batchOf('11', 'a'))
    await settle()
    give(batchOf('12', 'b', 'c'))
    await settle()
    const [first, second] = [begin.next, begin.next?.next]
    expect([first?.resourceVersion, first?.changes.length, second?.changes.length]).toEqual(['11', 1, 2])
    expect([second?.next, watcher.woken]).toEqual([undefined, 2])
    expect(second?.total).toBe(3 * (first?.total ?? 0))
    const late = await joined(live)
    expect(late.at).toBe(second)
    live.rejoin(watcher)
    expect(watcher.at).toBe(second)
  })

  it('move on though nothing happens, and wake nobody', async () => {
    const { live, give } = open()
    const watcher = await joined(live)
    give(batchOf('15'))
    await settle()
    expect([watcher.at?.resourceVersion, watcher.at?.next, watcher.woken]).toEqual(['15', undefined, 0])
  })

  it('are not at hand where nobody watches', () => {
    const { live } = open()
    const watcher = watcherOf()
    live.rejoin(watcher)
    live.leave(watcher)
    expect(watcher.at).toBeUndefined()
  })

  it('are lost for who is more than four million characters behind', async () => {
    const { live, give, clock } = open()
    const [behind, reader] = [await joined(live), await joined(live)]
    const large = 'x'.repeat(1_000_000)
    for (let i = 0; i < 4; i++) {
      give(batchOf(`${11 + i}`, large))
      await settle()
      await clock.advance(1)
      live.rejoin(reader)
    }
    expect(behind.at).toBeDefined()
    give(batchOf('20', 'small'))
    await settle()
    expect([behind.at, reader.at]).toEqual([undefined, expect.anything()])
  })

  it('are not lost for who is so far behind without the newest of them', async () => {
    const { live, give } = open()
    const watcher = await joined(live)
    const empty = objectText(batchOf('11', '').changes[0]?.stored.object as ApiObject).length
    give(batchOf('11', 'x'.repeat(4_000_000 - empty)))
    await settle()
    give(batchOf('12', 'a'))
    await settle()
    expect(watcher.at).toBeDefined()
    give(batchOf('13', ''))
    await settle()
    expect(watcher.at).toBeUndefined()
  })

  it('may be larger than that if they come at once', async () => {
    const { live, give } = open()
    const watcher = await joined(live)
    give(batchOf('11', 'x'.repeat(4_100_000)))
    await settle()
    expect(watcher.at).toBeDefined()
  })

  it('are converted together where somebody is asked for it', async () => {
    const { feed, clock, give } = open()
    const asked: unknown[] = []
    const prepare = async (objects: readonly ApiObject[], version: string) =>
      void asked.push([objects.map(({ metadata }) => metadata.name), version])
    const convert = (object: ApiObject, version: string) => ({ ...object, apiVersion: `g.dev/${version}` })
    const kind = {
      ...plainKind,
      version: 'v2',
      conversion: { version: 'v1', convert, prepare } as unknown as Conversion,
    }
    const watcher = await joined(createLiveKinds({ feed, clock, catalog })(kind))
    const begin = watcher.at
    give(batchOf('11', 'a', 'b'))
    await settle()
    expect(asked).toEqual([[['x0', 'x1'], 'v2']])
    expect(begin?.next?.changes[0]?.stored.object.apiVersion).toBe('g.dev/v2')
  })

  it('are read anew for who comes when the last of the others leaves', async () => {
    const { live, follows } = open()
    const one = await joined(live)
    const other = watcherOf()
    const joining = live.join(other)
    live.leave(one)
    await joining
    await settle()
    expect(follows.map(({ signal }) => signal.aborted)).toEqual([true, false])
    live.rejoin(other)
    expect(other.at).toBeDefined()
  })

  it('are of one chain for each kind', () => {
    const { feed, clock } = open()
    const liveOf = createLiveKinds({ feed, clock, catalog })
    expect(liveOf(plainKind)).toBe(liveOf(plainKind))
    expect(liveOf({ ...plainKind })).not.toBe(liveOf(plainKind))
  })
})

describe('a kind of a definition', () => {
  const kind = { ...plainKind, definedBy: 'uid/1' }

  async function openDefined(present: () => ServedKind | undefined) {
    const { feed, give, clock } = open()
    const live = createLiveKinds({ feed, clock, catalog: { byPlural: present } })(kind)
    const watcher = await joined(live)
    await settle()
    return { watcher, give, clock, begin: watcher.at as Segment }
  }

  it('that is another one tells no change any more, and all who watch end', async () => {
    let present = kind
    const { watcher, give, begin } = await openDefined(() => present)
    give(batchOf('11', 'a'))
    await settle()
    expect([begin.next?.changes.length, watcher.ends]).toEqual([1, 0])
    present = { ...kind, definedBy: 'uid/2' }
    give(batchOf('12', 'b'))
    await settle()
    expect([begin.next?.next, watcher.ends]).toEqual([undefined, 1])
  })

  it('that is gone tells what was left, and all who watch end within ten seconds', async () => {
    let present: ServedKind | undefined = kind
    const { watcher, give, begin, clock } = await openDefined(() => present)
    present = undefined
    give(batchOf('11', 'a'))
    await settle()
    expect([begin.next?.changes.length, watcher.ends]).toEqual([1, 0])
    await clock.advance(10_000)
    expect(watcher.ends).toBe(1)
  })

  it('that cannot be looked at stays what it was', async () => {
    const { watcher, give, begin, clock } = await openDefined(() => {
      throw new Error('away')
    })
    give(batchOf('11', 'a'))
    await settle()
    await clock.advance(20_000)
    expect([begin.next?.changes.length, watcher.ends]).toEqual([1, 0])
  })
})

describe('a feed that fails', () => {
  it('cuts everybody off, and is asked again by who comes then', async () => {
    const { live, give, follows } = open()
    const watcher = await joined(live)
    await settle()
    const failure = new Error('lost')
    give(failure)
    await settle()
    expect(watcher.cuts).toEqual([failure])
    await joined(live)
    await settle()
    expect(follows).toHaveLength(2)
  })

  it('when nobody watches any more does nothing to who watches by then', async () => {
    const ends: (() => void)[] = []
    const next = async (): Promise<never> => {
      await new Promise<void>((resolve) => ends.push(resolve))
      throw new Error('late')
    }
    const follow = () => ({ [Symbol.asyncIterator]: () => ({ next }) })
    const feed = { follow, latest: async () => '10' } as unknown as ChangeFeed
    const live = createLiveKinds({ feed, clock: createVirtualClock(0), catalog })(plainKind)
    live.leave(await joined(live))
    const watcher = await joined(live)
    await settle()
    ends[0]?.()
    await settle()
    watcher.at = undefined
    live.rejoin(watcher)
    expect([watcher.cuts, watcher.at]).toEqual([[], expect.objectContaining({ resourceVersion: '10' })])
  })

  it('with what is no error is an error', async () => {
    const { live, give } = open()
    const watcher = await joined(live)
    await settle()
    give('lost' as unknown as Error)
    await settle()
    expect(watcher.cuts).toEqual([new Error('lost')])
  })

  it('at the beginning is told to who joins', async () => {
    const { live, latest } = open()
    latest.failure = new Error('down')
    await expect(live.join(watcherOf())).rejects.toThrow('down')
    latest.failure = undefined
    expect((await joined(live)).at?.resourceVersion).toBe('10')
  })
})

describe('watchers', () => {
  it('that are many are woken 32 at a time, with a rest after each', async () => {
    const { live, give, clock } = open()
    const watchers: TestWatcher[] = []
    for (let i = 0; i < 74; i++) watchers.push(await joined(live))
    const woken = () => watchers.filter((watcher) => watcher.woken > 0).length
    give(batchOf('11', 'a'))
    await settle()
    expect(woken()).toBe(32)
    await clock.advance(2)
    expect(woken()).toBe(32)
    await clock.advance(1)
    expect(woken()).toBe(64)
    await clock.advance(3)
    expect(woken()).toBe(74)
    give(batchOf('12', 'a'))
    await settle()
    expect(watchers.filter((watcher) => watcher.woken > 1)).toEqual([])
    await clock.advance(1)
    expect(watchers.filter((watcher) => watcher.woken > 1)).toHaveLength(32)
  })

  it('that are due are woken by one timer, the next of them first', async () => {
    const { live, clock } = open()
    const [soon, late] = [await joined(live, { dueAtMs: 3_000 }), await joined(live, { dueAtMs: 7_000 })]
    await clock.advance(2_999)
    expect([soon.woken, late.woken]).toEqual([0, 0])
    await clock.advance(1)
    expect([soon.woken, late.woken]).toEqual([1, 0])
    soon.dueAtMs = 12_000
    await clock.advance(4_000)
    expect([soon.woken, late.woken]).toEqual([1, 1])
    late.dueAtMs = Infinity
    await clock.advance(5_000)
    expect([soon.woken, late.woken]).toEqual([2, 1])
  })

  it('are looked at every ten seconds, and when one comes that is due earlier', async () => {
    const { live, clock } = open()
    await joined(live)
    await settle()
    expect(clock.nextDueMs()).toBe(10_000)
    const early = await joined(live, { dueAtMs: 4_000 })
    await settle()
    expect(clock.nextDueMs()).toBe(4_000)
    await joined(live, { dueAtMs: 5_000 })
    await settle()
    expect(clock.nextDueMs()).toBe(4_000)
    await clock.advance(4_000)
    expect(early.woken).toBe(1)
  })

  it('that were woken are not woken again because another comes', async () => {
    const { live, clock } = open()
    const due = await joined(live, { dueAtMs: 3_000 })
    await clock.advance(3_000)
    expect([due.woken, clock.nextDueMs()]).toEqual([1, 13_000])
    await joined(live)
    await joined(live, { dueAtMs: 13_000 })
    await settle()
    expect(due.woken).toBe(1)
    await joined(live, { dueAtMs: 12_999 })
    await settle()
    expect([due.woken, clock.nextDueMs()]).toEqual([2, 12_999])
  })

  it('that were woken are woken again at the time they say then, also if nobody else is due by then', async () => {
    const { live, clock } = open()
    live.remind(watcherOf({ dueAtMs: 1 }))
    const due = await joined(live, { dueAtMs: 3_000 })
    await clock.advance(3_000)
    due.dueAtMs = 5_000
    live.remind(due)
    await settle()
    expect([due.woken, clock.nextDueMs()]).toEqual([1, 5_000])
    due.dueAtMs = 15_000
    live.remind(due)
    await settle()
    expect([due.woken, clock.nextDueMs()]).toEqual([1, 5_000])
  })

  it('whose clients have taken nothing for thirty seconds are cut off', async () => {
    const { live, clock } = open()
    const stuck = await joined(live, { isTaken: false, wroteAtMs: 0, dueAtMs: 20_000 })
    const slow = await joined(live, { isTaken: false, wroteAtMs: 10_000 })
    const idle = await joined(live, { isTaken: true, wroteAtMs: 0 })
    await clock.advance(20_000)
    expect([stuck.cuts.length, stuck.woken]).toEqual([0, 1])
    await clock.advance(10_000)
    expect([stuck.cuts, slow.cuts, idle.cuts]).toEqual([[undefined], [], []])
    await clock.advance(10_000)
    expect(slow.cuts).toEqual([undefined])
  })

  it('are woken, and cut off, by a clock that was put back since they wrote', async () => {
    const { live, clock } = open()
    const stuck = await joined(live, { isTaken: false, wroteAtMs: 3_600_000 })
    const slow = await joined(live, { isTaken: false, wroteAtMs: 20_000 })
    const silent = await joined(live, { wroteAtMs: 3_600_000, dueAtMs: 3_610_000 })
    const present = await joined(live, { wroteAtMs: 0, dueAtMs: 3_610_000 })
    await clock.advance(10_000)
    expect([stuck.cuts, slow.cuts, silent.cuts]).toEqual([[undefined], [], []])
    expect([silent.woken > 0, present.woken]).toEqual([true, 0])
  })

  it('are looked at no more when the last has left', async () => {
    const { live, clock } = open()
    const watcher = await joined(live)
    await settle()
    live.leave(watcher)
    await settle()
    expect(clock.nextDueMs()).toBeUndefined()
  })
})
