import { describe, expect, it } from 'vitest'
import { hasCode } from '../../shared/model/errors.ts'
import type { JsonObject } from '../../shared/model/json.ts'
import type { Touched } from '../../shared/model/stored-object.ts'
import type { ServedKind } from '../../shared/model/served-kind.ts'
import type { ObjectStore } from '../../shared/ports/object-store.ts'
import { createQuotaUsage } from '../../shared/engine/loops/quota-usage.ts'
import type { Turn } from '../../shared/engine/state/turn.ts'
import { createJsonLogger } from '../../shared/adapters/node/json-logger.ts'
import { systemClock } from '../../shared/adapters/node/system-clock.ts'
import { systemRandom } from '../../shared/adapters/node/system-random.ts'
import { builtInKinds, namespaceKind } from '../../shared/resources/built-in-kinds.ts'
import { createResources } from '../../shared/resources/create-resources.ts'
import { resourceQuotaKind } from '../../shared/resources/quota-kind.ts'
import type { Resources } from '../../shared/resources/resources.ts'
import { createKindCatalog } from '../../shared/resources/store-kind-catalog.ts'
import { createStoredQuotas } from '../../shared/resources/stored-quotas.ts'

const configMapKind = builtInKinds.find(({ kind }) => kind === 'ConfigMap') as ServedKind
const silent = createJsonLogger({ write: () => {}, clock: systemClock, level: 'error' })
const by = { manager: 'test' } as const

/** What quotas promise over a store that several processes share. */
export function quotasContract(adapter: string, open: () => Promise<{ store: ObjectStore; close(): void }>): void {
  describe(`quotas: ${adapter}`, () => {
    it('processes that create at once make no more than may be, and a removal makes room', async () => {
      const { store, close } = await open()
      const plane = openPlane(store)
      await plane.begin({ 'count/configmaps': '7', secrets: '1' })
      const processes = [plane.process(), plane.process(), plane.process()]
      const names = Array.from({ length: 30 }, (_, i) => `m${i}`)
      const made = await Promise.all(names.map((name, i) => createMap(processes[i % 3] as Resources, name)))
      expect(made.filter((outcome) => outcome === 'created')).toHaveLength(7)
      const refusals = new Set(made.filter((outcome) => outcome !== 'created' && outcome !== 'throttled'))
      expect([...refusals].map((text) => text.replace(/"m\d+"/, '"m"'))).toContain(
        'configmaps "m" is forbidden: exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=7, limited: count/configmaps=7',
      )
      expect(await plane.used()).toEqual({ 'count/configmaps': '7', secrets: '0' })

      const [first, second] = processes as [Resources, Resources]
      const kept = names.find((_, i) => made[i] === 'created') as string
      await first.delete(configMapKind, { namespace: 'n', name: kept })
      expect(await plane.used()).toEqual({ 'count/configmaps': '6', secrets: '0' })
      expect(await createMap(second, kept)).toBe('created')
      expect(await createMap(second, kept)).toMatch('exceeded quota')
      await plane.count()
      expect(await plane.used()).toEqual({ 'count/configmaps': '7', secrets: '0' })
      close()
    })

    it('a creation that fails leaves nothing reserved, nor does a dry run; a second quota gives back what the first took', async () => {
      const { store, close } = await open()
      const plane = openPlane(store)
      await plane.begin({ 'count/configmaps': '7' })
      const resources = plane.process()
      expect(await createMap(resources, 'a')).toBe('created')
      expect(await createMap(resources, 'a')).toBe('configmaps "a" already exists')
      await resources.create(configMapKind, mapBody('b'), { ...by, dryRun: true })
      expect(await plane.used()).toEqual({ 'count/configmaps': '1' })
      await resources.create(resourceQuotaKind, quotaBody('r', { configmaps: '1' }), by)
      await plane.count('r')
      expect(await createMap(resources, 'c')).toMatch('exceeded quota: r, requested: configmaps=1')
      await expect(resources.create(configMapKind, mapBody('c'), { ...by, dryRun: true })).rejects.toThrow('quota: r')
      expect([await plane.used(), await plane.used('r')]).toEqual([{ 'count/configmaps': '1' }, { configmaps: '1' }])
      close()
    })

    // Seed 138 of the simulator: it was told as a change of the status, which nobody had changed.
    it('what is reserved before the first count changes no status', async () => {
      const { store, close } = await open()
      const { told, followed } = tellTouched(store)
      const plane = openPlane(followed)
      const resources = plane.process()
      await resources.create(namespaceKind, { metadata: { name: 'n' } }, by)
      await resources.create(resourceQuotaKind, quotaBody('q', { configmaps: '7' }), by)
      expect(await createMap(resources, 'a')).toBe('created')
      expect(told).toEqual([['engine']])
      close()
    })

    // Seed 255 of the simulator: on AWS the relay is not told of what touches the notes of the engine only.
    it('the removal of what is old asks for a count, of which the relay is told', async () => {
      const { store, close } = await open()
      const { told, followed } = tellTouched(store)
      const plane = openPlane(followed)
      await plane.begin({ configmaps: '7' })
      const metadata = { ...mapBody('old').metadata, uid: 'u', resourceVersion: '', generation: 1 }
      const creationTimestamp = '2026-01-01T00:00:00Z'
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...metadata, creationTimestamp } }
      await store.create({ object, engine: {} })
      await plane.count()
      told.length = 0
      await plane.process().delete(configMapKind, { namespace: 'n', name: 'old' })
      expect(told).toEqual([['engine', 'timer']])
      close()
    })

    // Local seed 30100849 of the simulator: it was counted anew every 45 seconds, until the clock had caught up.
    it('a quota that a clock made that was ahead is at rest once it is counted', async () => {
      const { store, close } = await open()
      const plane = openPlane(store)
      await plane.process().create(namespaceKind, { metadata: { name: 'n' } }, by)
      const metadata = { name: 'q', namespace: 'n', uid: 'u', resourceVersion: '', generation: 1 }
      const creationTimestamp = new Date(systemClock.nowMs() + 600_000).toISOString()
      const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { ...metadata, creationTimestamp } }
      await store.create({ object: { ...quota, spec: { hard: { configmaps: '7' } } }, engine: {} })
      await plane.count()
      const counted = await store.get({ group: '', kind: 'ResourceQuota', namespace: 'n', name: 'q' })
      expect(counted).toMatchObject({ object: { status: { used: { configmaps: '0' } } }, engine: {} })
      expect(counted?.engine.hold).toBeUndefined()
      close()
    })
  })
}

