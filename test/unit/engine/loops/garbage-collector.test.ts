import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ConfigMap, type ConfigMapObject } from '../../../../shared/index.ts'
import { createPrometheusTelemetry } from '../../../../shared/adapters/local/prometheus-telemetry.ts'
import { createGarbageCollector, garbageRoute } from '../../../../shared/engine/loops/garbage-collector.ts'
import { createRelay } from '../../../../shared/engine/wake/relay.ts'
import type { Turn } from '../../../../shared/engine/state/turn.ts'
import type { ObjectKey } from '../../../../shared/model/object-key.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'
import type { WakeUp } from '../../../../shared/ports/work-queue.ts'
import { createResources } from '../../../../shared/resources/create-resources.ts'
import type { DeleteOptions } from '../../../../shared/resources/resources.ts'
import { createKindCatalog } from '../../../../shared/resources/store-kind-catalog.ts'
import { createSeededRandom } from '../../../../shared/testing/seeded-random.ts'
import { createTestEnv, type TestEnv } from '../../../../shared/testing/test-env.ts'
import { openSqlite, type OpenSqlite } from '../../../support/sqlite.ts'
import { isLong } from '../../../support/strength.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

/** What the removal of an owner costs the relay, behind which everybody's changes wait. */
const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, with: () => logger }
const childrenCount = isLong ? 3_000 : 1_200

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

async function read(key: ObjectKey): Promise<StoredObject | undefined> {
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

async function collect(signal = new AbortController().signal): Promise<void> {
  const { store, index } = opened
  const resources = createResources({ store, clock, random: createSeededRandom(1) })
  const run = createGarbageCollector({
    store,
    index,
    resources,
    catalog: createKindCatalog({ store, clock, maxAgeMs: 0 }),
  })
  for (const { key } of sent) await run({ key, wakeUps: [], settle: async () => {} } as unknown as Turn, signal)
}

const left = async (): Promise<number> => (await opened.index.childrenOf(owner.uid)).length

describe('the removal of an owner of very many children', () => {
  it('sends one wake-up and reads no child', async () => {
    await removeOwner(childrenCount)
    expect(reads).toBe(0)
    expect(sent).toHaveLength(1)
  })

  it('gives up when its time is over, and goes on in the next turn', async () => {
    await removeOwner(childrenCount)
    const time = new AbortController()
    const { store } = opened
    const remove = (stored: StoredObject): Promise<StoredObject> => {
      if (stored.object.metadata.name === 'child-100') time.abort()
      return store.remove(stored)
    }
    opened = { ...opened, store: { ...store, remove } }
    await expect(collect(time.signal)).rejects.toThrow('aborted and repeated')
    expect(await left()).toBeGreaterThan(childrenCount / 2)
    await collect()
    expect(await left()).toBe(0)
  })

  it.each([3, 400, childrenCount])('has the garbage collector take all %i with it', async (count) => {
    await removeOwner(count)
    const other = { ...owner, name: 'other', uid: (await create('other')).object.metadata.uid }
    await create('adopted', { ownerReferences: [owner, other] })
    expect(await left()).toBe(count + 1)
    await collect()
    expect(await left()).toBe(0)
    const adopted = await read({ group: '', kind: 'ConfigMap', namespace: 'default', name: 'adopted' })
    expect(adopted?.object.metadata.ownerReferences).toEqual([other])
  })
})

describe('a child', () => {
  const stranger = { apiVersion: 'example.org/v1', kind: 'Stranger', name: 'far', uid: 'uid-far' }
  let env: TestEnv
  beforeEach(async () => {
    env = await createTestEnv()
  })
  afterEach(() => env.close())

  async function add(name: string, ownerReferences: (typeof stranger)[]): Promise<void> {
    await env.apply(ConfigMap, { metadata: { name } })
    await env.patch(ConfigMap, name, { metadata: { ownerReferences } })
    await env.settle()
  }
  const isThere = async (name: string): Promise<boolean> => (await env.get(ConfigMap, name)) !== undefined

  it('of an owner whose kind nobody has defined stays, as on Kubernetes', async () => {
    await add('child', [stranger])
    await env.patch(ConfigMap, 'child', { metadata: { labels: { app: 'x' } } })
    await env.settle()
    expect(await isThere('child')).toBe(true)
  })

  it('of an owner of a known kind that is not there goes', async () => {
    await add('child', [{ ...stranger, apiVersion: 'v1', kind: 'ConfigMap' }])
    expect(await isThere('child')).toBe(false)
  })

  it('is let go by an owner that is not there while another stays, which may be named twice', async () => {
    await env.apply(ConfigMap, { metadata: { name: 'near' } })
    const uid = (await env.get(ConfigMap, 'near'))?.metadata.uid ?? ''
    const near = { apiVersion: 'v1', kind: 'ConfigMap', name: 'near', uid }
    const owners = [{ ...near, name: 'gone', uid: 'uid-gone' }, near, stranger, { ...near, name: 'other' }]
    await add('child', owners)
    const named = async () => (await env.get(ConfigMap, 'child'))?.metadata.ownerReferences
    expect(await named()).toEqual([near, stranger])
    await env.patch(ConfigMap, 'child', { metadata: { ownerReferences: [near, { ...near, controller: true }] } })
    await env.settle()
    expect(await named()).toHaveLength(2)
    await env.delete(ConfigMap, 'near')
    await env.settle()
    expect(await isThere('child')).toBe(false)
  })

  it('stays with a stranger when its other owner goes', async () => {
    await env.apply(ConfigMap, { metadata: { name: 'near' } })
    const uid = (await env.get(ConfigMap, 'near'))?.metadata.uid ?? ''
    await add('child', [stranger, { apiVersion: 'v1', kind: 'ConfigMap', name: 'near', uid }])
    await add('single', [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'near', uid }])
    await env.delete(ConfigMap, 'near')
    await env.settle()
    expect([await isThere('child'), await isThere('single')]).toEqual([true, false])
  })
})

