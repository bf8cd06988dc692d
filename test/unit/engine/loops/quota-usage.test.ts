import { describe, expect, it } from 'vitest'
import { createQuotaUsage, quotaRoutes } from '../../../../shared/engine/loops/quota-usage.ts'
import type { Turn } from '../../../../shared/engine/state/turn.ts'
import type { EngineState } from '../../../../shared/model/engine-state.ts'
import { OperatingError, type ErrorCode } from '../../../../shared/model/errors.ts'
import type { ServedKind } from '../../../../shared/model/served-kind.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'
import { timestamp } from '../../../../shared/model/time.ts'
import type { Change } from '../../../../shared/ports/change-feed.ts'
import { storedWidget } from '../../../support/stored-object.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

const nowMs = 1_000_000_000
const key = { group: '', kind: 'ResourceQuota', namespace: 'default', name: 'q' }

function quotaOf(metadata: object = {}, engine: EngineState = {}): StoredObject {
  const { object } = storedWidget('q', {
    creationTimestamp: timestamp(nowMs - 3_600_000),
    resourceVersion: '1',
    ...metadata,
  })
  return {
    object: { ...object, apiVersion: 'v1', kind: 'ResourceQuota', spec: { hard: { 'count/configmaps': '5' } } },
    engine,
  }
}

const configMaps = { group: '', kind: 'ConfigMap', plural: 'configmaps', namespaced: true } as ServedKind

/** One count over so many old and so many young ConfigMaps. */
async function counted({
  quota = quotaOf(),
  old = 0,
  young = 0,
  damaged = 0,
  lagMs = 0,
  errors = [],
  newest,
  turn,
  isGone = false,
}: {
  readonly quota?: StoredObject | undefined
  readonly old?: number
  readonly young?: number
  readonly damaged?: number
  readonly lagMs?: number
  readonly errors?: readonly ErrorCode[]
  /** As it is when the count is over. */
  readonly newest?: StoredObject
  readonly turn?: Partial<Turn>
  readonly isGone?: boolean
} = {}) {
  const did: string[] = []
  const written: StoredObject[] = []
  const left = [...errors]
  const listed: unknown[] = []
  let looks = 0
  const item = (atMs: number) => ({ ...storedWidget('c', { creationTimestamp: timestamp(atMs) }), engine: {} })
  const store = {
    get: async () => (isGone ? undefined : looks++ === 0 ? quota : (newest ?? quota)),
    list: async ({ kind, namespace }: { readonly kind: string; readonly namespace: string }) => {
      listed.push([kind, namespace])
      const items = [
        ...Array.from({ length: old }, () => item(nowMs - 3_600_000)),
        ...Array.from({ length: young }, () => item(nowMs - 5_000)),
      ]
      return { items, more: false, ...(damaged > 0 && { damaged: Array.from({ length: damaged }, () => ({})) }) }
    },
    replace: async (next: StoredObject, touched: readonly string[]) => {
      did.push(`write ${touched.join()}`)
      const code = left.shift()
      if (code !== undefined) throw new OperatingError(code, 'no')
      written.push(next)
      return next
    },
  }
  const kinds = [
    configMaps,
    { ...configMaps, plural: 'secrets', kind: 'Secret' },
    { ...configMaps, namespaced: false, kind: 'Wide' },
  ]
  const run = createQuotaUsage({
    store,
    catalog: { listStored: async () => kinds },
    clock: createVirtualClock(nowMs),
    lagMs,
  } as never)
  const taken = {
    key,
    handle: 'h',
    isNearReceiveLimit: false,
    hold: async (ms: number) => void did.push(`hold ${ms}`),
    settle: async () => void did.push('settle'),
    ...turn,
  } as unknown as Turn
  await run(taken, new AbortController().signal)
  return { did, written, listed }
}

const used = ({ object: { status } }: StoredObject) => (status?.['used'] as object | undefined) ?? {}

