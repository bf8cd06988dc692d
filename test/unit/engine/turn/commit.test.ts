import { describe, expect, it } from 'vitest'
import { commit, type Ending } from '../../../../shared/engine/turn/commit.ts'
import type { Turn } from '../../../../shared/engine/state/turn.ts'
import type { Release } from '../../../../shared/engine/state/writes.ts'
import { OperatingError, type ErrorCode } from '../../../../shared/model/errors.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'
import type { ObjectStore } from '../../../../shared/ports/object-store.ts'
import { refersByStatus } from '../../../support/referring-widgets.ts'
import { storedWidget, withMetadata } from '../../../support/stored-object.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

const nowMs = 1_000_000
const begun = storedWidget('w', { resourceVersion: '1', generation: 1 })
const settle: Release = { kind: 'settle' }
const holdFor = (ms: number, { isWakeable = true, isTimed = true, isOpen = false } = {}): Release => ({
  kind: 'hold',
  untilMs: nowMs + ms,
  isWakeable,
  isTimed,
  ...(isOpen && { isOpen }),
})
const withStatus = ({ object, engine }: StoredObject, showsStatus: boolean): StoredObject => ({
  object: showsStatus ? { ...object, status: { a: 1 } } : object,
  engine: { ...engine, wakeAtMs: 7 },
})
const same = (live: StoredObject): StoredObject => live
const withUses = ({ object, engine }: StoredObject): StoredObject => ({
  object: { ...object, status: { uses: ['c'] } },
  engine,
})

interface World {
  /** What each write throws; the rest succeeds. */
  readonly errors?: readonly (ErrorCode | undefined)[]
  /** What the store holds by now. */
  readonly newest?: StoredObject
  readonly isWanted?: boolean
  readonly settleFails?: boolean
  readonly holdFails?: boolean
  readonly isEventLost?: boolean
}

/** What a commit does, in order, and what it writes. */
async function committed(
  more: Partial<Ending>,
  { errors = [], newest, isWanted = false, settleFails = false, holdFails = false, isEventLost = false }: World = {},
) {
  const did: string[] = []
  const written: StoredObject[] = []
  const lines: unknown[] = []
  const left = [...errors]
  const write =
    (what: string) =>
    async (stored: StoredObject, touched: readonly string[] = []) => {
      did.push([what, ...touched].join(' '))
      const code = left.shift()
      if (code !== undefined) throw new OperatingError(code, 'no')
      written.push(stored)
      return stored
    }
  const store = {
    get: async () => {
      did.push('get')
      return newest
    },
    replace: write('replace'),
    remove: write('remove'),
  } as unknown as ObjectStore
  const turn = {
    key: { group: 'example.com', kind: 'Widget', namespace: 'default', name: 'w' },
    handle: 'h2',
    receiveCount: 3,
    hold: async (ms: number) => {
      did.push(`hold ${ms}`)
      if (holdFails) throw new Error('no queue')
    },
    delay: async (ms: number) => {
      did.push(`delay ${ms}`)
      if (holdFails) throw new Error('no queue')
    },
    isWanted: async () => {
      did.push('wanted?')
      return isWanted
    },
    settle: async () => {
      did.push('settle')
      if (settleFails) throw new Error('no queue')
    },
  } as unknown as Turn
  const logger = {
    debug: () => {},
    info: () => {},
    warn: () => {},
    error: (...line: unknown[]) => void lines.push(line),
    with: () => logger,
  }
  const record = async (): Promise<boolean> => {
    did.push('event')
    return !isEventLost
  }
  const ending: Ending = {
    turn,
    begun,
    controller: refersByStatus,
    next: same,
    showsStatus: true,
    isStatusVital: true,
    release: settle,
    ...more,
  }
  const [ended] = await Promise.allSettled([
    commit(ending, { store, clock: createVirtualClock(nowMs), events: { record }, logger }),
  ])
  const reason = ended.status === 'rejected' ? (ended.reason as Error & { readonly code?: string }) : undefined
  const error = reason?.code ?? reason?.name
  return { did, written, lines, error }
}

const event = { type: 'Warning', reason: 'R', message: 'm', component: 'c' } as const
const renewed = withMetadata(begun, { resourceVersion: '2' })
const changed = withMetadata(begun, { resourceVersion: '2', generation: 2 })

