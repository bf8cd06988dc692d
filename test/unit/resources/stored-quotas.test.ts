import { describe, expect, it } from 'vitest'
import { OperatingError } from '../../../shared/model/errors.ts'
import { keyOf, keyText } from '../../../shared/model/object-key.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import { timestamp } from '../../../shared/model/time.ts'
import type { ObjectStore } from '../../../shared/ports/object-store.ts'
import { resourceQuotaKind } from '../../../shared/resources/quota-kind.ts'
import { createStoredQuotas } from '../../../shared/resources/stored-quotas.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'

const nowMs = 1_000_000_000
const maps = 'count/configmaps'
const configMaps = { group: '', kind: 'ConfigMap', plural: 'configmaps', namespaced: true } as ServedKind

/** A quota of ConfigMaps. Without `used` nothing was counted yet. */
function quotaOf(name: string, most: number, used?: number, namespace = 'n'): StoredObject {
  const hard = { [maps]: String(most) }
  const object = {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name, namespace, uid: name },
    spec: { hard },
    ...(used !== undefined && { status: { hard, used: { [maps]: String(used) } } }),
  }
  return { object: object as unknown as ApiObject, engine: {} }
}

function objectOf(kind: string, metadata: object = {}): StoredObject {
  const creationTimestamp = timestamp(nowMs)
  const object = { apiVersion: 'v1', kind, metadata: { name: 'c', namespace: 'n', creationTimestamp, ...metadata } }
  return { object: object as unknown as ApiObject, engine: {} }
}

function open(...quotas: readonly StoredObject[]) {
  const clock = createVirtualClock(nowMs)
  const objects = new Map(quotas.map((quota) => [keyText(keyOf(quota.object)), quota]))
  const said: string[] = []
  let version = 0
  const world = {
    clock,
    /** What was written, of which quota. */
    did: [] as string[],
    said,
    lists: 0,
    /** Quotas that are there and cannot be read. */
    damaged: [] as string[],
    /** How the next writes of a quota fail. */
    fails: [] as OperatingError[],
    /** What a write of a quota waits for. */
    gate: undefined as Promise<void> | undefined,
    /** How writes through `followed` fail. */
    failure: undefined as OperatingError | undefined,
    kinds: { ConfigMap: configMaps, Secret: { ...configMaps, plural: 'secrets', kind: 'Secret' } } as Record<
      string,
      ServedKind
    >,
    used: (name = 'q') => {
      const { status } = objects.get(keyText(keyOf(quotaOf(name, 0).object)))?.object ?? {}
      return (status?.['used'] as Record<string, string> | undefined)?.[maps]
    },
    wakeAtMs: () => objects.get(keyText(keyOf(quotaOf('q', 0).object)))?.engine.wakeAtMs,
    lose: (name: string) => objects.delete(keyText(keyOf(quotaOf(name, 0).object))),
  }
  const write = async (stored: StoredObject): Promise<StoredObject> => {
    if (world.failure !== undefined) throw world.failure
    return stored
  }
  const store = {
    get: async (key: ReturnType<typeof keyOf>) => {
      if (world.damaged.includes(key.name)) throw new OperatingError('DAMAGED', `${key.name} is damaged`)
      return objects.get(keyText(key))
    },
    list: async () => {
      world.lists++
      const damaged = world.damaged.map((name) => keyOf(quotaOf(name, 0).object))
      return { items: [...objects.values()], damaged, resourceVersion: '1', more: false }
    },
    replace: async (next: StoredObject, touched: readonly string[]) => {
      world.did.push(`${next.object.metadata.name} ${touched.join()}`)
      await world.gate
      const error = world.fails.shift()
      if (error !== undefined) throw error
      const { metadata } = next.object
      if (metadata.resourceVersion !== objects.get(keyText(keyOf(next.object)))?.object.metadata.resourceVersion)
        throw new OperatingError('VERSION_CONFLICT', 'the store has another')
      const written = {
        ...next,
        object: { ...next.object, metadata: { ...metadata, resourceVersion: String(++version) } },
      }
      objects.set(keyText(keyOf(next.object)), written)
      return written
    },
    create: write,
    remove: write,
  } as unknown as ObjectStore
  const stored = createStoredQuotas({
    store,
    catalog: { byKind: async (_group: string, kind: string) => world.kinds[kind] },
    clock,
    logger: { warn: (line: string) => void said.push(line) } as never,
    maxAgeMs: Infinity,
  })
  const reserve = (name = 'c', dryRun = false, kind = configMaps) =>
    stored.reserve(kind, objectOf(kind.kind, { name }).object, dryRun)
  return { ...world, world, reserve, followed: stored.follow(store) }
}

