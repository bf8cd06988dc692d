import { describe, expect, it } from 'vitest'
import { RunTimes } from '../../../../shared/engine/turn/run-times.ts'
import { RunVerbs } from '../../../../shared/engine/turn/run-verbs.ts'
import { ConfigMap, Secret, type Kind } from '../../../../shared/index.ts'
import { OperatingError } from '../../../../shared/model/errors.ts'
import type { JsonObject } from '../../../../shared/model/json.ts'
import type { ApiObject } from '../../../../shared/model/object.ts'
import type { ServedKind } from '../../../../shared/model/served-kind.ts'
import type { ObjectIndex } from '../../../../shared/ports/object-index.ts'
import type { ObjectStore } from '../../../../shared/ports/object-store.ts'
import type { Rights } from '../../../../shared/reconciler/rights.ts'
import type { KindCatalog } from '../../../../shared/resources/kind-catalog.ts'
import type { DeleteOptions, Resources } from '../../../../shared/resources/resources.ts'
import { expectCode } from '../../../support/expect-code.ts'
import { storedWidget } from '../../../support/stored-object.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

type AnyKind = Kind
const plain = ConfigMap as unknown as AnyKind
const secret = Secret as unknown as AnyKind
const cluster = { group: 'x.dev', version: 'v1', kind: 'Zone', namespaced: false } as AnyKind
const own = { ...plain, group: 'example.com', kind: 'Widget' } as AnyKind
const readOnly = { group: 'x.dev', version: 'v1', kind: 'Book', namespaced: true } as AnyKind
const unserved = { group: '', version: 'v1', kind: 'Ghost', namespaced: true } as AnyKind
const served = (kind: AnyKind, more: Partial<ServedKind> = {}): ServedKind =>
  ({ ...kind, storageVersion: kind.version, builtIn: true, ...more }) as unknown as ServedKind
const kinds = [served(plain), served(secret, { isConfidential: true }), served(cluster), served(own), served(readOnly)]
const rights: Rights = new Map(
  (
    [
      [plain, 'write'],
      [secret, 'write'],
      [cluster, 'write'],
      [own, 'write'],
      [unserved, 'write'],
      [readOnly, 'read'],
    ] as const
  ).map(([kind, access]) => [`${kind.group}/${kind.kind}`, { kind, access }]),
)
const owner = storedWidget('w').object
const { namespace: _, ...bareMetadata } = owner.metadata
const clusterOwner: ApiObject = { ...owner, metadata: bareMetadata }

interface World {
  readonly object?: ApiObject
  /** What is there, by name. */
  readonly there?: Readonly<Record<string, ApiObject>>
  readonly children?: readonly string[]
  readonly damaged?: boolean
  readonly gone?: boolean
  readonly inVersion?: ServedKind
}

/** The verbs of a run, what they ask for, and which Secrets the run has met. */
function verbsIn({
  object: reconciled = owner,
  there = {},
  children = [],
  damaged = false,
  gone = true,
  inVersion,
}: World = {}) {
  const calls: unknown[][] = []
  const secrets: JsonObject[] = []
  const ages: (number | undefined)[] = []
  const live = there
  const find = (name: string): ApiObject => {
    const found = live[name]
    if (found === undefined) throw new OperatingError('NOT_FOUND', 'it is not there')
    return found
  }
  const written = (body: JsonObject) => {
    const metadata = { namespace: 'default', ...(body['metadata'] as object) }
    const object = { apiVersion: 'v1', kind: 'ConfigMap', ...body, metadata } as unknown as ApiObject
    return { stored: { object, engine: {} }, outcome: 'created' }
  }
  const resources = {
    get: async (_kind: ServedKind, at: { readonly name: string }) => {
      calls.push(['get', at])
      return { object: find(at.name), engine: {} }
    },
    list: async (_kind: ServedKind, { selector, ...how }: { readonly selector: (one: ApiObject) => boolean }) => {
      calls.push(['list', how])
      const items = Object.values(live)
        .filter(selector)
        .map((one) => ({ object: one, engine: {} }))
      return { items, resourceVersion: '1', ...(damaged && { damaged: [{ key: 'k', message: 'm' }] }) }
    },
    patch: async (
      _kind: ServedKind,
      at: object,
      patch: { readonly type: string; readonly body: JsonObject },
      how: object,
    ) => {
      calls.push(['patch', at, patch, how])
      return written(patch.body)
    },
    create: async (_kind: ServedKind, body: JsonObject, how: object) => {
      calls.push(['create', body, how])
      return written(body)
    },
    delete: async (
      _kind: ServedKind,
      at: { readonly name: string },
      { manager, preconditions: { uid } = {} }: DeleteOptions,
    ) => {
      calls.push(['delete', at, manager])
      if (uid !== undefined && find(at.name).metadata.uid !== uid)
        throw new OperatingError('VERSION_CONFLICT', 'another')
      return { stored: { object: find(at.name), engine: {} }, gone }
    },
  } as unknown as Resources
  const catalog = {
    byKind: async (group: string, kind: string, oldestMs?: number) => {
      ages.push(oldestMs)
      return kinds.find((one) => one.group === group && one.kind === kind)
    },
    inVersion: async () => inVersion,
  } as unknown as KindCatalog
  const index = {
    childrenOf: async () => children.map((name) => ({ group: '', kind: 'ConfigMap', namespace: 'default', name })),
  } as unknown as ObjectIndex
  const store = {
    get: async ({ name }: { readonly name: string }) => live[name] && { object: live[name], engine: {} },
  } as unknown as ObjectStore
  const times = new RunTimes(60_000, createVirtualClock(0))
  const stop = new AbortController()
  const time = times.begin(stop.signal)
  const seen = { resources, secrets: undefined, noteSecret: (one: JsonObject) => void secrets.push(one) }
  const verbs = new RunVerbs({
    manager: 'widget',
    rights,
    object: reconciled,
    engine: { catalog, index, store },
    seen,
    time,
  })
  return { verbs, calls, secrets, ages, end: () => times.end(time), stop }
}