describe('the use of a quota', () => {
  it('of one that is gone is settled', async () => {
    expect(await counted({ isGone: true, old: 3 })).toMatchObject({ did: ['settle'], listed: [] })
  })

  it('is counted of the kinds that it limits, in its namespace, with what cannot be read', async () => {
    const { did, written, listed } = await counted({ old: 3, damaged: 1 })
    expect(listed).toEqual([['ConfigMap', 'default']])
    expect(did).toEqual(['write status,engine', 'settle'])
    expect(written.map(used)).toEqual([{ 'count/configmaps': '4' }])
  })

  it('is asked for anew from when it begins', async () => {
    const { did, written } = await counted({ quota: quotaOf({}, { wakeAtMs: 5 }), newest: quotaOf(), old: 3 })
    expect(did).toEqual(['write engine', 'write status,engine', 'settle'])
    expect(written.map(({ engine }) => engine)).toEqual([{}, {}])
    const asked = await counted({ newest: quotaOf({}, { wakeAtMs: 6 }), old: 3 })
    expect(asked.written.map(({ engine }) => engine)).toEqual([{ wakeAtMs: 6 }])
  })

  it('is not written again where it is known', async () => {
    const [known] = (await counted({ old: 3 })).written
    expect((await counted({ quota: known, old: 3 })).did).toEqual(['settle'])
  })

  it('that is written already is not written with what the engine notes', async () => {
    const [known] = (await counted({ old: 3 })).written
    expect((await counted({ quota: known, old: 3, lagMs: 7_200_000 })).did).toEqual(['write engine', 'hold 45000'])
  })

  const second = nowMs / 1_000
  it.each<[string, Record<string, number>, { old?: number; young?: number }, string, string]>([
    ['one old second', { [second - 3_600]: 2 }, {}, '0', 'settle'],
    ['another young second', { [second - 4]: 2 }, { young: 1 }, '3', 'hold 45000'],
    ['more than there are', { [second - 5]: 3 }, { young: 2 }, '3', 'hold 45000'],
    ['as many as there are', { [second - 5]: 2 }, { young: 2 }, '2', 'settle'],
    ['fewer than there are', { [second - 5]: 1 }, { young: 2 }, '2', 'settle'],
    ['more than there are, beside old ones', { [second - 5]: 3 }, { young: 2, old: 4 }, '7', 'hold 45000'],
  ])('leaves room for what is reserved: %s', async (...row) => {
    const [, reserved, there, amount, end] = row
    const bySecond = Object.entries(reserved).map(([at, count]) => [at, { 'count/configmaps': count }])
    const quota = quotaOf({}, { memory: { notes: { reserved: Object.fromEntries(bySecond) } } })
    const { did, written } = await counted({ quota, ...there })
    expect(written.map(used)).toEqual([{ 'count/configmaps': amount }])
    expect(did.at(-1)).toBe(end)
  })

  it.each([
    ['young ones may be gone by now', { young: 1 }, 'hold 45000'],
    ['old ones are counted when they go', { old: 1 }, 'settle'],
  ])('is looked at again if another write changes the quota: %s', async (_what, there, end) => {
    const { did } = await counted({ ...there, newest: quotaOf({ resourceVersion: '2' }) })
    expect(did.at(-1)).toBe(end)
  })

  it('is counted again where another writer was ahead', async () => {
    const { did } = await counted({ old: 3, errors: ['VERSION_CONFLICT'] })
    expect(did).toEqual(['write status,engine', 'write status,engine', 'settle'])
  })

  it('is not written into a quota of other limits, or another of its name', async () => {
    for (const metadata of [{ generation: 2 }, { uid: 'other' }])
      expect((await counted({ old: 3, newest: quotaOf(metadata) })).did).toEqual(['settle'])
  })

  it.each([
    ['old enough', 60_000, 60_000, ['write status,engine', 'settle']],
    ['not known everywhere yet', 59_000, 60_000, ['write status,engine', 'hold 45000']],
    ['made by a clock that was ahead', -59_000, 60_000, ['write status,engine', 'hold 45000']],
  ])('is looked at again while the quota is new: %s', async (_what, ageMs, lagMs, did) => {
    const quota = quotaOf({ creationTimestamp: timestamp(nowMs - ageMs) })
    const world = await counted({ quota, old: 1, lagMs })
    expect(world.did).toEqual(did)
    expect(world.written.map(({ engine }) => engine.hold)).toEqual(
      did.includes('settle') ? [undefined] : [{ handle: 'h', untilMs: nowMs + 45_000 }],
    )
  })

  it('is not held by a message that is worn', async () => {
    const quota = quotaOf({ creationTimestamp: timestamp(nowMs) })
    const { did } = await counted({ quota, old: 1, lagMs: 60_000, turn: { isNearReceiveLimit: true } })
    expect(did).toEqual(['write status,engine', 'settle'])
  })
})

describe('a quota is woken', () => {
  const wokenBy = (change: Partial<Change>, engine: EngineState = {}) =>
    quotaRoutes().map(
      (route) =>
        (
          route.targets(
            { type: 'modified', touched: [], stored: quotaOf({}, engine), ...change },
            [],
          ) as readonly object[]
        ).length,
    )
  it.each([
    ['its limits are written', { touched: ['spec'] }, {}, [1, 0]],
    ['it is made', { type: 'added', touched: ['spec'] }, {}, [1, 0]],
    ['its use is noted', { touched: ['status', 'engine'] }, {}, [0, 0]],
    ['a count is asked for', { touched: ['engine'] }, { wakeAtMs: nowMs }, [0, 1]],
    ['a count is asked for by a clock that is ahead', { touched: ['engine'] }, { wakeAtMs: nowMs + 1 }, [0, 1]],
    ['a count was asked for, by what else is written', { touched: ['status'] }, { wakeAtMs: nowMs }, [0, 0]],
    ['it goes', { type: 'removed', touched: ['spec', 'engine'] }, { wakeAtMs: nowMs }, [0, 0]],
  ] as const)('when %s: %j %j → %j', (_what, change, engine, counts) => {
    expect(wokenBy(change, engine)).toEqual(counts)
  })

  it('once for many removals within a second, and not by other kinds', () => {
    const routes = quotaRoutes()
    expect(routes.map(({ name, debounceMs }) => [name, debounceMs])).toEqual([
      ['quota-usage', 0],
      ['quota-usage', 1_000],
    ])
    expect(wokenBy({ touched: ['spec'], stored: storedWidget('w') })).toEqual([0, 0])
  })
})