const full = (quota: string, count = 1) =>
  `configmaps "c" is forbidden: exceeded quota: ${quota}, requested: ${maps}=1, used: ${maps}=${count}, limited: ${maps}=${count}`

async function endOf(reservation: unknown): Promise<string> {
  try {
    await reservation
    return 'reserved'
  } catch (error) {
    return error instanceof OperatingError ? `${error.code}: ${error.message}` : String(error)
  }
}

describe('room for an object', () => {
  it('that is damaged is not passed over: nothing is made where it holds', async () => {
    const { world, reserve } = open()
    world.damaged.push('q')
    expect(await endOf(reserve())).toContain('q is damaged')
  })

  it('is not asked for where no quota is, and at once from the second time on', async () => {
    const { world, reserve } = open(quotaOf('q', 1, 1, 'other'))
    expect(await reserve()).toBeUndefined()
    expect(reserve()).toBeUndefined()
    expect([world.lists, world.did]).toEqual([1, []])
  })

  it('is reserved in each quota', async () => {
    const { world, reserve, used } = open(quotaOf('b', 2, 1), quotaOf('a', 9, 4), quotaOf('other', 2, 1, 'other'))
    await reserve()
    expect([world.did, used('a'), used('b')]).toEqual([['a status,engine', 'b status,engine'], '5', '2'])
    await expect(reserve()).rejects.toMatchObject({ code: 'FORBIDDEN', message: full('b', 2) })
  })

  it('is noted by the engine alone until the quota is counted', async () => {
    const { world, reserve } = open(quotaOf('q', 1))
    await reserve()
    expect(world.did).toEqual(['q engine'])
  })

  it('is given back by the quotas before the one that has none', async () => {
    const { world, reserve, used } = open(quotaOf('a', 2, 1), quotaOf('b', 1, 1), quotaOf('c', 2, 1))
    await expect(reserve()).rejects.toThrow(full('b'))
    expect([world.did, used('a'), used('c')]).toEqual([['a status,engine', 'a status,engine'], '1', '1'])
  })

  it('is given back by the quotas before one that cannot be asked', async () => {
    const { world, reserve, used } = open(quotaOf('a', 2, 1), quotaOf('b', 2, 1))
    await reserve()
    expect([used('a'), used('b')]).toEqual(['2', '2'])
    const again = open(quotaOf('a', 2, 1), quotaOf('b', 2, 1))
    await again.reserve('c', true)
    again.world.damaged.push('b')
    expect(await endOf(again.reserve())).toContain('b is damaged')
    expect([again.used('a'), again.world.did]).toEqual(['1', ['a status,engine', 'a status,engine']])
    expect(world.did).toHaveLength(2)
  })

  it('is nothing that a quota says which is gone by now', async () => {
    const { world, reserve, lose } = open(quotaOf('q', 0, 0))
    await expect(reserve()).rejects.toThrow(full('q', 0))
    lose('q')
    expect(await reserve()).toBeDefined()
    expect(await reserve('c', true)).toBeDefined()
    expect(world.did).toEqual([])
  })

  it('is looked for in each quota by a dry run, which writes nothing', async () => {
    const { world, reserve, lose } = open(quotaOf('a', 2, 1), quotaOf('b', 1, 1), quotaOf('c', 2, 1))
    await expect(reserve('c', true)).rejects.toThrow(full('b'))
    lose('b')
    expect(await reserve('c', true)).toBeDefined()
    expect(world.did).toEqual([])
  })

  it('is reserved together for those that come while one is written', async () => {
    const { world, reserve, used } = open(quotaOf('q', 4, 1))
    await expect(reserve('c', true)).resolves.toBeDefined()
    const gate = Promise.withResolvers<void>()
    world.gate = gate.promise
    const all = Array.from({ length: 5 }, () => Promise.resolve(reserve()))
    gate.resolve()
    const ends = await Promise.allSettled(all)
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'rejected'])
    expect([world.did, used()]).toEqual([['q status,engine', 'q status,engine'], '4'])
  })

  it.each([
    [9, 'reserved'],
    [10, 'THROTTLED: the ResourceQuota q is changed by too many at once: try again'],
  ])('after %d writers that were ahead is %s', async (writers, end) => {
    const { world, reserve } = open(quotaOf('q', 4, 1))
    world.fails.push(...Array.from({ length: writers }, () => new OperatingError('VERSION_CONFLICT', 'no')))
    expect([await endOf(reserve()), world.did.length]).toEqual([end, 10])
  })

  it('is told of a failure, and the next one is asked anew', async () => {
    const { world, reserve, used } = open(quotaOf('q', 4, 1))
    world.fails.push(new OperatingError('UNAVAILABLE', 'away'))
    await expect(reserve()).rejects.toMatchObject({ code: 'UNAVAILABLE', message: 'away' })
    await reserve()
    expect(used()).toBe('2')
  })

  it.each([
    [19, resourceQuotaKind, 'reserved'],
    [20, resourceQuotaKind, 'FORBIDDEN: resourcequotas "c" is forbidden: a namespace has 20 ResourceQuotas at most'],
    [20, configMaps, 'reserved'],
  ])('with %d quotas for another $1.kind', async (count, kind, end) => {
    const { reserve } = open(...Array.from({ length: count }, (_, i) => quotaOf(`q${i}`, 1, 0)))
    expect(await endOf(reserve('c', false, kind))).toBe(end)
  })
})