function openPlane(store: ObjectStore) {
  const catalog = createKindCatalog({ store, clock: systemClock, maxAgeMs: Infinity })
  const count = createQuotaUsage({ store, catalog, clock: systemClock, lagMs: 0 })
  const process = (): Resources => {
    const quotas = createStoredQuotas({ store, catalog, clock: systemClock, logger: silent, maxAgeMs: Infinity })
    return createResources({ store: quotas.follow(store), clock: systemClock, random: systemRandom, quotas })
  }
  const countNow = async (name = 'q'): Promise<void> => {
    const key = { group: '', kind: 'ResourceQuota', namespace: 'n', name }
    await count(
      { key, handle: 'h', hold: async () => {}, settle: async () => {} } as unknown as Turn,
      new AbortController().signal,
    )
  }
  return {
    process,
    count: countNow,
    begin: async (hard: JsonObject) => {
      const first = process()
      await first.create(namespaceKind, { metadata: { name: 'n' } }, by)
      await first.create(resourceQuotaKind, quotaBody('q', hard), by)
      await countNow()
    },
    used: async (name = 'q') =>
      (await process().get(resourceQuotaKind, { namespace: 'n', name })).object.status?.['used'],
  }
}

/** The store, and what its writes have touched. */
function tellTouched(store: ObjectStore): { readonly told: Touched[]; readonly followed: ObjectStore } {
  const told: Touched[] = []
  const replace: ObjectStore['replace'] = (stored, touched) => {
    told.push(touched)
    return store.replace(stored, touched)
  }
  return { told, followed: { ...store, replace } }
}

function quotaBody(name: string, hard: JsonObject): JsonObject {
  return { metadata: { name, namespace: 'n' }, spec: { hard } }
}

function mapBody(name: string) {
  return { metadata: { name, namespace: 'n' } }
}

async function createMap(resources: Resources, name: string): Promise<string> {
  try {
    await resources.create(configMapKind, mapBody(name), by)
    return 'created'
  } catch (error) {
    return hasCode(error, 'THROTTLED') ? 'throttled' : (error as Error).message
  }
}
