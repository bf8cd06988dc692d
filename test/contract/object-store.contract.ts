import fc from 'fast-check'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hasCode } from '../../shared/model/errors.ts'
import type { JsonObject } from '../../shared/model/json.ts'
import { keyOf, keyText } from '../../shared/model/object-key.ts'
import type { StoredObject } from '../../shared/model/stored-object.ts'
import type { ListQuery, ObjectStore } from '../../shared/ports/object-store.ts'
import { expectCode } from '../support/expect-code.ts'
import { storedWidget, versionOf, widgetKind, withMetadata, withSpec } from '../support/stored-object.ts'
import type { Differences } from './work-queue.contract.ts'
import { share } from '../support/strength.ts'

/** An empty store, and how to let it go. */
export interface OpenStore {
  readonly store: ObjectStore
  close(): Promise<void> | void
}

/**
 * What every ObjectStore promises. `differences`: why a server that plays a part does not keep a promise, by the test's
 * name.
 */
export function objectStoreContract(
  adapter: string,
  open: () => Promise<OpenStore> | OpenStore,
  differences: Differences = {},
): void {
  describe(`ObjectStore: ${adapter}`, () => {
    const known = new Set<string>()
    beforeEach(({ task: { name }, skip }) => {
      known.add(name)
      skip(differences[name] !== undefined, differences[name])
    })
    afterAll(() => expect([...known]).toEqual(expect.arrayContaining(Object.keys(differences))))

    let opened: OpenStore
    let store: ObjectStore

    beforeEach(async () => {
      opened = await open()
      store = opened.store
    })
    afterEach(() => opened.close())

    describe('create', () => {
      it('gives back what it was given, under a resourceVersion of its own', async () => {
        const given = storedWidget('a')
        const created = await store.create(given)
        expect(created).toEqual(withMetadata(given, { resourceVersion: created.object.metadata.resourceVersion }))
        expect(created.object.metadata.resourceVersion).toMatch(/^[1-9]\d*$/)
        expect(given.object.metadata.resourceVersion).toBe('')
      })

      it('refuses a second object of the same name, and leaves the first', async () => {
        const first = await store.create(storedWidget('a'))
        await expectCode(store.create(withMetadata(storedWidget('a'), { uid: 'another' })), 'ALREADY_EXISTS')
        expect(await store.get(keyOf(first.object))).toEqual(first)
      })

      it('lets one of many creators of a name win', async () => {
        const results = await Promise.allSettled(
          Array.from({ length: 20 }, (_, i) => store.create(storedWidget('a', { uid: `uid-${i}` }))),
        )
        const won = results.filter((result) => result.status === 'fulfilled').map((result) => result.value)
        const lost = results.filter((result) => result.status === 'rejected').map((result) => result.reason as unknown)
        expect(won).toHaveLength(1)
        expect(lost.every((reason) => hasCode(reason, 'ALREADY_EXISTS'))).toBe(true)
        expect(await store.get(keyOf(storedWidget('a').object))).toEqual(won[0])
      })

      it('takes a name again once its object is removed', async () => {
        const first = await store.create(storedWidget('a', { uid: 'first' }))
        await store.remove(first)
        const second = await store.create(storedWidget('a', { uid: 'second' }))
        expect(await store.get(keyOf(second.object))).toEqual(second)
        expect(versionOf(second)).toBeGreaterThan(versionOf(first))
      })
    })

    describe('get', () => {
      it('knows nothing of what was never there', async () => {
        expect(await store.get({ ...widgetKind, namespace: 'default', name: 'a' })).toBeUndefined()
      })

      it.each(['x'.repeat(1_100), '一'.repeat(400), 'x'.repeat(100_000)])(
        'knows nothing under a name that is longer than any may be',
        async (name) => {
          expect(await store.get({ ...widgetKind, namespace: 'default', name })).toBeUndefined()
          expect(await store.get({ ...widgetKind, namespace: name, name: 'a' })).toBeUndefined()
        },
      )

      const places = [
        { other: { group: 'example.org' }, because: 'groups are apart' },
        { other: { group: '' }, because: 'the core group is a group' },
        { other: { kind: 'Gadget' }, because: 'kinds are apart' },
        { other: { namespace: 'other' }, because: 'namespaces are apart' },
        { other: { namespace: '' }, because: 'no namespace is a place of its own' },
        { other: { name: 'A' }, because: 'letters have a case' },
      ]
      it.each(places)('does not find an object under $other: $because', async ({ other }) => {
        const { object } = await store.create(storedWidget('a'))
        expect(await store.get({ ...keyOf(object), ...other })).toBeUndefined()
      })

      it('gives back everything that JSON can hold', async () => {
        const odd = {
          text: 'ä \u0000 \u2028 😀',
          nested: [{ a: [null, true, 1e21, -0.5] }],
          '': {},
          'key with "quotes"': '',
        }
        const created = await store.create(withSpec(storedWidget('a'), odd))
        expect((await store.get(keyOf(created.object)))?.object.spec).toEqual(odd)
      })

      it('keeps all of the object, whatever the write says that it touched', async () => {
        const created = await store.create(storedWidget('a'))
        const held = await store.replace(withMetadata(created, { finalizers: ['example.com/held'] }), ['engine'])
        expect(await store.get(keyOf(held.object))).toEqual(held)
        expect(held.object.metadata.finalizers).toEqual(['example.com/held'])
      })

      it('gives back the engine state', async () => {
        const wait = {
          kind: 'Backoff',
          generation: 1,
          atMs: 1_800_000_000_123,
          failure: { attempt: 1, error: 'no' },
        } as const
        const engine = { wait, memory: { notes: { a: 1 } }, hold: { handle: 'h', untilMs: 5 } }
        const created = await store.create({ ...storedWidget('a'), engine })
        expect((await store.get(keyOf(created.object)))?.engine).toEqual(engine)
        const rested = await store.replace({ ...created, engine: {} }, ['engine'])
        expect((await store.get(keyOf(rested.object)))?.engine).toEqual({})
      })

      it('sees every write that resolved before', async () => {
        let live = await store.create(storedWidget('a'))
        for (let size = 2; size < 20; size++) {
          live = await store.replace(withSpec(live, { size }), ['spec'])
          expect(await store.get(keyOf(live.object))).toEqual(live)
        }
        await store.remove(live)
        expect(await store.get(keyOf(live.object))).toBeUndefined()
      })

      it('gives out states as their text says, whatever else the writer put there', async () => {
        const spec = { kept: 1, absent: undefined } as unknown as JsonObject
        const { object } = await store.create(withSpec(storedWidget('a'), spec))
        const again = (await store.get(keyOf(object)))?.object.spec
        expect(Object.keys(again ?? {})).toEqual(['kept'])
      })
    })

    describe('replace', () => {
      it('raises the resourceVersion with each write', async () => {
        const first = await store.create(storedWidget('a'))
        const second = await store.replace(first, ['status'])
        const third = await store.replace(second, ['spec'])
        expect(versionOf(second)).toBeGreaterThan(versionOf(first))
        expect(versionOf(third)).toBeGreaterThan(versionOf(second))
      })

      it('refuses a version that has passed, and leaves the newer one', async () => {
        const old = await store.create(storedWidget('a'))
        const live = await store.replace(withSpec(old, { size: 2 }), ['spec'])
        await expectCode(store.replace(withSpec(old, { size: 3 }), ['spec']), 'VERSION_CONFLICT')
        expect(await store.get(keyOf(live.object))).toEqual(live)
      })

      it('refuses what is not there', async () => {
        await expectCode(store.replace(storedWidget('a', { resourceVersion: '5' }), ['spec']), 'NOT_FOUND')
        const removed = await store.create(storedWidget('b'))
        await store.remove(removed)
        await expectCode(store.replace(removed, ['spec']), 'NOT_FOUND')
        const last = await store.remove(await store.create(storedWidget('c')))
        await expectCode(store.replace(last, ['spec']), 'NOT_FOUND')
        await expectCode(store.remove(last), 'NOT_FOUND')
      })

      it('refuses an object that has taken the name since', async () => {
        const first = await store.create(storedWidget('a', { uid: 'first' }))
        await store.remove(first)
        const second = await store.create(storedWidget('a', { uid: 'second' }))
        const { resourceVersion } = second.object.metadata
        await expectCode(store.replace(withMetadata(first, { resourceVersion }), ['spec']), 'VERSION_CONFLICT')
        expect(await store.get(keyOf(second.object))).toEqual(second)
      })

      const writersAtOnce = share(64)
      it(`lets one of ${writersAtOnce} writers of a version win, until all have written`, async () => {
        const { object } = await store.create(withSpec(storedWidget('a'), { writers: [] }))
        const versions = new Set<string>()
        let conflicts = 0
        const write = async (writer: number): Promise<void> => {
          for (;;) {
            const live = (await store.get(keyOf(object))) as StoredObject
            try {
              const written = await store.replace(withSpec(live, { writers: [...writersOf(live), writer] }), ['spec'])
              versions.add(written.object.metadata.resourceVersion)
              return
            } catch (error) {
              if (!hasCode(error, 'VERSION_CONFLICT')) throw error
              conflicts++
            }
          }
        }
        await Promise.all(Array.from({ length: writersAtOnce }, (_, i) => write(i)))
        const writers = writersOf(await store.get(keyOf(object)))
        expect(writers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: writersAtOnce }, (_, i) => i))
        expect(versions.size).toBe(writersAtOnce)
        expect(conflicts).toBeGreaterThan(0)
      })

      it('lets a write or the removal of a version win, and tells the other', async () => {
        for (let round = 0; round < 10; round++) {
          const live = await store.create(storedWidget(`w${round}`))
          const acts = [() => store.replace(withSpec(live, { size: 2 }), ['spec']), () => store.remove(live)]
          const inTurn = round % 2 === 0 ? acts : acts.toReversed()
          const ends = await Promise.allSettled(inTurn.map((act) => act()))
          const won = ends.filter((end) => end.status === 'fulfilled').map(({ value }) => value)
          const lost = ends.filter((end) => end.status === 'rejected').map(({ reason }) => reason as unknown)
          expect([won.length, lost.every((reason) => hasCode(reason, 'VERSION_CONFLICT', 'NOT_FOUND'))]).toEqual([
            1,
            true,
          ])
          const isWritten = won[0]?.object.spec?.['size'] === 2
          expect(await store.get(keyOf(live.object))).toEqual(isWritten ? won[0] : undefined)
        }
      })

      it('harms no neighbour when it is refused', async () => {
        const live = await Promise.all(Array.from({ length: 10 }, (_, i) => store.create(storedWidget(`w${i}`))))
        const results = await Promise.allSettled(
          live.map((stored, i) =>
            store.replace(i % 2 === 0 ? stored : withMetadata(stored, { resourceVersion: '1' }), ['spec']),
          ),
        )
        expect(results.map(({ status }) => status)).toEqual(
          live.map((_, i) => (i % 2 === 0 ? 'fulfilled' : 'rejected')),
        )
        const now = await Promise.all(live.map(async ({ object }) => store.get(keyOf(object))))
        expect(now.map((stored, i) => versionOf(stored) > versionOf(live[i]))).toEqual(live.map((_, i) => i % 2 === 0))
      })
    })

    describe('remove', () => {
      it('gives back the last state, under a new resourceVersion', async () => {
        const live = await store.create({ ...storedWidget('a'), engine: { wakeAtMs: 1 } })
        const last = await store.remove(live)
        expect(versionOf(last)).toBeGreaterThan(versionOf(live))
        expect(last).toEqual(withMetadata(live, { resourceVersion: last.object.metadata.resourceVersion }))
      })

      it('refuses a version that has passed, and what is not there', async () => {
        const old = await store.create(storedWidget('a'))
        const live = await store.replace(old, ['meta'])
        await expectCode(store.remove(old), 'VERSION_CONFLICT')
        await store.remove(live)
        await expectCode(store.remove(live), 'NOT_FOUND')
        await expectCode(store.remove(storedWidget('never', { resourceVersion: '1' })), 'NOT_FOUND')
      })

      it('leaves nothing in lists', async () => {
        await store.remove(await store.create(storedWidget('a')))
        expect((await store.list(widgetKind)).items).toEqual([])
      })
    })

    describe('the size limit', () => {
      const filled = (bytes: number): StoredObject => withSpec(storedWidget('a'), { text: 'x'.repeat(bytes) })

      it('lets 300 KiB pass', async () => {
        const created = await store.create(filled(300 * 1024))
        expect(await store.get(keyOf(created.object))).toEqual(created)
      })

      it('refuses 350 KiB of text, however few its letters', async () => {
        await expectCode(store.create(filled(350 * 1024)), 'TOO_LARGE')
        await expectCode(store.create(withSpec(storedWidget('a'), { text: '漢'.repeat(120 * 1024) })), 'TOO_LARGE')
        expect((await store.list(widgetKind)).items).toEqual([])
      })

      it('ends a page early that has a limit, where its objects are large, and says that more follow', async () => {
        const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
        for (const name of names) await store.create(withSpec(storedWidget(name), { text: 'x'.repeat(340 * 1024) }))
        const found: string[] = []
        let [pages, more] = [0, true]
        while (more) {
          const last = found.at(-1)
          const after = last === undefined ? {} : { after: { namespace: 'default', name: last } }
          const page = await store.list({ ...widgetKind, limit: 500, ...after })
          found.push(...page.items.map(({ object }) => object.metadata.name))
          more = page.more
          pages++
        }
        expect([found, pages]).toEqual([names, 2])
        expect((await store.list(widgetKind)).items).toHaveLength(names.length)
      })

      it('refuses a write that grows beyond it, and leaves the object', async () => {
        const live = await store.create(filled(100))
        await expectCode(store.replace(withSpec(live, { text: 'x'.repeat(350 * 1024) }), ['spec']), 'TOO_LARGE')
        expect(await store.get(keyOf(live.object))).toEqual(live)
      })

      it('leaves room for what the engine writes for itself, of one that is full', async () => {
        const full = await store.create(filled(349 * 1024))
        const engine = { memory: { notes: { long: 'x'.repeat(20 * 1024) } } }
        const stored = await store.replace({ ...full, engine }, ['status', 'engine'])
        expect(await store.get(keyOf(full.object))).toEqual(stored)
        const longer = { ...stored, object: { ...stored.object, status: { long: 'x'.repeat(2 * 1024) } } }
        await expectCode(store.replace(longer, ['status', 'engine']), 'TOO_LARGE')
        const more = { memory: { notes: { long: 'x'.repeat(50 * 1024) } } }
        await expectCode(store.replace({ ...stored, engine: more }, ['engine']), 'TOO_LARGE')
      })

      it('keeps nobody from the deletion of one that is full', async () => {
        const full = await store.create(filled(350 * 1024 - 300))
        const marked = withMetadata(full, {
          deletionTimestamp: '2026-01-01T00:00:00Z',
          finalizers: ['a/b'.padEnd(400)],
        })
        const going = await store.replace(marked, ['delete'])
        await store.remove(await store.replace(withMetadata(going, { finalizers: [] }), ['meta']))
        expect(await store.get(keyOf(full.object))).toBeUndefined()
      })

      it('counts the engine state, where both are more than there is room for', async () => {
        await expectCode(
          store.create({ ...filled(200 * 1024), engine: { memory: { notes: { long: 'x'.repeat(200 * 1024) } } } }),
          'TOO_LARGE',
        )
      })
    })

    describe('list', () => {
      const names = async (query: Partial<ListQuery> = {}): Promise<readonly string[]> => {
        const { items } = await store.list({ ...widgetKind, ...query })
        return items.map(({ object }) => `${object.metadata.namespace ?? ''}/${object.metadata.name}`)
      }
      const createAll = (places: readonly string[]): Promise<unknown> =>
        Promise.all(
          places.map((place) => {
            const [namespace = '', name = ''] = place.split('/')
            return store.create(storedWidget(name, { namespace }))
          }),
        )

      it('goes by namespace, then by name', async () => {
        const ordered = ['/z', 'a/a', 'a/b', 'a/b-1', 'a/b1', 'a-b/a', 'a.b/a', 'ab/a', 'b/a', 'b/z']
        await createAll(ordered.toReversed())
        expect(await names()).toEqual(ordered)
      })

      it('orders letters by their UTF-8 bytes, page by page', async () => {
        const ordered = Array.from({ length: 6 }, (_, i) => [`a/z${i}`, `a/\u{fb00}${i}`, `a/\u{1f600}${i}`])
          .flat()
          .sort(byBytes)
        await createAll(ordered.toReversed())
        expect(await names()).toEqual(ordered)
        const [first = '', second = ''] = await names({ limit: 2 })
        expect([first, second]).toEqual(ordered.slice(0, 2))
        expect(await names({ after: { namespace: 'a', name: second.slice(2) } })).toEqual(ordered.slice(2))
      })

      it('keeps to a namespace, a kind and a group', async () => {
        await createAll(['a/a', 'b/a', 'b/b', 'c/a'])
        expect(await names({ namespace: 'b' })).toEqual(['b/a', 'b/b'])
        expect(await names({ namespace: 'bb' })).toEqual([])
        expect(await names({ kind: 'Gadget' })).toEqual([])
        expect(await names({ group: 'example.org' })).toEqual([])
      })

      it('holds whole objects', async () => {
        const created = await store.create({ ...storedWidget('a'), engine: { wakeAtMs: 2 } })
        expect((await store.list(widgetKind)).items).toEqual([created])
      })

      it('lists objects without a namespace', async () => {
        const { namespace: _, ...metadata } = storedWidget('a').object.metadata
        const created = await store.create({ ...storedWidget('a'), object: { ...storedWidget('a').object, metadata } })
        expect((await store.list(widgetKind)).items).toEqual([created])
      })

      it('says whether more follows', async () => {
        await createAll(['a/a', 'a/b', 'b/a'])
        const more = async (limit: number): Promise<boolean> => (await store.list({ ...widgetKind, limit })).more
        expect(await Promise.all([1, 2, 3, 4].map(more))).toEqual([true, true, false, false])
        expect((await store.list({ ...widgetKind, namespace: 'a', limit: 2 })).more).toBe(false)
      })

      it('goes on behind a place, whether or not anything stands there', async () => {
        await createAll(['a/a', 'a/c', 'b/a'])
        expect(await names({ after: { namespace: 'a', name: 'a' } })).toEqual(['a/c', 'b/a'])
        expect(await names({ after: { namespace: 'a', name: 'b' } })).toEqual(['a/c', 'b/a'])
        expect(await names({ namespace: 'b', after: { namespace: 'a', name: 'z' } })).toEqual(['b/a'])
        expect(await names({ namespace: 'a', after: { namespace: 'b', name: 'a' } })).toEqual([])
      })

      it('has nothing in a namespace, and goes on behind a place, that is longer than any may be', async () => {
        for (const name of ['a', 'b']) await store.create(storedWidget(name))
        const long = 'x'.repeat(2_000)
        expect((await store.list({ ...widgetKind, namespace: long })).items).toEqual([])
        const behind = await store.list({ ...widgetKind, after: { namespace: 'default', name: `a${long}` } })
        expect(behind.items.map(({ object }) => object.metadata.name)).toEqual(['b'])
      })

      it('pages through everything once', async () => {
        await createAll(Array.from({ length: 25 }, (_, i) => `ns${i % 3}/w${i}`))
        const seen: string[] = []
        let after: ListQuery['after']
        for (let more = true; more;) {
          const page = await store.list({ ...widgetKind, limit: 4, ...(after !== undefined && { after }) })
          for (const { object } of page.items) seen.push(keyText(keyOf(object)))
          const last = page.items.at(-1)?.object.metadata
          after = { namespace: last?.namespace ?? '', name: last?.name ?? '' }
          more = page.more
        }
        expect(new Set(seen).size).toBe(25)
        expect(seen).toHaveLength(25)
      })

      it('pages through objects that are large, each once, though a page may be shorter than asked for', async () => {
        const text = 'x'.repeat(300 * 1024)
        const all = Array.from({ length: 12 }, (_, i) => `w${String(i).padStart(2, '0')}`)
        for (const name of all) await store.create(withSpec(storedWidget(name), { text }))
        const seen: string[] = []
        let after: ListQuery['after']
        for (let more = true; more;) {
          const page = await store.list({ ...widgetKind, limit: 10, ...(after && { after }) })
          const found = page.items.map(({ object }) => object.metadata.name)
          expect(found.length).toBeGreaterThan(0)
          expect(found.length).toBeLessThanOrEqual(10)
          seen.push(...found)
          after = { namespace: 'default', name: found.at(-1) ?? '' }
          more = page.more
        }
        expect(seen).toEqual(all)
      })

      it('lists more than any page, if no limit is asked for', async () => {
        await createAll(Array.from({ length: 1_201 }, (_, i) => `default/w${String(i).padStart(4, '0')}`))
        const all = await names()
        expect(all).toHaveLength(1_201)
        expect(all.at(-1)).toBe('default/w1200')
      })

      it('says a resourceVersion that no item before it is above', async () => {
        await createAll(['a/a', 'a/b'])
        const { items, resourceVersion } = await store.list(widgetKind)
        expect(resourceVersion).toMatch(/^[1-9]\d*$/)
        expect(Number(resourceVersion)).toBeGreaterThanOrEqual(Math.max(...items.map(versionOf)))
      })

      it('says a resourceVersion other than 0 when there is nothing', async () => {
        expect((await store.list(widgetKind)).resourceVersion).toMatch(/^[1-9]\d*$/)
      })
    })

    it('does what a map with versions does, whatever the order of writes', async () => {
      const step = fc.record({
        name: fc.constantFrom('a', 'b', 'c'),
        act: fc.constantFrom('create', 'replace', 'stale', 'remove'),
        size: fc.nat(9),
      })
      await fc.assert(
        fc.asyncProperty(fc.uuid(), fc.array(step, { maxLength: 25 }), async (namespace, steps) => {
          const model = new Map<string, StoredObject>()
          for (const { name, act, size } of steps) await expectSameStep(store, model, { name, act, size, namespace })
          const { items } = await store.list({ ...widgetKind, namespace })
          expect(items).toEqual(
            [...model.values()].toSorted((a, b) => (a.object.metadata.name < b.object.metadata.name ? -1 : 1)),
          )
        }),
        { numRuns: share(30) },
      )
    })
  })
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