describe('a turn that ends', () => {
  it.each([
    ['and changes nothing: no write', { next: same }, {}, ['settle']],
    ['and changes nothing, with an event', { next: same, event }, {}, ['event', 'settle']],
    ['and asks for a timer, and changes nothing', { next: same, release: { kind: 'settleWithTimer' } }, {}, ['settle']],
    ['with another state', { next: withStatus }, {}, ['replace status engine', 'settle']],
    ['with an event', { next: withStatus, event }, {}, ['replace status engine', 'event', 'settle']],
    [
      'with a state that asks for a timer',
      { next: withStatus, release: { kind: 'settleWithTimer' } },
      {},
      ['replace status engine timer', 'settle'],
    ],
    [
      'and refers to more by its status: it is woken when that is noted',
      { next: withUses },
      {},
      ['replace status references', 'settle'],
    ],
    [
      'and refers to more by its status, and asks for a timer',
      { next: withUses, release: { kind: 'settleWithTimer' } },
      {},
      ['replace status references timer', 'settle'],
    ],
    [
      'and refers to what it referred to before',
      { next: (live) => ({ ...withStatus(live, true), ...withUses(live) }), begun: withUses(begun) },
      {},
      ['settle'],
    ],
    [
      'and refers to what another writer has made it refer to since it began',
      { next: (live) => ({ ...withUses(live), engine: { wakeAtMs: 7 } }) },
      { errors: ['VERSION_CONFLICT'], newest: withUses(renewed) },
      ['replace status engine references', 'get', 'replace engine', 'settle'],
    ],
    [
      'behind another writer',
      { next: withStatus },
      { errors: ['VERSION_CONFLICT'], newest: renewed },
      ['replace status engine', 'get', 'replace status engine', 'settle'],
    ],
    ['after its object', { next: withStatus }, { errors: ['NOT_FOUND'] }, ['replace status engine', 'get', 'settle']],
    [
      'when another object has its name',
      { next: withStatus },
      { errors: ['VERSION_CONFLICT'], newest: withMetadata(renewed, { uid: 'other' }) },
      ['replace status engine', 'get', 'settle'],
    ],
    [
      'when the state is there already',
      { next: withStatus },
      { errors: ['VERSION_CONFLICT'], newest: withStatus(renewed, true) },
      ['replace status engine', 'get', 'settle'],
    ],
    [
      'with a status that an object has no room for, and that is not vital',
      { next: withStatus, isStatusVital: false },
      { errors: ['TOO_LARGE'] },
      ['replace status engine', 'replace engine', 'settle'],
    ],
  ] as const satisfies readonly (readonly [string, Partial<Ending>, World, readonly string[]])[])(
    '%s',
    async (...[, ending, world, did]) => {
      expect(await committed(ending, world)).toMatchObject({ did, error: undefined })
    },
  )

  const told = { type: 'Warning', reason: 'Refused', message: 'it is too large', component: 'widget' } as const

  it('tells first of what an object has no room for', async () => {
    const ending = { next: withStatus, isStatusVital: false, event: told }
    expect(await committed(ending, { errors: ['TOO_LARGE'] })).toMatchObject({
      did: ['replace status engine', 'event', 'replace engine', 'settle'],
      error: undefined,
    })
    expect(await committed(ending, { errors: ['TOO_LARGE'], isEventLost: true })).toMatchObject({
      did: ['replace status engine', 'event'],
      error: 'UNAVAILABLE',
    })
  })

  it('is over though an event is lost that the status tells, too', async () => {
    expect(await committed({ next: withStatus, event: told }, { isEventLost: true })).toMatchObject({
      did: ['replace status engine', 'event', 'settle'],
      error: undefined,
    })
  })

  it.each([
    ['a status that is vital', {}, 'TOO_LARGE'],
    ['a state without a status', { showsStatus: false, isStatusVital: false }, 'TOO_LARGE'],
    ['a store that is away', { isStatusVital: false }, 'UNAVAILABLE'],
  ] as const)('releases nothing if it cannot be written: %s', async (_what, ending, code) => {
    const { did, error } = await committed({ next: withStatus, ...ending }, { errors: [code] })
    expect([did.length, error]).toEqual([1, code])
  })

  it('writes on the newest state that its run knows', async () => {
    const { written } = await committed({ next: withStatus, live: renewed })
    expect(written[0]?.object.metadata.resourceVersion).toBe('2')
  })

  it('removes an object whose last finalizer goes', async () => {
    const going = withMetadata(begun, { deletionTimestamp: 't', finalizers: ['a/b'] })
    const next = (live: StoredObject): StoredObject => withMetadata(live, { finalizers: [] })
    expect((await committed({ begun: going, next })).did).toEqual(['remove', 'settle'])
  })
})