describe('what was reserved', () => {
  it('is given back at once while it is young', async () => {
    const { world, reserve, used } = open(quotaOf('q', 4, 1))
    const reservation = await reserve()
    await world.clock.advance(119_000)
    await reservation?.cancel()
    expect([world.did, used()]).toEqual([['q status,engine', 'q status,engine'], '1'])
  })

  it('is left to a count when it is old, which is asked for once', async () => {
    const { world, reserve, used, wakeAtMs } = open(quotaOf('q', 4, 1))
    const reservation = await reserve()
    await world.clock.advance(120_000)
    await reservation?.cancel()
    expect([world.did, used(), wakeAtMs()]).toEqual([['q status,engine', 'q engine,timer'], '2', nowMs + 120_000])
    await reservation?.cancel()
    expect(world.did).toHaveLength(2)
  })

  it('is tried to be given back again where another writer was ahead', async () => {
    const { world, reserve, used } = open(quotaOf('q', 4, 1))
    const reservation = await reserve()
    world.fails.push(new OperatingError('VERSION_CONFLICT', 'no'))
    await reservation?.cancel()
    expect([world.did.length, used()]).toEqual([3, '1'])
  })
})

describe('what was reserved and cannot be given back', () => {
  it('is said, and hides no other failure', async () => {
    const { world, reserve, used } = open(quotaOf('q', 4, 1))
    const reservation = await reserve()
    world.fails.push(new OperatingError('UNAVAILABLE', 'away'))
    await reservation?.cancel()
    expect([used(), world.said]).toEqual([
      '2',
      ['a reservation stays in the quotas of its namespace until the next count'],
    ])
  })
})