function writersOf(stored: StoredObject | undefined): readonly number[] {
  return (stored?.object.spec?.['writers'] ?? []) as number[]
}

interface Step {
  readonly namespace: string
  readonly name: string
  readonly act: 'create' | 'replace' | 'stale' | 'remove'
  readonly size: number
}

/** Does a step to the store and to the model, and expects the same of both. */
async function expectSameStep(
  store: ObjectStore,
  model: Map<string, StoredObject>,
  { namespace, name, act, size }: Step,
): Promise<void> {
  const live = model.get(name)
  const given = withSpec(live ?? storedWidget(name, { namespace, resourceVersion: '1' }), { size })
  if (act === 'create') {
    if (live !== undefined) await expectCode(store.create(given), 'ALREADY_EXISTS')
    else model.set(name, await store.create(given))
  } else if (live === undefined) {
    await expectCode(act === 'remove' ? store.remove(given) : store.replace(given, ['spec']), 'NOT_FOUND')
  } else if (act === 'stale') {
    await expectCode(store.replace(withMetadata(given, { resourceVersion: '1' }), ['spec']), 'VERSION_CONFLICT')
  } else if (act === 'replace') {
    model.set(name, await store.replace(given, ['spec']))
  } else {
    await store.remove(given)
    model.delete(name)
  }
  expect(await store.get({ ...widgetKind, namespace, name })).toEqual(model.get(name))
}
