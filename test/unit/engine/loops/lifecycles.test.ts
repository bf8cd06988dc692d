import { describe, expect, it } from 'vitest'
import type { Turn } from '../../../../shared/engine/state/turn.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'
import { OperatingError } from '../../../../shared/model/errors.ts'
import type { ObjectStore } from '../../../../shared/ports/object-store.ts'
import { createEventExpiry, definitionController, lifecycle } from '../../../../shared/engine/loops/lifecycles.ts'
import { done, type Context } from '../../../../shared/index.ts'
import { reportOf } from '../../../../shared/reconciler/outcome.ts'
import type { ApiObject } from '../../../../shared/model/object.ts'
import type { Resources } from '../../../../shared/resources/resources.ts'
import { customResourceDefinitionKind } from '../../../../shared/resources/built-in-kinds.ts'
import { Widget } from '../../../acceptance/support/widgets.ts'

const deletedMs = Date.parse('2026-01-01T00:00:00Z')
const definition = {
  ...Widget.definition,
  metadata: { ...Widget.definition?.metadata, generation: 1, deletionTimestamp: new Date(deletedMs).toISOString() },
  status: { conditions: [{ type: 'Established', status: 'True' }] },
} as unknown as ApiObject

/** What becomes of the definition so many seconds after its deletion, with so many objects left. */
async function lookAt(seconds: number, left: number, definitionGraceMs?: number): Promise<string> {
  const items = Array.from({ length: left }, (_, i) => ({ object: { metadata: { name: `w${i}` } } }))
  const resources = {
    get: async () => ({ object: definition }),
    list: async (kind: object) => ({ items: kind === customResourceDefinitionKind ? [] : items }),
    delete: async () => ({ gone: false, stored: { object: { metadata: {} } } }),
  } as unknown as Resources
  const controller = definitionController({ resources, ...(definitionGraceMs !== undefined && { definitionGraceMs }) })
  const ctx = { now: () => deletedMs + seconds * 1_000 } as Context
  const outcome = await controller.cleanup?.(definition, ctx)
  return outcome?.kind === 'again' ? `again in ${String(outcome.afterMs)} ms` : String(outcome?.kind)
}

it.each([
  [0, 0, undefined, 'done'],
  [0, 1, undefined, 'again in 1000 ms'],
  [5, 0, 20_000, 'again in 15000 ms'],
  [5, 1, 20_000, 'again in 1000 ms'],
  [19.999, 0, 20_000, 'again in 1 ms'],
  [20, 0, 20_000, 'done'],
  [20, 2, 20_000, 'again in 1000 ms'],
])('%s s after its deletion, with %d objects and a grace of %s ms, a definition is %s', async (...row) => {
  const [seconds, left, graceMs, becomes] = row
  expect(await lookAt(seconds, left, graceMs)).toBe(becomes)
})

it('a definition that a wrong clock has marked goes a grace after the first look at it', async () => {
  const resources = { list: async () => ({ items: [] }) } as unknown as Resources
  const controller = definitionController({ resources, definitionGraceMs: 20_000 })
  const noted = new Map<string, unknown>()
  const notes = { get: (key: string) => noted.get(key), set: (key: string, value: unknown) => noted.set(key, value) }
  const lookAfter = async (ms: number): Promise<unknown> => {
    const now = (): number => deletedMs - 30 * 24 * 3_600_000 + ms
    const outcome = await controller.cleanup?.(definition, { now, notes } as unknown as Context)
    return outcome?.kind === 'again' ? outcome.afterMs : outcome?.kind
  }
  expect([await lookAfter(0), await lookAfter(5_000), await lookAfter(20_000)]).toEqual([20_000, 15_000, 'done'])
  // A note of another clock that was ahead tells nothing either.
  expect(await lookAfter(-1_000)).toBe(20_000)
})

it.each([
  [undefined, ['replace 3600000']],
  [0, ['replace 3600000']],
  [3_600_000, []],
])('an Event whose timer is at %s is written again only if it has another end', async (wakeAtMs, writes) => {
  const made = new Date(deletedMs).toISOString()
  const metadata = { name: 'e', namespace: 'default', uid: 'u', resourceVersion: '1', generation: 1 }
  const object = { apiVersion: 'v1', kind: 'Event', metadata: { ...metadata, creationTimestamp: made } } as ApiObject
  const engine = wakeAtMs === undefined ? {} : { wakeAtMs: deletedMs + wakeAtMs }
  const written: string[] = []
  const store = {
    get: async () => ({ object, engine }),
    replace: async (next: StoredObject) => void written.push(`replace ${(next.engine.wakeAtMs ?? 0) - deletedMs}`),
  } as unknown as ObjectStore
  const clock = { nowMs: () => deletedMs, sleep: async () => {} }
  const key = { group: '', kind: 'Event', namespace: 'default', name: 'e' }
  const turn = { key, settle: async () => {} } as unknown as Turn
  await createEventExpiry({ store, resources: {} as Resources, clock })(turn, new AbortController().signal)
  expect(written).toEqual(writes)
})

