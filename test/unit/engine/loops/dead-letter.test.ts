import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createPrometheusTelemetry } from '../../../../shared/adapters/local/prometheus-telemetry.ts'
import { createDeadLetters, type DeadLetters } from '../../../../shared/engine/loops/dead-letter.ts'
import type { RecordedEvent } from '../../../../shared/engine/insight/event-recorder.ts'
import { again, ConfigMap, done, mapped, type Controller } from '../../../../shared/index.ts'
import { conditionOf } from '../../../../shared/model/conditions.ts'
import { DamagedObjectError, OperatingError } from '../../../../shared/model/errors.ts'
import type { ApiObject } from '../../../../shared/model/object.ts'
import { keyOf } from '../../../../shared/model/object-key.ts'
import type { ServedKind } from '../../../../shared/model/served-kind.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'
import type { ObjectStore } from '../../../../shared/ports/object-store.ts'
import type { WakeUp, WorkQueue } from '../../../../shared/ports/work-queue.ts'
import { createResources } from '../../../../shared/resources/create-resources.ts'
import type { Resources } from '../../../../shared/resources/resources.ts'
import { createKindCatalog } from '../../../../shared/resources/store-kind-catalog.ts'
import { installBasics } from '../../../../shared/engine/loops/install-basics.ts'
import { createSeededRandom } from '../../../../shared/testing/seeded-random.ts'
import { openSqlite } from '../../../support/sqlite.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'
import { widgets } from '../../../acceptance/support/widgets.ts'

const controller = widgets([], () => done(), {
  watches: [mapped(ConfigMap, ({ metadata: { name } }) => [{ name }])],
})
const clock = createVirtualClock()
const random = createSeededRandom(1)
const lines: string[] = []
const warn = (line: string): void => void lines.push(line)
const errors: unknown[] = []
const error = (...line: unknown[]): void => void errors.push(line)
const logger = { debug: () => {}, info: () => {}, warn, error, with: () => logger }

let store: ObjectStore
let resources: Resources
let deadLetters: DeadLetters
let events: { readonly about: ApiObject; readonly event: RecordedEvent }[]
let sent: { readonly loop: string; readonly wakeUp: WakeUp }[]

beforeEach(() => start([controller]))

async function start(controllers: readonly Controller[]): Promise<void> {
  store = openSqlite(':memory:').store
  resources = createResources({ store, clock, random })
  events = []
  sent = []
  lines.length = 0
  errors.length = 0
  const catalog = createKindCatalog({ store, clock, maxAgeMs: 0 })
  await installBasics({ resources, catalog, controllers })
  deadLetters = createDeadLetters({
    store: { ...store, get: (key) => store.get(key), replace: (stored, touched) => store.replace(stored, touched) },
    index: openSqlite(':memory:').index,
    resources,
    catalog,
    clock,
    random,
    logger,
    telemetry: createPrometheusTelemetry(),
    events: { record: async (about, event) => events.push({ about, event }) > 0 },
    controllers,
    queueOf: ({ name: loop }) => queueTo(loop),
  })
}

function queueTo(loop: string): WorkQueue {
  const send = async (wakeUps: readonly WakeUp[]): Promise<void> =>
    void sent.push(...wakeUps.map((wakeUp) => ({ loop, wakeUp })))
  return { send, receive: async () => [], settle: async () => {}, hold: async () => {}, wake: async () => {} }
}

const key = { group: 'test.setpoint.dev', kind: 'Widget', namespace: 'default', name: 'w' }
const wakeUp: WakeUp = { key, origin: 'change', dedupId: 'd', resourceVersion: '5', lane: 'urgent', reason: 'changed' }
const letter = { loop: controller.name, wakeUp }

async function createWidget(engine: StoredObject['engine'] = {}): Promise<StoredObject> {
  const kind = (await createKindCatalog({ store, clock, maxAgeMs: 0 }).byKind(key.group, key.kind)) as ServedKind
  const { stored } = await resources.create(
    kind,
    { metadata: { name: 'w', namespace: 'default' }, spec: {} },
    { manager: 't' },
  )
  return store.replace({ ...stored, engine: { ...stored.engine, ...engine } }, ['engine'])
}

