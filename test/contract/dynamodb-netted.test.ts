import { randomUUID } from 'node:crypto'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { createDynamodbNetted } from '../../shared/adapters/aws/dynamodb/dynamodb-netted.ts'
import { systemRandom } from '../../shared/adapters/node/system-random.ts'
import { withSafetyNet } from '../../shared/engine/wake/safety-net.ts'
import { netAfterMs } from '../../shared/model/engine-state.ts'
import type { StoredObject } from '../../shared/model/stored-object.ts'
import type { ListNetted } from '../../shared/ports/netted.ts'
import type { ObjectStore } from '../../shared/ports/object-store.ts'
import { countAwsRequests } from '../support/aws-requests.ts'
import { startDynalite } from '../../shared/testing-aws/dynalite.ts'
import { openDynamodb, type OpenDynamodb } from '../support/dynamodb.ts'
import { storedWidget, widgetKind, withSpec } from '../support/stored-object.ts'
import { createVirtualClock } from '../support/virtual-clock.ts'

/** The timers of the safety net on DynamoDB: found by the time of the write, and paid for by no entry of their own. */
const dynalite = await startDynalite()
const requests = countAwsRequests(dynalite.client)
afterAll(dynalite.close)

const startMs = Date.parse('2026-01-01T00:00:00Z')
const minuteMs = 60_000
const change = { verb: 'changed', atMs: startMs, by: 'kubectl' } as const
const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, with: () => logger }

let clock: ReturnType<typeof createVirtualClock>
let opened: OpenDynamodb
let store: ObjectStore
let listNetted: ListNetted

beforeEach(async () => {
  clock = createVirtualClock(startMs)
  opened = await openDynamodb(dynalite.client, { clock })
  store = withSafetyNet(opened.store, { clock, controllers: [], logger })
  listNetted = createDynamodbNetted({ client: dynalite.client, table: opened.table, clock, random: systemRandom })
  requests.take()
})

const changed = (name: string): StoredObject => ({
  ...storedWidget(name, { uid: randomUUID() }),
  engine: { change },
})
const netted = async (fromMs: number, toMs: number): Promise<readonly string[]> =>
  (await listNetted(widgetKind, fromMs, toMs)).map(({ key, dueAtMs }) => `${key.name} ${dueAtMs - startMs}`)
const due = async (): Promise<readonly string[]> =>
  (await opened.index.due(widgetKind, startMs + 60 * minuteMs, 10)).map(({ key }) => key.name)

it('a change that no run has seen is found by the time of its net, and is no entry among the timers', async () => {
  await store.create(changed('a'))
  expect(requests.take().indexUnits).toEqual({ feed: 1, wheel: 1 })
  await clock.advance(minuteMs)
  await store.create(changed('b'))
  expect(await netted(startMs, startMs + netAfterMs + 1)).toEqual([`a ${netAfterMs}`])
  expect(await netted(startMs + netAfterMs + 1, startMs + 2 * netAfterMs)).toEqual([`b ${netAfterMs + minuteMs}`])
  expect(await netted(startMs + 2 * netAfterMs, startMs + 3 * netAfterMs)).toEqual([])
  expect(await due()).toEqual([])
})

it('of a kind that nobody watches it is found as well: its entry comes with the change, and goes with the run', async () => {
  const own = await openDynamodb(dynalite.client, { clock, isRecorded: false })
  const unwatched = withSafetyNet(own.store, { clock, controllers: [], logger })
  const listed = createDynamodbNetted({ client: dynalite.client, table: own.table, clock, random: systemRandom })
  const stored = await unwatched.create(changed('a'))
  expect((await listed(widgetKind, startMs, startMs + netAfterMs + 1)).map(({ key }) => key.name)).toEqual(['a'])
  requests.take()
  const done = await unwatched.replace({ ...stored, engine: {} }, ['status', 'engine'])
  expect(requests.take()).toMatchObject({ writeUnits: 1, indexUnits: { feed: 1 } })
  await unwatched.replace({ ...done, engine: { change } }, ['spec'])
  expect(requests.take()).toMatchObject({ writeUnits: 1, indexUnits: { feed: 1 } })
  expect(await listed(widgetKind, startMs, startMs + netAfterMs + 1)).toHaveLength(1)
})

it('the run takes it away with its own write, which costs nothing more', async () => {
  const stored = await store.create(changed('a'))
  requests.take()
  await store.replace({ ...stored, engine: {} }, ['status', 'engine'])
  expect(requests.take()).toMatchObject({ writeUnits: 1, indexUnits: { feed: 2 } })
  expect(await netted(startMs, startMs + 60 * minuteMs)).toEqual([])
})

it('a write that has nothing to do with it, later, makes it a timer like any other', async () => {
  const stored = await store.create(changed('a'))
  await clock.advance(10_000)
  const soon = await store.replace(stored, ['engine'])
  expect(await netted(startMs, startMs + 60 * minuteMs)).toEqual([`a ${netAfterMs}`])
  await clock.advance(minuteMs)
  const later = await store.replace(soon, ['labels'])
  expect(await netted(startMs, startMs + 60 * minuteMs)).toEqual([])
  expect(await due()).toEqual(['a'])
  await store.replace({ ...later, engine: {} }, ['engine'])
  expect(await due()).toEqual([])
})

it('a wait, or a wish for an earlier run, is a timer like any other', async () => {
  const wait = { kind: 'Requeue', generation: 1, atMs: startMs + minuteMs } as const
  await store.create({ ...changed('a'), engine: { change, wait } })
  const stored = await store.create(changed('b'))
  await store.replace({ ...stored, engine: { ...stored.engine, wakeAtMs: startMs + 1 } }, ['engine'])
  await clock.advance(1)
  expect(await due()).toEqual(['b', 'a'])
  expect(await netted(startMs, startMs + 60 * minuteMs)).toEqual([])
})

it('an object that is removed leaves it', async () => {
  const stored = await store.create(changed('a'))
  await store.remove(stored)
  expect(await netted(startMs, startMs + 60 * minuteMs)).toEqual([])
})

it('is read by one query for each partition, at half the price', async () => {
  await netted(startMs, startMs)
  requests.take()
  await netted(startMs, startMs + 5 * minuteMs)
  expect(requests.take()).toMatchObject({ calls: { Query: 8 }, readUnits: 4 })
})

it.each([400, 1_000])(
  'a change that converges in one run is six units of writes, with a spec of %i bytes',
  async (bytes) => {
    const hosts = (nth: number): string => Array.from({ length: bytes / 16 }, (_, i) => `${nth}-host-${i}.local`).join()
    const live = await store.create(withSpec({ ...changed('a'), engine: {} }, { hosts: hosts(1) }))
    requests.take()
    const accepted = await store.replace(withSpec({ ...live, engine: { change } }, { hosts: hosts(2) }), ['spec'])
    const status = { observedGeneration: 2, conditions: [{ type: 'Ready', status: 'True', reason: 'Reconciled' }] }
    await store.replace({ object: { ...accepted.object, status }, engine: {} }, ['status', 'engine'])
    const { writeUnits, indexUnits } = requests.take()
    expect({ writeUnits, indexUnits }).toEqual({ writeUnits: 2, indexUnits: { feed: 4 } })
  },
)