function named(name: string, more: JsonObject = {}, metadata: object = {}): ApiObject {
  const { object } = storedWidget(name, metadata)
  return { ...object, apiVersion: 'v1', kind: 'ConfigMap', ...more }
}

describe('get', () => {
  const there = { a: named('a', { data: { k: 'v' } }) }

  it('reads what is there as a copy of its own, and nothing where there is none', async () => {
    const { verbs, calls } = verbsIn({ there })
    const read = await verbs.get(plain, 'a')
    expect(read).toEqual(there.a)
    expect(read).not.toBe(there.a)
    expect(await verbs.get(plain, 'b')).toBeUndefined()
    expect(calls).toEqual([
      ['get', { namespace: 'default', name: 'a' }],
      ['get', { namespace: 'default', name: 'b' }],
    ])
  })

  it('reads where it is told to, or in the namespace of its object, or in none', async () => {
    const { verbs, calls } = verbsIn({ there })
    await verbs.get(plain, { name: 'a', namespace: 'other' })
    expect(calls).toEqual([['get', { namespace: 'other', name: 'a' }]])
    // As the types let it be said, where they are not exact about what is left out.
    await verbs.get(plain, { name: 'a', namespace: undefined } as never)
    expect(calls.at(-1)).toEqual(['get', { namespace: 'default', name: 'a' }])
    const { verbs: bare, calls: asked } = verbsIn({ there, object: clusterOwner })
    await bare.get(plain, 'a')
    expect(asked).toEqual([['get', { namespace: '', name: 'a' }]])
  })

  it('reads once what may be from before, found or not', async () => {
    const { verbs, calls } = verbsIn({ there })
    for (const name of ['a', 'a', 'b', 'b']) await verbs.get(plain, name, { cached: true })
    expect(calls.map(([, at]) => at)).toEqual([
      { namespace: 'default', name: 'a' },
      { namespace: 'default', name: 'b' },
    ])
    await verbs.get(plain, 'a')
    expect(calls).toHaveLength(3)
  })

  it('knows from before what was written or deleted', async () => {
    const { verbs, calls } = verbsIn({ there })
    const applied = await verbs.apply(plain, { metadata: { name: 'c' }, data: { k: 'w' } }, { owned: false })
    await verbs.delete(plain, 'a')
    calls.length = 0
    expect(await verbs.get(plain, 'a', { cached: true })).toBeUndefined()
    expect(verbs.outcomeOf(applied)).toBe('created')
    expect(verbs.outcomeOf({})).toBeUndefined()
    expect(calls).toEqual([])
  })
})

describe('list', () => {
  const there = {
    a: named('a', {}, { labels: { app: 'x', tier: '1' } }),
    b: named('b', {}, { labels: { app: 'x' } }),
    c: named('c'),
  }
  it.each([
    [{}, ['a', 'b', 'c']],
    [{ app: 'x' }, ['a', 'b']],
    [{ app: 'x', tier: '1' }, ['a']],
    [{ app: 'y' }, []],
  ])('by labels %j: %j', async (labels, names) => {
    const { verbs } = verbsIn({ there })
    expect((await verbs.list(plain, { labels })).map(({ metadata }) => metadata.name)).toEqual(names)
  })

  it.each([
    [owner, {}, { namespace: 'default' }],
    [owner, { namespace: 'other' }, { namespace: 'other' }],
    [owner, { namespace: '' }, {}],
    [clusterOwner, {}, {}],
  ])('is of the namespace of its object, of another, or of all', async (...[object, options, how]) => {
    const { verbs, calls } = verbsIn({ object })
    await verbs.list(plain, options)
    expect(calls).toEqual([['list', how]])
  })

  it('is refused where an object of it cannot be read', async () => {
    await expect(verbsIn({ there, damaged: true }).verbs.list(plain)).rejects.toThrow('cannot be read')
  })
})