describe('a turn that holds its message', () => {
  const next = withStatus
  const write = 'replace status engine'
  it.each([
    ['until then', { next, release: holdFor(5_000) }, {}, [write, 'hold 5000', 'wanted?']],
    ['and nothing else is to be written', { release: holdFor(5_000) }, {}, ['replace engine', 'hold 5000', 'wanted?']],
    ['for no time if it is over by now', { next, release: holdFor(-5) }, {}, [write, 'hold 0', 'wanted?']],
    [
      'and lets it go where a change has come',
      { next, release: holdFor(5_000) },
      { isWanted: true },
      [write, 'hold 5000', 'wanted?', 'hold 0'],
    ],
    [
      'not where its object is gone',
      { next, release: holdFor(5_000) },
      { errors: ['NOT_FOUND'] },
      [write, 'get', 'hold 0'],
    ],
    ['not where its object has changed', { next, release: holdFor(5_000), live: changed }, {}, [write, 'hold 0']],
    [
      'not where it changes just now',
      { next, release: holdFor(5_000) },
      { errors: ['VERSION_CONFLICT'], newest: changed },
      [write, 'get', write, 'hold 0'],
    ],
    [
      'though another writer is ahead whose write wakes nobody',
      { next, release: holdFor(5_000) },
      { errors: ['VERSION_CONFLICT'], newest: renewed },
      [write, 'get', write, 'hold 5000', 'wanted?'],
    ],
    [
      'whatever comes, for a wait that no change ends',
      { next, release: holdFor(5_000, { isWakeable: false }) },
      { isWanted: true },
      [write, 'hold 5000'],
    ],
    [
      'and is settled where the queue does not hide it: the object has its time',
      { next, release: holdFor(5_000) },
      { holdFails: true },
      [write, 'hold 5000', 'settle'],
    ],
    [
      'and is not over, where its object has no time',
      { release: holdFor(5_000, { isTimed: false, isOpen: true }) },
      { isWanted: true },
      ['replace engine', 'delay 5000', 'wanted?', 'hold 0'],
    ],
    [
      'and is not over, where its object has no time and has changed',
      { release: holdFor(5_000, { isTimed: false, isOpen: true }), live: changed },
      {},
      ['delay 0'],
    ],
    [
      'and is not over, where its object has the time',
      { release: holdFor(5_000, { isOpen: true }) },
      {},
      ['replace engine', 'delay 5000', 'wanted?'],
    ],
    [
      'and is settled where the queue does not hide it, though it is not over: the object has its time',
      { release: holdFor(5_000, { isOpen: true }) },
      { holdFails: true },
      ['replace engine', 'delay 5000', 'settle'],
    ],
  ] as const satisfies readonly (readonly [string, Partial<Ending>, World, readonly string[]])[])(
    '%s',
    async (...[, ending, world, did]) => {
      expect((await committed(ending, world)).did).toEqual(did)
    },
  )

  it('comes again where the queue does not hide it and its object has no time', async () => {
    const release = holdFor(5_000, { isTimed: false, isOpen: true })
    const { did, error } = await committed({ release }, { holdFails: true })
    expect([did, error]).toEqual([['replace engine', 'delay 5000'], 'Error'])
  })

  it('writes the handle by which a change ends the hold, where one could', async () => {
    const hold = { handle: 'h2', untilMs: nowMs + 5_000, receives: 3 }
    expect((await committed({ next, release: holdFor(5_000) })).written[0]?.engine).toEqual({ wakeAtMs: 7, hold })
    expect((await committed({ next, release: holdFor(5_000, { isWakeable: false }) })).written[0]?.engine).toEqual({
      wakeAtMs: 7,
    })
    expect((await committed({ next })).written[0]?.engine).toEqual({ wakeAtMs: 7 })
    expect((await committed({ next, release: holdFor(5_000), live: changed })).written[0]?.engine).toEqual({
      wakeAtMs: 7,
    })
  })
})

describe('a turn whose function goes on after its time', () => {
  it('is settled when the function ends, and written before', async () => {
    const ends = Promise.withResolvers<void>()
    const { did } = await committed({ next: withStatus, overrun: ends.promise })
    await Promise.resolve()
    expect(did).toEqual(['replace status engine'])
    ends.resolve()
    await new Promise(setImmediate)
    expect(did).toEqual(['replace status engine', 'settle'])
  })

  it('is not over if its end cannot be written, says so, and comes again when the function ends', async () => {
    const ends = Promise.withResolvers<void>()
    const { did, lines, error } = await committed(
      { next: withStatus, overrun: ends.promise },
      { errors: ['UNAVAILABLE'] },
    )
    await new Promise(setImmediate)
    expect([did, error]).toEqual([['replace status engine'], 'OverrunError'])
    ends.resolve()
    await new Promise(setImmediate)
    expect(did).toEqual(['replace status engine', 'hold 0'])
    expect(lines).toMatchObject([
      [expect.stringContaining('turn not ended'), { kind: 'Widget', namespace: 'default', name: 'w' }],
    ])
  })

  it('tells its caller of an end that no object can hold, and lets nothing come again by itself', async () => {
    const { did, lines, error } = await committed(
      { next: withStatus, overrun: Promise.resolve(), isStatusVital: true },
      { errors: ['TOO_LARGE'] },
    )
    await new Promise(setImmediate)
    expect([did, lines, error]).toEqual([['replace status engine'], [], 'TOO_LARGE'])
  })

  it('says so if it cannot be settled', async () => {
    const { lines } = await committed({ overrun: Promise.resolve() }, { settleFails: true })
    await new Promise(setImmediate)
    expect(lines).toHaveLength(1)
  })
})
