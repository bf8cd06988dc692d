import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { OperatingError } from '../../shared/model/errors.ts'
import { keyOf, keyText, type ObjectKey } from '../../shared/model/object-key.ts'
import type { StoredObject, Touched } from '../../shared/model/stored-object.ts'
import type { Change, ChangeFeed } from '../../shared/ports/change-feed.ts'
import type { ObjectIndex } from '../../shared/ports/object-index.ts'
import type { ObjectStore } from '../../shared/ports/object-store.ts'
import { startDynalite } from '../../shared/testing-aws/dynalite.ts'
import { openDynamodb } from '../support/dynamodb.ts'
import { openSqlite } from '../support/sqlite.ts'
import { storedWidget, withMetadata, withSpec } from '../support/stored-object.ts'
import { least, share } from '../support/strength.ts'

/**
 * The same operations, in any order, give the same on both engines: the same objects, lists, index answers and errors;
 * and whoever follows the changes ends with the same. Only resourceVersions differ.
 */
const dynalite = await startDynalite()
afterAll(dynalite.close)

interface Engine {
  readonly store: ObjectStore
  readonly index: ObjectIndex
  readonly feed: ChangeFeed
}

/** The last state that one engine gave of each object, and states that have passed. */
interface Memory {
  readonly live: Map<string, StoredObject>
  readonly stale: Map<string, StoredObject>
}

const key = fc.record({
  group: fc.constant('example.com'),
  kind: fc.constantFrom('Widget', 'Gadget'),
  namespace: fc.constantFrom('', 'a', 'a-b', 'b'),
  name: fc.constantFrom('x', 'x-1', 'y'),
})
const edit = fc.constantFrom('spec', 'status', 'engine', 'owners', 'noOwners', 'sleep', 'statusAndEngine')
const act = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('create' as const), key, owned: fc.boolean() }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('replace' as const), key, edit, size: fc.nat(99) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('replaceStale' as const), key }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('replaceOther' as const), key }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('remove' as const), key }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('removeStale' as const), key }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('get' as const), key }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('list' as const),
      key,
      isNamespaced: fc.boolean(),
      limit: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
      after: fc.option(key, { nil: undefined }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('refer' as const), key, targets: fc.array(key, { maxLength: 3 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('lookUp' as const), key, untilMs: fc.nat(100) }) },
)
type Act = typeof act extends fc.Arbitrary<infer One> ? One : never

describe('SQLite and DynamoDB', () => {
  it('give the same answers to the same operations', async () => {
    let answers = 0
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 40, size: 'max' }), async (acts) => {
        const sqlite = openSqlite(':memory:')
        const dynamodb = await openDynamodb(dynalite.client)
        const start = [await sqlite.feed.latest(), await dynamodb.feed.latest()] as const
        const [mine, theirs] = [memory(), memory()]
        for (const [nth, one] of acts.entries()) {
          const expected = await answer(sqlite, mine, { one, nth })
          expect(await answer(dynamodb, theirs, { one, nth })).toEqual(expected)
          answers++
        }
        expect(await lastTold(dynamodb, start[1])).toEqual(await lastTold(sqlite, start[0]))
        sqlite.close()
      }),
      { numRuns: share(40) },
    )
    expect(answers).toBeGreaterThanOrEqual(least(100))
  })
})

function memory(): Memory {
  return { live: new Map(), stale: new Map() }
}

/** What an engine answers, without its versions; or the code of what it throws. */
async function answer(
  engine: Engine,
  known: Memory,
  step: { readonly one: Act; readonly nth: number },
): Promise<unknown> {
  try {
    return withoutVersions(await perform(engine, known, step))
  } catch (error) {
    if (error instanceof OperatingError) return error.code
    throw error
  }
}

async function perform(
  { store, index }: Engine,
  known: Memory,
  { one, nth }: { readonly one: Act; readonly nth: number },
): Promise<unknown> {
  const text = keyText(one.key)
  const live = known.live.get(text) ?? absent(one.key)
  const stale = known.stale.get(text) ?? live
  const note = (stored: StoredObject): StoredObject => {
    known.stale.set(text, live)
    known.live.set(text, stored)
    return stored
  }
  switch (one.do) {
    case 'create':
      return note(await store.create(fresh(one.key, `uid-${nth}`, one.owned)))
    case 'replace':
      return note(await store.replace(...edited(live, one.edit, one.size)))
    case 'replaceStale':
      return note(await store.replace(withSpec(stale, { size: 1_000 }), ['spec']))
    case 'replaceOther':
      return note(await store.replace(withMetadata(live, { uid: 'another' }), ['spec']))
    case 'remove':
      return note(await store.remove(live))
    case 'removeStale':
      return note(await store.remove(stale))
    case 'get':
      return store.get(one.key)
    case 'list': {
      const { group, kind, namespace } = one.key
      const { items, more } = await store.list({
        group,
        kind,
        ...(one.isNamespaced && { namespace }),
        ...(one.limit !== undefined && { limit: one.limit }),
        ...(one.after !== undefined && { after: one.after }),
      })
      return { items, more }
    }
    case 'refer':
      // Of an object that is not there SQLite notes nothing, and DynamoDB does not look.
      if ((await store.get(one.key)) === undefined) return undefined
      return index.setReferences(one.key, one.targets)
    case 'lookUp':
      return lookUp({ store, index }, one)
  }
}