it.each([
  [-1, ['delete e', 'settle']],
  [0, ['delete e', 'settle']],
  [1, ['settle']],
])('an Event whose end is in %d ms: %j', async (restMs, did) => {
  const doing: string[] = []
  const metadata = { name: 'e', namespace: 'default', creationTimestamp: new Date(deletedMs).toISOString() }
  const store = {
    get: async () => ({
      object: { apiVersion: 'v1', kind: 'Event', metadata },
      engine: { wakeAtMs: deletedMs + 3_600_000 },
    }),
  }
  const resources = {
    delete: async (_kind: object, { name }: { readonly name: string }) => {
      doing.push(`delete ${name}`)
      return { gone: true }
    },
  }
  const clock = { nowMs: () => deletedMs + 3_600_000 - restMs, sleep: async () => {} }
  const turn = { key: {}, settle: async () => void doing.push('settle') }
  await createEventExpiry({ store, resources, clock } as never)(turn as never, new AbortController().signal)
  expect(doing).toEqual(did)
})

it('an Event that happens again in the moment of its end stays', async () => {
  const doing: string[] = []
  const eventAt = (resourceVersion: string, lastTimestamp: string) => ({
    object: { apiVersion: 'v1', kind: 'Event', metadata: { name: 'e', resourceVersion }, lastTimestamp },
    engine: {},
  })
  const nowMs = deletedMs + 3_600_000
  const versions = [eventAt('1', new Date(deletedMs).toISOString()), eventAt('2', new Date(nowMs).toISOString())]
  const store = {
    get: async () => versions.shift(),
    replace: async (next: StoredObject) => void doing.push(`timer ${(next.engine.wakeAtMs ?? 0) - nowMs}`),
  }
  const resources = {
    delete: async (_kind: object, _at: object, { preconditions }: { preconditions: { resourceVersion: string } }) => {
      doing.push(`delete ${preconditions.resourceVersion}`)
      throw new OperatingError('VERSION_CONFLICT', 'written')
    },
  }
  const clock = { nowMs: () => nowMs, sleep: async () => {} }
  const turn = { key: {}, settle: async () => void doing.push('settle') }
  await createEventExpiry({ store, resources, clock } as never)(turn as never, new AbortController().signal)
  expect(doing).toEqual(['delete 1', 'timer 3600000', 'settle'])
})

it('an Event that is gone is settled', async () => {
  const doing: string[] = []
  const turn = { key: {}, settle: async () => void doing.push('settle') }
  const store = { get: async () => {} }
  await createEventExpiry({ store, resources: {}, clock: {} } as never)(turn as never, new AbortController().signal)
  expect(doing).toEqual(['settle'])
})