it('children are read as copies', async () => {
  const reference = {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    name: 'w',
    uid: owner.metadata.uid,
    controller: true,
  }
  const there = { a: named('a', {}, { ownerReferences: [reference] }) }
  const { verbs } = verbsIn({ there, children: ['a'] })
  const [child] = await verbs.children(plain)
  expect(child).toEqual(there.a)
  expect(child).not.toBe(there.a)
})

describe('a write', () => {
  const write = { manager: 'widget', fieldValidation: 'Strict' }
  const body = { metadata: { name: 'a' }, data: { k: 'v' } }

  it('by apply owns what it makes, by force, and is checked', async () => {
    const { verbs, calls } = verbsIn()
    await verbs.apply(plain, body)
    expect(calls).toMatchObject([
      [
        'patch',
        { namespace: 'default', name: 'a' },
        {
          type: 'apply',
          force: true,
          body: { metadata: { name: 'a', ownerReferences: [{ uid: owner.metadata.uid }] } },
        },
        { ...write, check: expect.any(Function) as unknown },
      ],
    ])
    const [how = {}] = calls.map((call) => call[3] as { readonly check?: (live: ApiObject) => void })
    const others = { apiVersion: 'example.com/v1', kind: 'Widget', name: 'v', uid: 'v', controller: true }
    expect(() => how.check?.(named('a', {}, { ownerReferences: [others] }))).toThrow('is a child of')
  })

  it.each([
    ['that is not to be owned', plain, body, { owned: false }],
    ['of the object itself', own, { metadata: { name: 'w' } }, {}],
  ])('by apply %s names no owner', async (_what, kind, applied, options) => {
    const { verbs, calls } = verbsIn()
    await verbs.apply(kind, applied, options)
    expect(calls[0]?.[3]).toEqual(write)
    expect(calls[0]?.[2]).toMatchObject({ body: applied })
    expect(JSON.stringify(calls)).not.toContain('ownerReferences')
  })

  it.each(['apply', 'create'] as const)('by %s of what is in no namespace has no owner in one', async (verb) => {
    const { verbs, calls } = verbsIn()
    const zone = { metadata: { name: 'z' } }
    await expect(verbs[verb](cluster, zone)).rejects.toThrow('cannot own z outside its namespace')
    expect(calls).toEqual([])
    const bare = verbsIn({ object: clusterOwner })
    await bare.verbs[verb](cluster, zone)
    expect(JSON.stringify(bare.calls)).toContain('ownerReferences')
  })

  it('by create names its owner, and its namespace where the kind has one', async () => {
    const { verbs, calls } = verbsIn()
    await verbs.create(plain, body)
    expect(calls[0]).toMatchObject([
      'create',
      { metadata: { namespace: 'default', name: 'a', ownerReferences: [{}] } },
      write,
    ])
    const { verbs: bare, calls: asked } = verbsIn({ object: clusterOwner })
    await bare.create(cluster, { metadata: { name: 'z' } }, { owned: false })
    expect(asked).toEqual([['create', { metadata: { name: 'z' } }, write]])
    await bare.create(plain, { metadata: { name: 'a', namespace: 'other' } }, { owned: false })
    expect(asked[1]?.[1]).toEqual({ metadata: { name: 'a', namespace: 'other' } })
  })

  it('by patch merges, the status too', async () => {
    const { verbs, calls } = verbsIn()
    await verbs.patch(plain, 'a', { status: { a: 1 }, metadata: { name: 'a' } }, { subresource: 'status' })
    expect(calls).toEqual([
      [
        'patch',
        { namespace: 'default', name: 'a' },
        { type: 'merge', body: { status: { a: 1 }, metadata: { name: 'a' } } },
        { ...write, subresource: 'status' },
      ],
    ])
  })

  it('is a copy: its author may go on changing their own', async () => {
    const { verbs, calls } = verbsIn()
    const mine = { metadata: { name: 'a' }, data: { k: 'v' } }
    await verbs.patch(plain, 'a', mine)
    mine.data.k = 'w'
    expect(calls[0]?.[2]).toMatchObject({ body: { data: { k: 'v' } } })
  })

  it('of what is no JSON is refused, by name', async () => {
    const { verbs, calls } = verbsIn()
    const when = verbs.patch(plain, 'a', { data: { at: new Date(0) } } as never)
    await expect(when).rejects.toThrow('ConfigMap a cannot be written')
    expect(calls).toEqual([])
  })

  it('by delete says whether there was anything', async () => {
    const there = { a: named('a') }
    const { verbs, calls } = verbsIn({ there })
    expect([await verbs.delete(plain, 'a'), await verbs.delete(plain, 'b')]).toEqual([true, false])
    expect(calls[0]).toEqual(['delete', { namespace: 'default', name: 'a' }, 'widget'])
    const going = verbsIn({ there, gone: false })
    await going.verbs.delete(plain, 'a')
    expect(await going.verbs.get(plain, 'a', { cached: true })).toEqual(there.a)
  })

  it('by delete with a uid leaves another object of the name', async () => {
    const { verbs } = verbsIn({ there: { a: named('a') } })
    const { uid } = named('a').metadata
    const names = [
      { name: 'a', uid: 'u-before' },
      { name: 'a', uid },
      { name: 'b', uid },
    ]
    expect(await Promise.all(names.map((at) => verbs.delete(plain, at)))).toEqual([false, true, false])
  })
})

