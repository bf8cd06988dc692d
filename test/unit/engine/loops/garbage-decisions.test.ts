import { describe, expect, it } from 'vitest'
import { createGarbageCollector, garbageRoute } from '../../../../shared/engine/loops/garbage-collector.ts'
import { OperatingError, type ErrorCode } from '../../../../shared/model/errors.ts'
import { keyOf, keyText, type ObjectKey } from '../../../../shared/model/object-key.ts'
import type { ApiObject, ObjectMeta, OwnerReference } from '../../../../shared/model/object.ts'
import type { Change } from '../../../../shared/ports/change-feed.ts'
import { storedWidget } from '../../../support/stored-object.ts'

const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' }
const orphaning = { ...deleted, finalizers: ['orphan', 'x/y'] }
const inForeground = { ...deleted, finalizers: ['x/y', 'foregroundDeletion'] }

function objectOf(name: string, metadata: Partial<ObjectMeta> = {}, kind = 'Widget'): ApiObject {
  return { ...storedWidget(name, { uid: `uid-${name}`, resourceVersion: '7', ...metadata }).object, kind }
}

function referenceTo(name: string, more: Partial<OwnerReference> = {}): OwnerReference {
  return { apiVersion: 'example.com/v1', kind: 'Widget', name, uid: `uid-${name}`, ...more }
}

const blocking = { blockOwnerDeletion: true }
const ownedBy = (...names: string[]) => ({ ownerReferences: names.map((name) => referenceTo(name, blocking)) })

interface World {
  readonly objects: readonly ApiObject[]
  /** Of uids; what an index names may be gone. */
  readonly children?: Readonly<Record<string, readonly ObjectKey[]>>
  readonly unknownKinds?: readonly string[]
  /** How writes of these fail, each time once. */
  readonly fails?: Readonly<Record<string, ErrorCode>>
  readonly signal?: AbortSignal
  readonly onRead?: (count: number) => void
}

/** What a collector does with a key. */
async function collect(key: ObjectKey, { objects, children = {}, unknownKinds = [], ...given }: World) {
  const byKey = new Map(objects.map((object) => [keyText(keyOf(object)), object]))
  const did: string[] = []
  const looked: string[] = []
  const failing = new Map(Object.entries(given.fails ?? {}))
  let [reads, atOnce, mostAtOnce] = [0, 0, 0]
  const write = (name: string, what: string): void => {
    did.push(`${what} ${name}`)
    const code = failing.get(name)
    failing.delete(name)
    if (code !== undefined) throw new OperatingError(code, `no ${name}`)
  }
  const store = {
    get: async (at: ObjectKey) => {
      reads++
      given.onRead?.(reads)
      atOnce++
      mostAtOnce = Math.max(mostAtOnce, atOnce)
      await Promise.resolve()
      atOnce--
      const object = byKey.get(keyText(at))
      return object && { object, engine: {} }
    },
  }
  const index = {
    childrenOf: async (uid: string, limit?: number) => {
      looked.push(limit === undefined ? uid : `${uid} ${limit}`)
      return (children[uid] ?? []).slice(0, limit)
    },
  }
  const resources = {
    patch: async (
      _kind: object,
      { name, namespace }: { name: string; namespace: string },
      patch: object,
      options: object,
    ) => {
      expect([patch, options]).toMatchObject([
        { type: 'merge', body: { metadata: { resourceVersion: '7' } } },
        { manager: 'garbage-collector' },
      ])
      const { metadata } = (
        patch as { body: { metadata: { ownerReferences?: OwnerReference[]; finalizers?: string[] } } }
      ).body
      const owners = metadata.ownerReferences?.map((one) => one.name)
      write(
        `${namespace}/${name}`,
        owners ? `leave owners [${owners.join()}] to` : `leave [${metadata.finalizers?.join()}] to`,
      )
      const live = objects.find((object) => object.metadata.name === name) as ApiObject
      const object = { ...live, metadata: { ...live.metadata, ...metadata } }
      byKey.set(keyText(keyOf(live)), object)
      return { stored: { object } }
    },
    delete: async (
      _kind: object,
      { name, namespace }: { name: string; namespace: string },
      { propagation, preconditions }: { propagation?: string; preconditions: object },
    ) => {
      expect(preconditions).toEqual({ uid: `uid-${name}`, resourceVersion: '7' })
      write(`${namespace}/${name}`, propagation === undefined ? 'delete' : `delete in ${propagation}`)
    },
  }
  const catalog = { byKind: async (_group: string, kind: string) => (unknownKinds.includes(kind) ? undefined : {}) }
  const run = createGarbageCollector({ store, index, resources, catalog } as never)
  const turn = { key, settle: async () => void did.push('settle') }
  let ended: string | undefined
  try {
    await run(turn as never, given.signal ?? new AbortController().signal)
  } catch (error) {
    ended = (error as Error).message
  }
  return { did, looked, ended, reads, mostAtOnce }
}