describe('a definition', () => {
  it('without a time of its deletion has no grace', async () => {
    const { deletionTimestamp: _, ...metadata } = definition.metadata
    const resources = { list: async () => ({ items: [] }) } as unknown as Resources
    const controller = definitionController({ resources })
    const outcome = await controller.cleanup?.({ ...definition, metadata }, { now: () => 0 } as Context)
    expect(outcome?.kind).toBe('done')
  })

  it('of a kind that never was goes', async () => {
    const never = { ...definition, status: {} }
    const controller = definitionController({ resources: {} as Resources })
    expect((await controller.cleanup?.(never, {} as Context))?.kind).toBe('done')
  })

  it.each([
    ['has its names', 'True', 'done', []],
    ['waits for its names', 'False', 'again', ['merge setpoint']],
  ])('that %s', async (_what, status, kind, patches) => {
    const patched: string[] = []
    const resources = {
      list: async () => ({ items: [] }),
      patch: async (_kind: object, _at: object, { type }: { type: string }, { manager }: { manager: string }) =>
        void patched.push(`${type} ${manager}`),
    } as unknown as Resources
    const named = { ...definition, status: { conditions: [{ type: 'NamesAccepted', status }] } } as unknown as ApiObject
    const outcome = await definitionController({ resources }).reconcile(named, { now: () => deletedMs } as Context)
    expect([outcome.kind, patched]).toEqual([kind, patches])
    if (outcome.kind === 'again') expect(outcome.afterMs).toBe(5_000)
  })

  it.each([
    [0, 5_000],
    [50, 5_000],
    [600, 60_000],
    [86_400, 300_000],
    [-60, 5_000],
  ])('that has waited for its names for %d s looks again in %d ms', async (seconds, ms) => {
    const resources = { list: async () => ({ items: [] }), patch: async () => {} } as unknown as Resources
    const lastTransitionTime = new Date(deletedMs - seconds * 1_000).toISOString()
    const conditions = [{ type: 'NamesAccepted', status: 'False', lastTransitionTime }]
    const waiting = { ...definition, status: { conditions } } as unknown as ApiObject
    const ctx = { now: () => deletedMs } as Context
    expect(await definitionController({ resources }).reconcile(waiting, ctx)).toMatchObject({ afterMs: ms })
  })

  /** As it was made in that second, with the names of the kind. */
  const madeAt = (name: string, second: number, group = 'g.dev'): ApiObject => {
    const names = { kind: 'Thing', plural: name, singular: name, listKind: 'ThingList' }
    const spec = { ...Widget.definition?.spec, group, names }
    const metadata = {
      name: `${name}.${group}`,
      uid: name,
      generation: 1,
      creationTimestamp: `2026-01-01T00:00:0${second}Z`,
    }
    return { ...definition, metadata, spec, status: { ...definition.status, acceptedNames: names } } as never
  }
  const first = madeAt('first', 1)
  const late = madeAt('late', 2)

  it('that shares its kind with another, written in the same moment, looks again, and has the other look', async () => {
    const patched: string[] = []
    const resources = {
      list: async () => ({
        items: [first, late, madeAt('gone', 3), madeAt('far', 1, 'h.dev')].map((object) => ({ object })),
      }),
      patch: async (_kind: object, { name }: { name: string }, { body }: { body: object }) => {
        patched.push(`${name} ${JSON.stringify(body)}`)
        if (name === 'gone.g.dev') throw new OperatingError('NOT_FOUND', 'gone')
      },
    } as unknown as Resources
    const accepted = { conditions: [{ type: 'NamesAccepted', status: 'True' }] }
    const shared = { ...first, status: { ...first.status, ...accepted } } as ApiObject
    expect(
      (await definitionController({ resources }).reconcile(shared, { now: () => deletedMs } as Context)).kind,
    ).toBe('again')
    const asks = '{"metadata":{"annotations":{"setpoint.dev/reconcile-requested-at":"first"}}}'
    expect(patched).toEqual(['first.g.dev {}', `late.g.dev ${asks}`, `gone.g.dev ${asks}`])
  })

  it.each([
    ['later', late, late, []],
    ['earlier', first, first, ['delete mine']],
    // A process stood still: the objects are those of a new definition.
    ['earlier, whose name another one has by now,', first, { metadata: { uid: 'new' } }, []],
  ])(
    'that is deleted, the %s of two that share a kind, takes the objects of it only if it is the earlier',
    async (_, one, now, does) => {
      const did: string[] = []
      const resources = {
        get: async () => ({ object: now }),
        list: async (kind: object) => ({
          items:
            kind === customResourceDefinitionKind
              ? [{ object: first }, { object: late }]
              : [{ object: { metadata: { name: 'mine' } } }],
        }),
        delete: async (_kind: object, { name }: { name: string }) => {
          did.push(`delete ${name}`)
          return { gone: true, stored: { object: { metadata: {} } } }
        },
      } as unknown as Resources
      await definitionController({ resources }).cleanup?.(one, { now: () => deletedMs } as Context)
      expect(did).toEqual(does)
    },
  )
})

it('a life cycle is a controller that looks at all, and has no timer of its own', async () => {
  const kind = { singular: 'thing' } as never
  const { when, reconcile, cleanup, ...rest } = lifecycle(kind, 'f/f', async () => done())
  expect(rest).toStrictEqual({
    name: 'thing-lifecycle',
    kind,
    owns: [],
    references: [],
    maps: [],
    rights: new Map(),
    debounceMs: 0,
    objectLimit: undefined,
    controllerLimit: undefined,
    finalizer: 'f/f',
    resyncMs: 0,
    concurrency: 4,
    timeoutMs: 60_000,
    reportsStatus: false,
  })
  expect(when({} as never)).toBe(true)
  expect((await reconcile({} as never, {} as Context)).kind).toBe('done')
  expect((await cleanup?.({} as never, {} as Context))?.kind).toBe('done')
})

it('a life cycle that fails, or is refused, is tried again within a quarter of a minute', async () => {
  const refused = new OperatingError('TOO_LARGE', 'no room for a mark')
  const { cleanup } = lifecycle({ singular: 'thing' } as never, 'f/f', () => Promise.reject(refused))
  const thrown: unknown = await cleanup?.({} as never, {} as Context).catch((error: unknown) => error)
  expect(thrown).toMatchObject({ code: 'TOO_LARGE', message: 'no room for a mark' })
  expect(reportOf(thrown)).toEqual({ retryWithin: '15s' })
})