describe('what a Secret holds', () => {
  it.each([
    ['get', (verbs: RunVerbs, kind: AnyKind) => verbs.get(kind, 'a'), 1],
    ['list', (verbs: RunVerbs, kind: AnyKind) => verbs.list(kind), 1],
    ['delete', (verbs: RunVerbs, kind: AnyKind) => verbs.delete(kind, 'a'), 1],
    ['apply', (verbs: RunVerbs, kind: AnyKind) => verbs.apply(kind, { metadata: { name: 'a' } }, { owned: false }), 2],
    ['patch', (verbs: RunVerbs, kind: AnyKind) => verbs.patch(kind, 'a', { metadata: { name: 'a' } }), 2],
  ])('is noted by %s, and of no other kind', async (_verb, call, times) => {
    for (const [kind, count] of [
      [secret, times],
      [plain, 0],
    ] as const) {
      const { verbs, secrets } = verbsIn({ there: { a: named('a') } })
      await call(verbs, kind)
      expect(secrets).toHaveLength(count)
    }
  })
})

describe('a verb', () => {
  it('needs its right', async () => {
    const { verbs, calls } = verbsIn({ there: { a: named('a') } })
    await verbs.get(readOnly, 'a')
    await expectCode(verbs.patch(readOnly, 'a', {}), 'FORBIDDEN')
    await expectCode(verbs.get({ ...plain, kind: 'Other' }, 'a'), 'FORBIDDEN')
    expect(calls).toHaveLength(1)
  })

  it('needs a kind that is served, and says which is not', async () => {
    await expect(verbsIn().verbs.get(unserved, 'a')).rejects.toThrow('no kind Ghost in group core is served')
  })

  it.each<[string, (verbs: RunVerbs) => Promise<unknown>, number | undefined]>([
    ['get', (verbs) => verbs.get(plain, 'a'), undefined],
    ['list', (verbs) => verbs.list(plain), undefined],
    ['children', (verbs) => verbs.children(plain), undefined],
    ['apply', (verbs) => verbs.apply(plain, { metadata: { name: 'a' } }), 10_000],
    ['create', (verbs) => verbs.create(plain, { metadata: { name: 'a' } }), 10_000],
    ['patch', (verbs) => verbs.patch(plain, 'a', {}), 10_000],
    ['delete', (verbs) => verbs.delete(plain, 'a'), 10_000],
  ])('%s goes by a definition of any age if it reads, and by a new one if it writes', async (_verb, call, oldestMs) => {
    const { verbs, ages } = verbsIn({ there: { a: named('a') } })
    await call(verbs)
    expect(ages).toEqual([oldestMs])
  })

  it('is of the version that was asked for, or else of the one that is served', async () => {
    const older = { ...plain, version: 'v0' } as AnyKind
    const inVersion = served(older, { isConfidential: true })
    const there = { a: named('a') }
    const asked = verbsIn({ there, inVersion })
    await asked.verbs.get(older, 'a')
    await asked.verbs.get(plain, 'a')
    expect(asked.secrets).toHaveLength(1)
    const unknown = verbsIn({ there })
    await unknown.verbs.get(older, 'a')
    expect(unknown.secrets).toHaveLength(0)
  })

  it.each([
    [owner, 'Widget default/w is over'],
    [clusterOwner, 'Widget w is over'],
  ])('that comes too late is refused', async (object, message) => {
    const { verbs, calls, end } = verbsIn({ object })
    end()
    await expect(verbs.get(plain, 'a')).rejects.toThrow(message)
    expect(calls).toEqual([])
  })

  it('of a run that was given up says why', async () => {
    const { verbs, stop } = verbsIn()
    stop.abort(new Error('stopping'))
    await expect(verbs.get(plain, 'a')).rejects.toThrow('stopping')
  })
})