const child = (metadata: Partial<ObjectMeta>): ApiObject => objectOf('child', metadata)
const childKey = keyOf(child({}))
const owner = (metadata: Partial<ObjectMeta> = {}): ApiObject => objectOf('owner', metadata)

describe('a child', () => {
  it.each<[string, World, readonly string[]]>([
    ['that is gone', { objects: [] }, []],
    ['without owners', { objects: [child({})] }, []],
    ['whose owner is there', { objects: [child(ownedBy('owner')), owner()] }, []],
    ['whose owner is gone', { objects: [child(ownedBy('owner'))] }, ['delete default/child']],
    [
      'whose owner’s name another one has',
      { objects: [child(ownedBy('owner')), owner({ uid: 'new' })] },
      ['delete default/child'],
    ],
    ['whose owner is gone, and that goes', { objects: [child({ ...ownedBy('owner'), ...deleted })] }, []],
    [
      'one of whose owners is there',
      { objects: [child(ownedBy('gone', 'owner')), owner()] },
      ['leave owners [owner] to default/child'],
    ],
    [
      'that goes, and one of whose owners is there',
      { objects: [child({ ...ownedBy('gone', 'owner'), ...deleted }), owner()] },
      [],
    ],
    [
      'one of whose owners is there, and another one may be anywhere',
      {
        objects: [
          child({ ownerReferences: [referenceTo('far', { kind: 'Stranger' }), referenceTo('owner')] }),
          owner(),
        ],
        unknownKinds: ['Stranger'],
      },
      [],
    ],
    [
      'whose owner waits for it, and is its child',
      { objects: [child(ownedBy('owner')), owner({ ...inForeground, ...ownedBy('child') })] },
      ['leave owners [owner] to default/child', 'delete default/child'],
    ],
    [
      'whose owner waits for it, and is its grandchild',
      {
        objects: [
          child(ownedBy('owner')),
          owner({ ...inForeground, ...ownedBy('other') }),
          objectOf('other', ownedBy('child', 'owner')),
        ],
      },
      ['leave owners [owner] to default/child', 'delete default/child'],
    ],
    [
      'whose owner waits for it, and is its child, where nobody waits for that any more',
      {
        objects: [child({ ownerReferences: [referenceTo('owner')] }), owner({ ...inForeground, ...ownedBy('child') })],
      },
      ['delete default/child'],
    ],
    [
      'that waits for an owner that waits for it',
      { objects: [child({ ...inForeground, ...ownedBy('owner') }), owner({ ...inForeground, ...ownedBy('child') })] },
      ['leave [x/y] to default/child', 'leave owners [owner] to default/child'],
    ],
    [
      'whose owner waits for it, and belongs to others that go round',
      {
        objects: [
          child(ownedBy('owner')),
          owner({ ...inForeground, ...ownedBy('one') }),
          objectOf('one', ownedBy('two')),
          objectOf('two', ownedBy('one', 'gone')),
        ],
      },
      ['delete default/child'],
    ],
    ['whose owner goes in the background', { objects: [child(ownedBy('owner')), owner(deleted)] }, []],
    [
      'whose owner says orphan, and does not go',
      { objects: [child(ownedBy('owner')), owner({ finalizers: ['orphan'] })] },
      [],
    ],
    [
      'whose owner lets it go',
      { objects: [child(ownedBy('owner')), owner(orphaning)] },
      ['leave owners [] to default/child'],
    ],
    [
      'one of whose owners lets it go',
      { objects: [child(ownedBy('owner', 'other')), owner(orphaning), objectOf('other')] },
      ['leave owners [other] to default/child'],
    ],
    [
      'that goes, and whose owner lets it go',
      { objects: [child({ ...ownedBy('owner'), ...deleted }), owner(orphaning)] },
      ['leave owners [] to default/child'],
    ],
    ['whose owner waits for it', { objects: [child(ownedBy('owner')), owner(inForeground)] }, ['delete default/child']],
    [
      'whose owner waits for it, with children of its own',
      { objects: [child(ownedBy('owner')), owner(inForeground)], children: { 'uid-child': [childKey] } },
      ['delete in Foreground default/child'],
    ],
    [
      'whose owner is gone, with children of its own',
      { objects: [child(ownedBy('owner'))], children: { 'uid-child': [childKey] } },
      ['delete default/child'],
    ],
    [
      'that goes, and whose owner waits for it',
      { objects: [child({ ...ownedBy('owner'), ...deleted }), owner(inForeground)] },
      [],
    ],
    [
      'one of whose owners waits for it',
      { objects: [child(ownedBy('owner', 'other')), owner(inForeground), objectOf('other')] },
      ['leave owners [other] to default/child'],
    ],
    [
      'that goes, and one of whose owners waits for it',
      { objects: [child({ ...ownedBy('owner', 'other'), ...deleted }), owner(inForeground), objectOf('other')] },
      [],
    ],
    [
      'whose owner’s kind nobody has defined',
      { objects: [child({ ownerReferences: [referenceTo('far', { kind: 'Stranger' })] })], unknownKinds: ['Stranger'] },
      [],
    ],
    [
      'one of whose owners’ kinds nobody has defined',
      {
        objects: [child({ ownerReferences: [referenceTo('gone'), referenceTo('far', { kind: 'Stranger' })] })],
        unknownKinds: ['Stranger'],
      },
      [],
    ],
    [
      'whose own kind is defined no more',
      { objects: [objectOf('child', ownedBy('owner'), 'Thing'), owner(orphaning)], unknownKinds: ['Thing'] },
      [],
    ],
    [
      'whose own kind is defined no more, without owners',
      { objects: [objectOf('child', ownedBy('owner'), 'Thing')], unknownKinds: ['Thing'] },
      [],
    ],
  ])('%s', async (_what, world, did) => {
    const { kind = 'Widget' } = world.objects.find(({ metadata }) => metadata.name === 'child') ?? {}
    expect(await collect({ ...childKey, kind }, world)).toMatchObject({ did: [...did, 'settle'], ended: undefined })
  })

  it('is asked for one of its own children, where its owner waits for it', async () => {
    const world = { objects: [child(ownedBy('owner')), owner(inForeground)] }
    expect((await collect(childKey, world)).looked).toEqual(['uid-child 1'])
  })

  it('of the cluster is deleted by its name alone', async () => {
    const { namespace: _, ...metadata } = child(ownedBy('owner')).metadata
    const wide = { ...child({}), metadata }
    expect((await collect(keyOf(wide), { objects: [wide] })).did).toEqual(['delete /child', 'settle'])
    const let0 = await collect(keyOf(wide), {
      objects: [
        wide,
        {
          ...owner(orphaning),
          metadata: { ...metadata, ...orphaning, name: 'owner', uid: 'uid-owner', ownerReferences: [] },
        },
      ],
    })
    expect(let0.did[0]).toBe('leave owners [] to /child')
  })

  it('is looked at again when somebody else writes it', async () => {
    const world = { objects: [child(ownedBy('owner'))], fails: { 'default/child': 'VERSION_CONFLICT' } } as const
    const { did, ended } = await collect(childKey, world)
    expect(did).toEqual(['delete default/child', 'delete default/child', 'settle'])
    expect(ended).toBeUndefined()
  })

  it('that cannot be written leaves the turn open', async () => {
    const world = { objects: [child(ownedBy('owner'))], fails: { 'default/child': 'UNAVAILABLE' } } as const
    expect(await collect(childKey, world)).toMatchObject({
      did: ['delete default/child'],
      ended: 'no default/child',
    })
  })
})