describe('a dead message', () => {
  it('makes its object say that it is stalled, and why, and sets a slow retry', async () => {
    await createWidget({ wait: { kind: 'Backoff', generation: 1, atMs: 0, failure: { attempt: 2, error: 'e' } } })
    await deadLetters(letter)
    const { object, engine } = (await store.get(key)) as StoredObject
    expect(conditionOf(object, 'Stalled')).toMatchObject({ status: 'True', reason: 'RunNotEnded' })
    expect(conditionOf(object, 'Ready')).toMatchObject({ status: 'False', reason: 'RunNotEnded' })
    expect(object.status?.['observedGeneration']).toBeUndefined()
    expect(engine).toMatchObject({ wait: { kind: 'Backoff', generation: 1, failure: { attempt: 3 } } })
    expect((engine.wait?.atMs ?? 0) - clock.nowMs()).toSatisfy((ms: number) => ms >= 500_000 && ms <= 1_000_000)
    expect(events).toMatchObject([
      { about: { metadata: { name: 'w' } }, event: { type: 'Warning', reason: 'RunNotEnded' } },
    ])
  })

  it('keeps what else is remembered, and the handle of a message that is held now', async () => {
    const hold = { handle: 'h', untilMs: clock.nowMs() + 5_000 }
    await createWidget({ hold, memory: { once: { mail: { of: 'x', state: 'done' } } } })
    await deadLetters(letter)
    expect((await store.get(key))?.engine).toMatchObject({ hold, memory: { once: { mail: { of: 'x' } } } })
  })

  it('of an object that has no room for a condition sets the slow retry all the same', async () => {
    const { object, engine } = await createWidget()
    const annotations = { filling: 'x'.repeat(350 * 1_024 - JSON.stringify({ object, engine }).length - 20) }
    const full = { ...object, metadata: { ...object.metadata, annotations } }
    await store.replace({ object: full, engine }, ['annotations'])
    await deadLetters(letter)
    expect((await store.get(key))?.engine).toMatchObject({ wait: { kind: 'Backoff', failure: { attempt: 1 } } })
    expect(events).toHaveLength(1)
  })

  it('that comes twice changes nothing the second time', async () => {
    await createWidget()
    await deadLetters(letter)
    const once = await store.get(key)
    await deadLetters(letter)
    expect(await store.get(key)).toEqual(once)
    expect(events).toHaveLength(1)
  })

  it('that comes after the retry was due stalls it anew', async () => {
    await createWidget()
    await deadLetters(letter)
    const { engine } = (await store.get(key)) as StoredObject
    clock.moveTo((engine.wait?.atMs ?? 0) + 1)
    await deadLetters(letter)
    expect((await store.get(key))?.engine.wait).toMatchObject({ failure: { attempt: 2 } })
  })

  it('of an object that is gone is dropped', async () => {
    await deadLetters(letter)
    expect({ events, sent }).toEqual({ events: [], sent: [] })
  })

  it.each(['', '-fan-out'])('of an object that is damaged is dropped, and the log says so: %s', async (suffix) => {
    await createWidget()
    const remains = { uid: 'u', resourceVersion: '1' }
    store.get = () => Promise.reject(new DamagedObjectError('Widget w is damaged', remains))
    await deadLetters({ loop: `${controller.name}${suffix}`, wakeUp: { ...wakeUp, timerAtMs: 5 } })
    expect({ events, sent }).toEqual({ events: [], sent: [] })
    const about = { key: 'test.setpoint.dev/Widget/default/w' }
    expect(errors).toEqual([['dead letter dropped: its object is damaged', about]])
  })

  it('of another kind, of a controller that had the name before, says nothing of its object', async () => {
    const { object } = await createWidget()
    const stranger = { ...key, kind: 'Gadget' }
    await store.create({ object: { ...object, kind: 'Gadget' }, engine: {} })
    const before = await store.get(stranger)
    expect(before).toBeDefined()
    await deadLetters({ ...letter, wakeUp: { ...wakeUp, key: stranger } })
    expect(await store.get(stranger)).toEqual(before)
    expect(events).toEqual([])
  })

  it('is tried on the newest version when somebody writes meanwhile', async () => {
    await createWidget()
    const { get } = store
    let reads = 0
    store.get = async (at) => {
      const stored = await get(at)
      if (stored !== undefined && reads++ === 0)
        await store.replace({ ...stored, engine: { wakeAtMs: 8e12 } }, ['engine'])
      return stored
    }
    await deadLetters(letter)
    store.get = get
    expect((await store.get(key))?.engine).toMatchObject({ wakeAtMs: 8e12, wait: { kind: 'Backoff' } })
  })

  it('is not taken in while the store is away', async () => {
    await createWidget()
    const replace = vi.fn<ObjectStore['replace']>(() => Promise.reject(new OperatingError('UNAVAILABLE', 'away')))
    store.replace = replace
    await expect(deadLetters(letter)).rejects.toThrow('away')
    expect(replace).toHaveBeenCalledTimes(1)
  })

  it('is written as what it changes: no status where that stays', async () => {
    await createWidget()
    const { replace } = store
    const touched: unknown[] = []
    store.replace = (stored, parts) => {
      touched.push(parts)
      return replace(stored, parts)
    }
    await deadLetters(letter)
    expect(touched).toEqual([['status', 'engine']])
    await deadLetters({ loop: `${controller.name}-fan-out`, wakeUp })
    expect(touched).toEqual([['status', 'engine'], ['engine']])
  })

  it('of a controller that reports no status sets the slow retry alone', async () => {
    await start([{ ...controller, reportsStatus: false }])
    await createWidget()
    await deadLetters(letter)
    const { object, engine } = (await store.get(key)) as StoredObject
    expect([conditionOf(object, 'Stalled'), engine.wait?.kind]).toEqual([undefined, 'Backoff'])
  })

  it('of a fan-out becomes a late timer; beside an earlier one, another that is as early', async () => {
    await createWidget()
    const fanOut = { loop: `${controller.name}-fan-out`, wakeUp: { ...wakeUp, timerAtMs: 1 } }
    await deadLetters(fanOut)
    const { engine } = (await store.get(key)) as StoredObject
    expect(engine.wakeAtMs).toBeGreaterThan(clock.nowMs() + 400_000)
    await deadLetters(fanOut)
    // A run that has begun with the one that was there strikes it out, and may have looked before.
    expect((await store.get(key))?.engine.wakeAtMs).toBe(Number(engine.wakeAtMs) - 1)
  })

  it('of a loop whose objects have no timer for it is sent again, under an id of its own', async () => {
    await deadLetters({ loop: 'garbage-collector', wakeUp })
    expect(sent).toMatchObject([{ loop: 'garbage-collector', wakeUp: { key, resourceVersion: '5' } }])
    expect(sent[0]?.wakeUp.dedupId).not.toBe('d')
  })

  it('of a loop that is no more is dropped: sent again, it would come back for ever', async () => {
    await deadLetters({ loop: 'gadget', wakeUp })
    expect([sent, lines]).toEqual([[], ['dead letter for an unknown control loop']])
  })
})

it.each([
  ['is retried late, too', { onRemoved: 'reconcile' }, true],
  ['is nothing to a controller that is not told of removals', {}, false],
] as const)('a record of what was removed %s', async (_what, options, is) => {
  await start([{ ...widgets([], () => again('1h')), ...options }])
  const { object } = await createWidget()
  const at = { ...key, group: 'removed.test.setpoint.dev' }
  await store.create({
    object: {
      ...object,
      apiVersion: 'removed.test.setpoint.dev/v1',
      metadata: { ...object.metadata, uid: 'r' },
      removed: [],
    },
    engine: {},
  })
  await store.remove((await store.get(key)) as StoredObject)
  await deadLetters(letter)
  const record = (await store.get(at)) as StoredObject
  expect(keyOf(record.object)).toEqual(at)
  expect((record.engine.wait?.atMs ?? 0) > clock.nowMs() + 400_000).toBe(is)
  expect(record.object.status).toEqual(object.status)
})
