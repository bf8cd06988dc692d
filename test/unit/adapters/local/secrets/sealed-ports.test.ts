import { describe, expect, it } from 'vitest'
import { openFeed, sealStore } from '../../../../../shared/adapters/local/secrets/sealed-ports.ts'
import { createSealing } from '../../../../../shared/adapters/local/secrets/sealing.ts'
import { keyOf, type ObjectKey } from '../../../../../shared/model/object-key.ts'
import type { StoredObject } from '../../../../../shared/model/stored-object.ts'
import type { ChangeBatch, ChangeFeed } from '../../../../../shared/ports/change-feed.ts'
import type { ListPage, ListQuery, ObjectStore } from '../../../../../shared/ports/object-store.ts'
import { storedWidget, widgetKind, withMetadata } from '../../../../support/stored-object.ts'

const secretKind = { group: '', kind: 'Secret' }
const sealing = createSealing([{ id: 'now', bytes: Buffer.alloc(32, 1) }])
const foreign = createSealing([{ id: 'gone', bytes: Buffer.alloc(32, 2) }])

function secret(name: string): StoredObject {
  const { object, engine } = storedWidget(name, { resourceVersion: '7' })
  const { spec: _, ...rest } = object
  return { object: { ...rest, apiVersion: 'v1', kind: 'Secret', data: { a: 'YQ==' } }, engine }
}

const sealed = ({ object, engine }: StoredObject, by = sealing): StoredObject => ({ object: by.seal(object), engine })
const widget = storedWidget('w', { resourceVersion: '8' })

/** A store that holds one object, gives what it is written a new number, and notes what it was given. */
function storeWith(held?: StoredObject, page: Partial<ListPage> = {}) {
  const given: (readonly [string, StoredObject, ...unknown[]])[] = []
  const unreadable: ObjectKey[] = []
  const numbered = async (what: string, stored: StoredObject, ...more: unknown[]): Promise<StoredObject> => {
    given.push([what, stored, ...more])
    return withMetadata(stored, { resourceVersion: '9' })
  }
  const inner: ObjectStore = {
    get: () => held,
    list: async () => ({ items: held === undefined ? [] : [held], resourceVersion: '9', more: false, ...page }),
    create: (stored) => numbered('create', stored),
    replace: (stored, touched) => numbered('replace', stored, touched),
    remove: (stored) => numbered('remove', stored),
  }
  return { inner, store: sealStore(inner, { sealing, onUnreadable: (key) => unreadable.push(key) }), given, unreadable }
}

const failureOf = (work: () => unknown): Promise<unknown> =>
  Promise.resolve()
    .then(work)
    .catch((error: unknown) => error)