describe('an owner', () => {
  const ownerKey = keyOf(owner())
  const some = (count: number, metadata: Partial<ObjectMeta>): readonly ApiObject[] =>
    Array.from({ length: count }, (_, i) => objectOf(`c${i}`, metadata))
  const held = { ...ownedBy('owner'), ...deleted }
  const free = { ownerReferences: [referenceTo('owner')], ...deleted }
  const childrenOf = (...objects: readonly ApiObject[]) => ({ 'uid-owner': objects.map(keyOf) })
  const goes = ['leave [x/y] to default/owner', 'settle']

  it.each<[string, readonly ApiObject[], readonly string[], readonly string[]]>([
    ['that has no children', [], goes, ['uid-owner 3']],
    ['that one child keeps', some(1, held), ['settle'], ['uid-owner 3']],
    ['that children keep', some(30, held), ['settle'], ['uid-owner 3']],
    ['that no child keeps', some(2, free), goes, ['uid-owner 3']],
    ['that none of three keeps', some(3, free), goes, ['uid-owner 3', 'uid-owner']],
    ['that the last one keeps', [...some(30, free), child(held)], ['settle'], ['uid-owner 3', 'uid-owner']],
    [
      'that is named by another name',
      [child({ ...deleted, ownerReferences: [referenceTo('other', { ...blocking, uid: 'uid-owner' })] })],
      goes,
      ['uid-owner 3'],
    ],
    [
      'that another uid is named for',
      [child({ ...deleted, ownerReferences: [referenceTo('owner', { ...blocking, uid: 'x' })] })],
      goes,
      ['uid-owner 3'],
    ],
    ['whose child names nobody any more', [child(deleted)], goes, ['uid-owner 3']],
  ])('%s', async (_what, children, did, looked) => {
    const world = { objects: [owner(inForeground), ...children], children: childrenOf(...children) }
    expect(await collect(ownerKey, world)).toMatchObject({ did, looked })
  })

  it('is kept by no child that is gone', async () => {
    expect(
      await collect(ownerKey, { objects: [owner(inForeground)], children: childrenOf(child(held)) }),
    ).toMatchObject({ did: goes })
  })

  it('reads twenty of many children at once, and no more than it needs', async () => {
    const children = [...some(25, free), child(held), ...some(100, free)]
    const { reads, mostAtOnce } = await collect(ownerKey, {
      objects: [owner(inForeground), ...children],
      children: childrenOf(...children),
    })
    expect([reads, mostAtOnce]).toEqual([1 + 3 + 40, 20])
  })

  it.each([
    ['and goes then', ['orphan'], ['leave [] to default/owner']],
    ['and once more behind the last clean-up, whose run may have taken one back', ['x/y', 'orphan'], []],
  ])('that lets its children go does so, %s', async (_what, finalizers, last) => {
    const [a, b] = [objectOf('a', ownedBy('owner')), objectOf('b', ownedBy('owner', 'other'))]
    const letting = owner({ ...orphaning, finalizers })
    const world = { objects: [letting, a, b, objectOf('other')], children: childrenOf(a, b) }
    expect(await collect(ownerKey, world)).toMatchObject({
      did: ['leave owners [] to default/a', 'leave owners [other] to default/b', ...last, 'settle'],
      looked: ['uid-owner'],
    })
  })

  it('whose kind is defined no more is left', async () => {
    const thing = objectOf('owner', inForeground, 'Thing')
    expect((await collect(keyOf(thing), { objects: [thing], unknownKinds: ['Thing'] })).did).toEqual(['settle'])
  })
})