describe('a removal', () => {
  const old = { creationTimestamp: timestamp(nowMs - 3_600_000) }

  it.each<[string, StoredObject, readonly string[]]>([
    ['of what was reserved is taken off', objectOf('ConfigMap'), ['q status,engine']],
    ['of what is old asks for a count', objectOf('ConfigMap', old), ['q engine,timer']],
    [
      'of what is young, and was not reserved, asks, too',
      objectOf('ConfigMap', { creationTimestamp: timestamp(nowMs - 5_000) }),
      ['q engine,timer'],
    ],
    ['of what the quota does not limit is nothing', objectOf('Secret'), []],
    ['of what is old, and the quota does not limit, is nothing', objectOf('Secret', old), []],
    ['of a kind that is not defined any more is nothing', objectOf('Thing'), []],
    ['in another namespace is nothing', objectOf('ConfigMap', { namespace: 'other' }), []],
    ['of what is in no namespace is nothing', objectOf('ConfigMap', { namespace: undefined }), []],
  ])('%s', async (_what, removed, did) => {
    const { world, reserve, followed, lose } = open(quotaOf('q', 4, 1), quotaOf('gone', 4, 1))
    await reserve()
    lose('gone')
    world.did.splice(0)
    expect(await followed.remove(removed)).toBe(removed)
    expect([world.did, world.said]).toEqual([did, []])
  })

  it('is taken off together with those that come at the same time, of which none is too many', async () => {
    const { world, reserve, followed, used } = open(quotaOf('q', 60, 0))
    const names = Array.from({ length: 50 }, (_, i) => `c${i}`)
    await Promise.all(names.map(async (name) => reserve(name)))
    expect(used()).toBe('50')
    world.did.splice(0)
    const removed = [...names.map((name) => objectOf('ConfigMap', { name })), objectOf('ConfigMap', old)]
    await Promise.all(removed.map((stored) => followed.remove(stored)))
    expect([used(), world.said]).toEqual(['0', []])
    expect(world.did).toEqual(['q status,engine', 'q status,engine,timer'])
  })

  it('is taken off each quota, whatever becomes of the others', async () => {
    const { world, reserve, followed, used } = open(quotaOf('a', 4, 1), quotaOf('q', 4, 1))
    await reserve()
    world.fails.push(new OperatingError('UNAVAILABLE', 'away'))
    await followed.remove(objectOf('ConfigMap'))
    expect([used('a'), used('q'), world.said.length]).toEqual(['2', '1', 1])
  })

  it('reads which quotas there are, if nobody has', async () => {
    const { world, followed } = open(quotaOf('q', 4, 1))
    await followed.remove(objectOf('ConfigMap', old))
    expect([world.did, world.lists]).toEqual([['q engine,timer'], 1])
  })

  it('of what is in no namespace reads nothing', async () => {
    const { world, followed } = open(quotaOf('q', 4, 1))
    await followed.remove(objectOf('ConfigMap', { namespace: undefined }))
    expect(world.lists).toBe(0)
  })

  it('that cannot be noted is a removal all the same, and said', async () => {
    const { world, followed } = open(quotaOf('q', 4, 1))
    world.fails.push(new OperatingError('UNAVAILABLE', 'away'))
    await followed.remove(objectOf('ConfigMap', old))
    expect(world.said).toEqual(['a removal is not noted in the quotas of its namespace until the next count'])
  })
})

describe('which quotas there are is read again', () => {
  const quota = objectOf('ResourceQuota')
  const foreign = { ...quota, object: { ...quota.object, apiVersion: 'example.com/v1' } }

  it.each([
    ['when one is made', 'create', quota, 2],
    ['when one goes', 'remove', quota, 2],
    ['not for another kind of the name', 'create', foreign, 1],
    ['not when one of another kind of the name goes', 'remove', foreign, 1],
    ['not for another kind', 'create', objectOf('ConfigMap'), 1],
    ['not when another kind goes', 'remove', objectOf('Thing'), 1],
  ] as const)('%s', async (_what, write, stored, lists) => {
    for (const failure of [undefined, new OperatingError('WRITE_UNKNOWN', 'lost')]) {
      const { world, reserve, followed } = open(quotaOf('q', 4, 1))
      await reserve('c', true)
      world.failure = failure
      const end = await followed[write](stored).catch((error: unknown) => error)
      expect(end).toBe(failure ?? stored)
      await reserve('c', true)
      expect(world.lists).toBe(lists)
    }
  })
})