async function lookUp(
  { store, index }: Pick<Engine, 'store' | 'index'>,
  { key: at, untilMs }: { key: ObjectKey; untilMs: number },
): Promise<unknown> {
  const texts = (keys: readonly ObjectKey[]): readonly string[] => keys.map(keyText).toSorted()
  // On DynamoDB a refused write may leave an entry behind: whoever looks for children reads them.
  const childrenOf = async (uid: string): Promise<readonly ObjectKey[]> => {
    const children = await Promise.all((await index.childrenOf(uid)).map(async (child) => store.get(child)))
    return children.flatMap((child) =>
      child?.object.metadata.ownerReferences?.some((reference) => reference.uid === uid) ? [keyOf(child.object)] : [],
    )
  }
  const timers = await index.due(at, untilMs, 100)
  return {
    owned: [texts(await childrenOf('o1')), texts(await childrenOf('o2'))],
    referrers: texts(await index.referrers(at)),
    references: texts(await index.references(at)),
    due: timers.map(({ key: of, dueAtMs }) => `${String(dueAtMs).padStart(5)} ${keyText(of)}`).toSorted(),
    earliest: (await index.due(at, untilMs, 1)).map(({ dueAtMs }) => dueAtMs),
    wheel: texts(await index.onWheel(at, 0, 1_800)),
  }
}

function fresh({ kind, namespace, name }: ObjectKey, uid: string, owned: boolean): StoredObject {
  const ownerReferences = owned ? [owner('o1')] : []
  const stored = storedWidget(name, { uid, ...(owned && { ownerReferences }) })
  const { namespace: _, ...metadata } = stored.object.metadata
  return {
    ...stored,
    object: { ...stored.object, kind, metadata: { ...metadata, ...(namespace !== '' && { namespace }) } },
  }
}

function absent(at: ObjectKey): StoredObject {
  return withMetadata(fresh(at, 'never', false), { resourceVersion: '1' })
}

function owner(uid: string) {
  return { apiVersion: 'example.com/v1', kind: 'Owner', name: 'any', uid }
}

function edited(live: StoredObject, how: string, size: number): readonly [StoredObject, Touched] {
  switch (how) {
    case 'engine':
      return [{ ...live, engine: { wait: { kind: 'Requeue', generation: 1, atMs: size } } }, ['engine']]
    case 'sleep':
      return [{ ...live, engine: {} }, ['engine']]
    case 'owners':
      return [withMetadata(live, { ownerReferences: [owner('o1'), owner('o2')].slice(size % 2) }), ['meta']]
    case 'noOwners':
      return [withMetadata(live, { ownerReferences: [] }), ['meta']]
    case 'status':
      return [{ ...live, object: { ...live.object, status: { size } } }, ['status']]
    case 'statusAndEngine':
      return [{ object: { ...live.object, status: { size } }, engine: { wakeAtMs: size } }, ['status', 'engine']]
    default:
      return [withSpec(live, { size }), ['spec']]
  }
}

/** What a reader knows in the end of each object there ever was. */
async function lastTold({ store, feed }: Engine, after: string): Promise<unknown> {
  const end = await store.create(storedWidget('end', { namespace: 'end' }))
  const last = new Map<string, Change>()
  const stop = new AbortController()
  for await (const { changes } of feed.follow({ after, signal: stop.signal })) {
    for (const change of changes)
      last.set(`${keyText(keyOf(change.stored.object))} ${change.stored.object.metadata.uid}`, change)
    if (changes.some(({ stored }) => stored.object.metadata.uid === end.object.metadata.uid)) stop.abort()
  }
  return [...last]
    .map(([of, { type, stored }]) => [of, type === 'removed', withoutVersions(stored)] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
}

function withoutVersions(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value ?? null, (name, inner: unknown) => (name === 'resourceVersion' ? '' : inner)),
  ) as unknown
}