describe('all children of an owner', () => {
  const gone = owner()
  const key: ObjectKey = {
    group: 'garbage.setpoint.dev',
    kind: 'Children',
    namespace: 'uid-owner',
    name: encodeURIComponent(keyText(keyOf(gone))),
  }
  const children = Array.from({ length: 45 }, (_, i) => objectOf(`c${i}`, ownedBy('owner')))
  const world: World = { objects: children, children: { 'uid-owner': children.map(keyOf) } }

  it('go with it, twenty at once', async () => {
    const { did, mostAtOnce } = await collect(key, world)
    expect(did).toHaveLength(46)
    expect(new Set(did).size).toBe(46)
    expect([did.at(-1), mostAtOnce]).toEqual(['settle', 20])
  })

  it('go though nobody has defined its kind: that has been seen', async () => {
    const [one] = children
    const both = objectOf('both', { ownerReferences: [referenceTo('owner'), referenceTo('far', { kind: 'Stranger' })] })
    const seen = {
      objects: [one, both] as ApiObject[],
      children: { 'uid-owner': [keyOf(one as ApiObject), keyOf(both)] },
    }
    const { did } = await collect(key, { ...seen, unknownKinds: ['Stranger'] })
    expect(did).toEqual(['delete default/c0', 'settle'])
    const strange = objectOf('strange', { ownerReferences: [referenceTo('owner', { kind: 'Stranger' })] })
    const alone = { objects: [strange], children: { 'uid-owner': [keyOf(strange)] }, unknownKinds: ['Stranger'] }
    expect((await collect(key, alone)).did).toEqual(['delete default/strange', 'settle'])
  })

  it('and the owner itself, if it is there', async () => {
    const [one] = children
    const { did } = await collect(key, {
      objects: [one as ApiObject, owner(inForeground)],
      children: { 'uid-owner': [keyOf(one as ApiObject)] },
    })
    expect(did).toEqual(['delete default/c0', 'settle'])
  })

  it('are looked at again where one of them cannot be dealt with', async () => {
    const { did, ended } = await collect(key, { ...world, fails: { 'default/c44': 'UNAVAILABLE' } })
    expect([did.length, ended]).toEqual([45, 'no default/c44'])
  })

  it('are dealt with but for those that cannot be: the first failure is told, and the turn comes again', async () => {
    const { did, ended } = await collect(key, {
      ...world,
      fails: { 'default/c3': 'UNAVAILABLE', 'default/c7': 'THROTTLED' },
    })
    expect(did).toHaveLength(45)
    expect(ended).toBe('no default/c3')
  })

  it('are left when the time is over', async () => {
    const time = new AbortController()
    const { did, ended } = await collect(key, {
      ...world,
      signal: time.signal,
      onRead: (count) => {
        if (count === 30) time.abort('over')
      },
    })
    expect(ended).toMatch(/aborted/)
    expect(did.length).toBeLessThan(45)
    expect(did).not.toContain('settle')
  })
})