describe('an owner of many children that waits for them', () => {
  const many = 300
  const held = { finalizers: ['example.com/held'] }
  let env: TestEnv
  beforeEach(async () => {
    env = await createTestEnv()
    await env.apply(ConfigMap, { metadata: { name: 'owner' }, data: {} })
  })
  afterEach(() => env.close())

  const all = async (): Promise<readonly ConfigMapObject[]> =>
    (await env.list(ConfigMap)).filter(({ metadata }) => metadata.name !== 'owner')
  const isThere = async (): Promise<boolean> => (await env.get(ConfigMap, 'owner')) !== undefined
  const release = (name: string): Promise<unknown> => env.patch(ConfigMap, name, { metadata: { finalizers: null } })

  type Meta = ConfigMapObject['metadata']
  type Reference = NonNullable<Meta['ownerReferences']>[number]

  async function referenceTo(name: string): Promise<Reference> {
    const uid = (await env.get(ConfigMap, name))?.metadata.uid ?? ''
    return { apiVersion: 'v1', kind: 'ConfigMap', name, uid, blockOwnerDeletion: true }
  }

  async function add(name: string, metadata: Pick<Meta, 'ownerReferences' | 'finalizers'>): Promise<void> {
    await env.apply(ConfigMap, { metadata: { name } })
    await env.patch(ConfigMap, name, { metadata })
  }

  async function addChild(name: string, more: Pick<Meta, 'finalizers'> = {}): Promise<void> {
    await add(name, { ...more, ownerReferences: [await referenceTo('owner')] })
  }

  async function addChildren(more: Pick<Meta, 'finalizers'> = {}): Promise<void> {
    for (let i = 0; i < many; i++) await addChild(`child-${i}`, more)
    await env.settle()
  }

  /** Calls of a port since a moment that is told by their number. */
  const callsSince = (from: number, name: string): number =>
    env.calls.slice(from).filter(({ call }) => call === name).length

  it('has all of them go at once', async () => {
    await addChildren(held)
    await env.delete(ConfigMap, 'owner', { propagation: 'Foreground' })
    await env.settle()
    expect((await all()).every(({ metadata }) => metadata.deletionTimestamp !== undefined)).toBe(true)
    expect(await isThere()).toBe(true)
  })

  it('looks at few of them when one goes, and goes with the last', async () => {
    await addChildren(held)
    await env.delete(ConfigMap, 'owner', { propagation: 'Foreground' })
    await env.settle()
    const before = env.calls.length
    for (let i = 0; i < 10; i++) {
      await release(`child-${i}`)
      await env.settle()
    }
    expect(callsSince(before, 'store.get')).toBeLessThan(10 * 40)
    expect(callsSince(before, 'index.childrenOf')).toBeLessThan(10 * 5)
    for (let i = 10; i < many; i++) await release(`child-${i}`)
    await env.settle()
    expect(await all()).toEqual([])
    expect(await isThere()).toBe(false)
  })

  it('waits for the one that blocks it among many that do not, and is woken by that alone', async () => {
    const { blockOwnerDeletion: _, ...reference } = await referenceTo('owner')
    for (let i = 0; i < 50; i++) await add(`child-${i}`, { ...held, ownerReferences: [reference] })
    await addChild('blocking', held)
    await env.delete(ConfigMap, 'owner', { propagation: 'Foreground' })
    await env.settle()
    expect(await isThere()).toBe(true)
    const before = env.calls.length
    await release('child-0')
    await env.settle()
    expect(callsSince(before, 'index.childrenOf')).toBe(1)
    await release('blocking')
    await env.settle()
    expect([(await all()).length, await isThere()]).toEqual([49, false])
  })

  it.each([
    ['itself', ['owner']],
    ['each other', ['owner', 'b']],
    ['each other in a circle of three', ['owner', 'b', 'c']],
  ])('goes with all that own %s', async (_what, names) => {
    for (const name of names.slice(1)) await add(name, {})
    for (const [i, name] of names.entries())
      await env.patch(ConfigMap, name, {
        metadata: { ownerReferences: [await referenceTo(names[(i + 1) % names.length] ?? '')] },
      })
    await env.settle()
    await env.delete(ConfigMap, 'owner', { propagation: 'Foreground' })
    await env.settle()
    expect([await all(), await isThere()]).toEqual([[], false])
  })

  it('goes with the others of its circle where all are deleted at once', async () => {
    const names = ['owner', 'b', 'c']
    for (const name of names.slice(1)) await add(name, {})
    for (const [i, name] of names.entries())
      await env.patch(ConfigMap, name, {
        metadata: { ownerReferences: [await referenceTo(names[(i + 1) % names.length] ?? '')] },
      })
    await env.settle()
    await Promise.all(names.map((name) => env.delete(ConfigMap, name, { propagation: 'Foreground' })))
    await env.settle()
    expect([await all(), await isThere()]).toEqual([[], false])
  })

  it('waits for a child that was going already, though another owner has it, too', async () => {
    await add('other', {})
    await add('child', { ...held, ownerReferences: [await referenceTo('owner'), await referenceTo('other')] })
    await env.delete(ConfigMap, 'child')
    await env.delete(ConfigMap, 'owner', { propagation: 'Foreground' })
    await env.settle()
    expect(await isThere()).toBe(true)
    await release('child')
    await env.settle()
    expect(await isThere()).toBe(false)
  })

  it('writes no child that goes at once', async () => {
    await addChildren()
    const before = env.calls.length
    await env.delete(ConfigMap, 'owner', { propagation: 'Foreground' })
    await env.settle()
    expect([await all(), await isThere()]).toEqual([[], false])
    expect(callsSince(before, 'store.replace')).toBe(1)
  })

  it.each([
    ['name it no more', { ownerReferences: null }],
    ['block it no more', undefined],
  ])('goes when the children that it waits for %s', async (_what, metadata) => {
    await addChild('a', held)
    await addChild('b', held)
    const { blockOwnerDeletion: _, ...free } = await referenceTo('owner')
    await env.delete(ConfigMap, 'owner', { propagation: 'Foreground' })
    await env.settle()
    for (const name of ['a', 'b']) {
      expect(await isThere()).toBe(true)
      await env.patch(ConfigMap, name, { metadata: metadata ?? { ownerReferences: [free] } })
      await env.settle()
    }
    expect([(await all()).length, await isThere()]).toEqual([2, false])
  })

  it('waits for the children of children', async () => {
    await addChild('child')
    await add('grandchild', { ...held, ownerReferences: [await referenceTo('child')] })
    await env.delete(ConfigMap, 'owner', { propagation: 'Foreground' })
    await env.settle()
    expect(await all()).toHaveLength(2)
    expect(await isThere()).toBe(true)
    await release('grandchild')
    await env.settle()
    expect([await all(), await isThere()]).toEqual([[], false])
  })

  it('does not wait for a child of another name that has its uid', async () => {
    await add('other', {})
    const [ours, other] = [await referenceTo('owner'), await referenceTo('other')]
    await add('child', { ownerReferences: [{ ...ours, name: 'nobody' }, other] })
    await env.delete(ConfigMap, 'owner', { propagation: 'Foreground' })
    await env.settle()
    expect((await all()).map(({ metadata }) => metadata.name)).toEqual(['child', 'other'])
    expect(await isThere()).toBe(false)
  })

  it('has a child go that comes meanwhile', async () => {
    await addChild('held', held)
    await env.delete(ConfigMap, 'owner', { propagation: 'Foreground' })
    await env.settle()
    await addChild('late')
    await env.settle()
    expect((await all()).map(({ metadata }) => metadata.name)).toEqual(['held'])
  })

  describe('that is deleted once more', () => {
    const ask = async (...propagations: readonly NonNullable<DeleteOptions['propagation']>[]): Promise<void> => {
      for (const propagation of propagations) {
        await env.delete(ConfigMap, 'owner', { propagation })
        await env.settle()
      }
    }
    const holdOwner = (): Promise<unknown> => env.patch(ConfigMap, 'owner', { metadata: held })
    const releaseOwner = async (): Promise<boolean> => {
      await release('owner')
      await env.settle()
      return isThere()
    }
    const isGoing = async (): Promise<boolean> =>
      (await env.get(ConfigMap, 'child'))?.metadata.deletionTimestamp !== undefined

    it('leaves its children if that is asked for in time', async () => {
      await holdOwner()
      await addChild('child')
      await ask('Background', 'Orphan')
      expect((await env.get(ConfigMap, 'child'))?.metadata.ownerReferences).toBeUndefined()
      expect(await releaseOwner()).toBe(false)
      expect(await all()).toHaveLength(1)
    })

    it('waits for its children', async () => {
      await holdOwner()
      await addChild('child', held)
      await ask('Background')
      expect(await isGoing()).toBe(false)
      await ask('Foreground')
      expect(await isGoing()).toBe(true)
      await env.patch(ConfigMap, 'owner', { metadata: { finalizers: ['foregroundDeletion'] } })
      await env.settle()
      expect(await isThere()).toBe(true)
      await release('child')
      await env.settle()
      expect([await all(), await isThere()]).toEqual([[], false])
    })

    it('waits no longer', async () => {
      await addChild('child', held)
      await ask('Foreground')
      expect(await isThere()).toBe(true)
      await ask('Background')
      expect([await isThere(), await isGoing()]).toEqual([false, true])
    })
  })

  it('is not kept by a late child that another owner keeps, though it is let go behind the last look', async () => {
    await add('other', {})
    await addChild('held', held)
    await env.delete(ConfigMap, 'owner', { propagation: 'Foreground' })
    await env.settle()
    const isLetGo = ([stored]: readonly unknown[]): boolean => {
      const { name, ownerReferences } = (stored as StoredObject).object.metadata
      return name === 'late' && ownerReferences?.length === 1
    }
    env.faults.once('store.replace', { kind: 'delay', ms: 1_000 }, isLetGo)
    await add('late', { ownerReferences: [await referenceTo('owner'), await referenceTo('other')] })
    await env.settle()
    await release('held')
    await env.settle()
    expect(await isThere()).toBe(true)
    await env.advance('2s')
    expect(await isThere()).toBe(false)
    expect((await env.get(ConfigMap, 'late'))?.metadata.ownerReferences).toMatchObject([{ name: 'other' }])
  })

  describe.each(['Foreground', 'Background', 'Orphan'] as const)('%s', (propagation) => {
    const settled = async (): Promise<readonly [number, number, boolean]> => {
      const children = await all()
      const owned = children.filter(({ metadata }) => metadata.ownerReferences !== undefined)
      return [children.length, owned.length, await isThere()]
    }
    const done = propagation === 'Orphan' ? [many, 0, false] : [0, 0, false]
    const call = propagation === 'Orphan' ? 'store.replace' : 'store.remove'

    it('is done though the process ends halfway', async () => {
      await addChildren()
      let writes = 0
      await env.delete(ConfigMap, 'owner', { propagation })
      env.faults.once(call, { kind: 'crash' }, () => ++writes > many / 2)
      await env.advance('10m')
      expect(await settled()).toEqual(done)
    })

    it('is done with all but the children that cannot be written, and with those once they can', async () => {
      await addChildren()
      const isOfThem = ([stored]: readonly unknown[]): boolean =>
        /^child-\d\d$/.test((stored as StoredObject).object.metadata.name)
      const mend = env.faults.always(call, { kind: 'error', error: new Error('not this one') }, isOfThem)
      await env.delete(ConfigMap, 'owner', { propagation })
      await env.advance('1m')
      const [count, owned, isOwnerThere] = await settled()
      expect([owned, isOwnerThere]).toEqual([90, propagation !== 'Background'])
      expect(count).toBe(propagation === 'Orphan' ? many : 90)
      mend()
      await env.advance('1m')
      expect(await settled()).toEqual(done)
    })
  })
})

it.each([
  ['in the background', [], ['delete'], []],
  [
    'in the foreground',
    ['foregroundDeletion'],
    ['delete'],
    ['their owner ConfigMap owner is deleted: foregroundDeletion'],
  ],
  ['in the foreground, long ago', ['foregroundDeletion'], ['spec'], []],
] as const)('an owner that is deleted %s wakes its children as is right', async (_, finalizers, touched, reasons) => {
  const stored = await create('owner', { finalizers, deletionTimestamp: '2026-01-01T00:01:00Z' })
  const targets = await garbageRoute(opened.index).targets({ type: 'modified', touched, stored }, [])
  expect(targets.map(({ reason }) => reason)).toEqual(reasons)
})