describe('a store of sealed Secrets', () => {
  it('gives a Secret as it was, and what is none as it is, at once', async () => {
    const { store } = storeWith(sealed(secret('a')))
    expect(await store.get(keyOf(secret('a').object))).toEqual(secret('a'))
    expect(storeWith(widget).store.get(keyOf(widget.object))).toBe(widget)
    expect(await storeWith().store.get(keyOf(secret('a').object))).toBeUndefined()
  })

  it.each([
    [secretKind, true],
    [{ group: 'example.com', kind: 'Secret' }, false],
    [{ group: '', kind: 'ConfigMap' }, false],
  ])('opens what is asked for by the kind %j: %s', async (kind, opens) => {
    const { store } = storeWith(sealed(secret('a')))
    const expected = opens ? { a: 'YQ==' } : expect.stringMatching(/^sealed:/)
    const one = await store.get({ ...kind, namespace: 'default', name: 'a' })
    const [listed] = (await store.list(kind)).items
    expect([one?.object['data'], listed?.object['data']]).toEqual([expected, expected])
  })

  it('calls one damaged that no key fits, and tells of it', async () => {
    const { store, unreadable } = storeWith(sealed(secret('a'), foreign))
    const key = keyOf(secret('a').object)
    const { uid } = secret('a').object.metadata
    expect(await failureOf(() => store.get(key))).toMatchObject({
      code: 'DAMAGED',
      message: expect.stringContaining('a cannot be decrypted with the keys that are there'),
      remains: { uid, resourceVersion: '7' },
    })
    expect(unreadable).toEqual([key])
  })

  it('lists those that it can open, and names the others beside what else is damaged', async () => {
    const [a, b, c] = ['a', 'b', 'c'].map(secret) as [StoredObject, StoredObject, StoredObject]
    const items = [sealed(a), sealed(b, foreign), sealed(c)]
    const before = keyOf(secret('z').object)
    const { store, unreadable } = storeWith(undefined, { items, damaged: [before], more: true })
    expect(await store.list(secretKind)).toEqual({
      items: [a, c],
      resourceVersion: '9',
      more: true,
      damaged: [before, keyOf(b.object)],
    })
    expect(unreadable).toEqual([keyOf(b.object)])
    expect(Object.keys(await storeWith(sealed(a)).store.list(secretKind))).not.toContain('damaged')
  })

  it('reads on behind a page of which it can open none, as of the first one', async () => {
    const all = ['a', 'b', 'c', 'd'].map((name) => sealed(secret(name), name === 'd' ? sealing : foreign))
    const queries: ListQuery[] = []
    const list = async (query: ListQuery): Promise<ListPage> => {
      const from = all.findIndex(({ object }) => object.metadata.name === query.after?.name) + 1
      const to = from + (query.limit ?? Infinity)
      return { items: all.slice(from, to), resourceVersion: String(queries.push(query)), more: to < all.length }
    }
    const store = sealStore({ ...storeWith().inner, list }, { sealing, onUnreadable: () => {} })
    const damaged = ['a', 'b', 'c'].map((name) => keyOf(secret(name).object))
    const query = { ...secretKind, limit: 1 }
    expect(await store.list(query)).toEqual({ items: [secret('d')], resourceVersion: '1', more: false, damaged })
    const after = (name: string) => ({ ...query, after: { namespace: 'default', name }, asOf: '1' })
    expect(queries).toEqual([query, after('a'), after('b'), after('c')])
    all.push(sealed(secret('e')))
    expect(await store.list({ ...query, after: after('c').after })).toMatchObject({ items: [secret('d')], more: true })
    all.pop()
    queries.length = 0
    await store.list({ ...query, asOf: '5' })
    expect(queries.map(({ asOf }) => asOf)).toEqual(['5', '5', '5', '5'])
    all.pop()
    expect(await store.list({ ...query, limit: 2 })).toMatchObject({ items: [], more: false, damaged })
  })

  it.each(['create', 'replace', 'remove'] as const)(
    'is given a Secret sealed by %s, and returns it open',
    async (verb) => {
      const { store, given } = storeWith()
      const written = await store[verb](secret('a'), ['spec'])
      expect(written).toEqual(withMetadata(secret('a'), { resourceVersion: '9' }))
      const [[what, inside, ...more] = []] = given
      expect([what, more]).toEqual([verb, verb === 'replace' ? [['spec']] : []])
      expect(inside?.object['data']).toMatch(/^sealed:now:/)
      await store[verb](widget, ['spec'])
      expect(given[1]?.[1]).toBe(widget)
    },
  )
})

describe('a feed of sealed Secrets', () => {
  const change = (stored: StoredObject) => ({ type: 'modified', touched: ['spec'], stored }) as const
  const batchesOf = (of: typeof secretKind | undefined, ...changes: ChangeBatch['changes']) => {
    const batch: ChangeBatch = { changes, resourceVersion: '9' }
    const feed: ChangeFeed = {
      latest: async () => '9',
      follow: () => ({
        async *[Symbol.asyncIterator]() {
          yield batch
        },
      }),
    }
    const opened = openFeed(feed, sealing)
    const follow = opened.follow({ after: '1', signal: new AbortController().signal, ...(of && { of }) })
    return { batch, opened, next: async () => (await follow[Symbol.asyncIterator]().next()).value }
  }

  it.each([[undefined], [secretKind]])('tells of them as they were, of %j', async (of) => {
    const { next, opened } = batchesOf(of, change(sealed(secret('a'))), change(widget))
    expect(await next()).toEqual({ changes: [change(secret('a')), change(widget)], resourceVersion: '9' })
    expect(await opened.latest()).toBe('9')
  })

  it('hands on what holds none, or is of another kind', async () => {
    const plain = batchesOf(undefined, change(widget))
    expect(await plain.next()).toBe(plain.batch)
    const other = batchesOf(widgetKind, change(sealed(secret('a'))))
    expect(await other.next()).toBe(other.batch)
  })

  it('hands on a change that is of no Secret', async () => {
    const { next, batch } = batchesOf(undefined, change(widget), change(sealed(secret('a'))))
    expect((await next())?.changes[0]).toBe(batch.changes[0])
  })

  it('ends where no key fits, so that its reader looks anew', async () => {
    const { next } = batchesOf(undefined, change(sealed(secret('a'), foreign)))
    await expect(next()).rejects.toMatchObject({ code: 'EXPIRED', message: /version 7 cannot be decrypted/ })
  })
})