describe('who is told of a change', () => {
  const childrenKeyOf = (object: ApiObject) =>
    `Children ${object.metadata.uid}/${encodeURIComponent(keyText(keyOf(object)))}`

  async function told(change: Partial<Change>, object: ApiObject, hasChildren = false) {
    const asked: unknown[] = []
    const childrenOf = async (...how: unknown[]) => {
      asked.push(how)
      return hasChildren ? [childKey] : []
    }
    const route = garbageRoute({ childrenOf } as never)
    const stored = { object, engine: {} }
    const targets = await route.targets({ type: 'modified', touched: [], stored, ...change }, [])
    expect([route.name, route.debounceMs, route.isNeverHeld]).toEqual(['garbage-collector', 0, true])
    expect(targets.every(({ lane }) => lane === 'background')).toBe(true)
    expect(targets.every((target) => target.stored === undefined || target.stored === stored)).toBe(true)
    const texts = targets.map(({ key, reason, ...target }) => {
      const carries = target.stored === undefined ? '' : ' as it is'
      return `${key.kind} ${key.namespace}/${key.name}${carries}: ${reason}`
    })
    return { texts, asked }
  }

  it.each<[string, Partial<Change>, ApiObject, readonly string[]]>([
    ['of an object without owners', { touched: ['spec', 'meta'] }, child({}), []],
    [
      'of a child',
      { touched: ['spec'] },
      child(ownedBy('owner')),
      ['Widget default/child as it is: its owners or finalizers changed'],
    ],
    [
      'of a child’s metadata',
      { touched: ['meta'] },
      child(ownedBy('owner')),
      ['Widget default/child as it is: its owners or finalizers changed'],
    ],
    ['of a child’s status', { touched: ['status', 'engine'] }, child(ownedBy('owner')), []],
    ['of a child without owners by now', { touched: ['meta'] }, child({ ownerReferences: [] }), []],
    [
      'of an owner that goes, and waits',
      { touched: ['delete'] },
      owner(inForeground),
      [`${childrenKeyOf(owner())}: their owner Widget owner is deleted: foregroundDeletion`],
    ],
    [
      'of an owner that goes, and lets go',
      { touched: ['delete', 'meta'] },
      owner(orphaning),
      [`${childrenKeyOf(owner())}: their owner Widget owner is deleted: orphan`],
    ],
    [
      'of an owner that went before',
      { touched: ['meta'] },
      owner(inForeground),
      ['Widget default/owner as it is: its owners or finalizers changed'],
    ],
    ['of the spec of an owner that went before', { touched: ['spec'] }, owner(inForeground), []],
    ['of an owner that goes in the background', { touched: ['delete', 'meta'] }, owner(deleted), []],
    ['of an owner that does not go', { touched: ['meta'] }, owner({ finalizers: ['orphan'] }), []],
  ])('%s', async (_what, change, object, texts) => {
    expect((await told(change, object)).texts).toEqual(texts)
  })

  const freed = ['Widget default/owner', 'Widget /owner'].map(
    (key) => `${key}: its child Widget child blocks it no more`,
  )
  const own = 'Widget default/child as it is: its owners or finalizers changed'

  it.each<[string, Partial<ObjectMeta>, Partial<ObjectMeta>, readonly string[]]>([
    ['names its only owner no more', ownedBy('owner'), {}, freed],
    ['names one of its owners no more', ownedBy('other', 'owner'), ownedBy('other'), [own, ...freed]],
    ['blocks its owner no more', ownedBy('owner'), { ownerReferences: [referenceTo('owner')] }, [own, ...freed]],
    [
      'has another owner of the same name',
      ownedBy('owner'),
      { ownerReferences: [referenceTo('owner', { ...blocking, uid: 'new' })] },
      [own, ...freed],
    ],
    ['names an owner no more that it did not block', { ownerReferences: [referenceTo('owner')] }, {}, []],
    ['blocks its owner as before', ownedBy('owner'), ownedBy('owner'), [own]],
  ])('of a child that %s', async (_what, before, after, texts) => {
    const change = { touched: ['meta'], before: { object: child(before), engine: {} } } as const
    expect((await told(change, child(after))).texts).toEqual(texts)
    // What the write did not touch is as it was.
    expect((await told({ ...change, touched: ['status'] }, child(after))).texts).toEqual([])
  })

  it('of a child that is removed by the write in which it names its owner no more', async () => {
    const before = { object: child(ownedBy('owner')), engine: {} }
    const change = { type: 'removed', touched: ['meta', 'delete'], before } as const
    expect((await told(change, child({}))).texts).toEqual(freed)
  })

  it.each<[string, ApiObject, boolean, readonly string[]]>([
    ['of nobody’s', owner(), false, []],
    ['of an owner', owner(), true, [`${childrenKeyOf(owner())}: their owner Widget owner is gone`]],
    ['of a child that nobody waits for', child({ ownerReferences: [referenceTo('owner')] }), false, []],
    [
      'of a child that is waited for',
      child(ownedBy('owner')),
      false,
      ['Widget default/owner: its child Widget child is gone', 'Widget /owner: its child Widget child is gone'],
    ],
  ])('a removal %s', async (_what, object, hasChildren, texts) => {
    const { texts: are, asked } = await told({ type: 'removed', touched: ['delete'] }, object, hasChildren)
    expect([are, asked]).toEqual([texts, [[object.metadata.uid, 1]]])
  })
})
