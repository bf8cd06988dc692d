import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createPrometheusTelemetry } from '../../../shared/adapters/local/prometheus-telemetry.ts'
import { createGarbageCollector, garbageRoute } from '../../../shared/engine/garbage-collector.ts'
import { createRelay } from '../../../shared/engine/relay.ts'
import type { Turn } from '../../../shared/engine/turn.ts'
import { keyText, type ObjectKey } from '../../../shared/model/object-key.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import type { WakeUp } from '../../../shared/ports/work-queue.ts'
import { createResources } from '../../../shared/resources/create-resources.ts'
import { createKindCatalog } from '../../../shared/resources/store-kind-catalog.ts'
import { createSeededRandom } from '../../../shared/testing/seeded-random.ts'
import { openSqlite, type OpenSqlite } from '../../support/sqlite.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'

/** What the removal of an owner costs the relay, behind which everybody's changes wait. */
const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, with: () => logger }
const childrenCount = 3_000

let opened: OpenSqlite
let sent: WakeUp[]
let reads: number
const clock = createVirtualClock()
beforeEach(() => {
  opened = openSqlite(':memory:', clock)
  sent = []
  reads = 0
})
afterEach(() => opened.close())

const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'uid-owner' }

function create(name: string, more: object = {}): Promise<StoredObject> {
  const metadata = {
    name,
    namespace: 'default',
    uid: `uid-${name}`,
    resourceVersion: '0',
    generation: 1,
    creationTimestamp: '2026-01-01T00:00:00Z',
    ...more,
  }
  return opened.store.create({ object: { apiVersion: 'v1', kind: 'ConfigMap', metadata }, engine: {} })
}

function read(key: ObjectKey): Promise<StoredObject | undefined> {
  reads++
  return opened.store.get(key)
}

async function removeOwner(children: number): Promise<void> {
  const stored = await create('owner')
  for (let i = 0; i < children; i++) await create(`child-${i}`, { ownerReferences: [owner] })
  const queue = {
    send: async (wakeUps: readonly WakeUp[]) => void sent.push(...wakeUps),
    receive: async () => [],
    settle: async () => {},
    hold: async () => {},
    wake: async () => {},
  }
  const relay = createRelay({
    ...opened,
    store: { ...opened.store, get: read },
    controllers: [],
    queueOf: () => queue,
    clock,
    logger,
    telemetry: createPrometheusTelemetry(),
    builtIn: [garbageRoute(opened.index)],
  })
  await relay([{ type: 'removed', touched: [], stored: await opened.store.remove(stored) }])
}

async function collect(): Promise<void> {
  const { store, index } = opened
  const resources = createResources({ store, clock, random: createSeededRandom(1) })
  const run = createGarbageCollector({
    store,
    index,
    resources,
    catalog: createKindCatalog({ store, clock, maxAgeMs: 0 }),
  })
  for (const { key } of sent)
    await run({ key, wakeUps: [], settle: async () => {} } as unknown as Turn, new AbortController().signal)
}

const left = async (): Promise<number> => (await opened.index.ownedBy(owner.uid)).length

describe('the removal of an owner of very many children', () => {
  it('sends few wake-ups and reads no child', async () => {
    await removeOwner(childrenCount)
    expect(reads).toBe(0)
    expect(sent.length).toBeLessThanOrEqual(childrenCount / 50)
    expect(new Set(sent.map(({ key }) => keyText(key))).size).toBe(sent.length)
  })

  it.each([3, 400, childrenCount])('has the garbage collector take all %i with it', async (count) => {
    await removeOwner(count)
    await create('adopted', {
      ownerReferences: [owner, { ...owner, name: 'other', uid: (await create('other')).object.metadata.uid }],
    })
    expect(await left()).toBe(count + 1)
    await collect()
    expect(await left()).toBe(1)
  })
})
