import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { keyOf, keyText, type ObjectKey } from '../../shared/model/object-key.ts'
import type { OwnerReference } from '../../shared/model/object.ts'
import type { Wait } from '../../shared/model/engine-state.ts'
import type { StoredObject } from '../../shared/model/stored-object.ts'
import { wheelSlot, wheelSlots } from '../../shared/model/wheel.ts'
import type { ObjectIndex } from '../../shared/ports/object-index.ts'
import type { ObjectStore } from '../../shared/ports/object-store.ts'
import { storedWidget, widgetKind, withMetadata } from '../support/stored-object.ts'

/** An empty store with its index, and how to let them go. */
export interface OpenIndex {
  readonly store: ObjectStore
  readonly index: ObjectIndex
  /** Waits until the index has caught up with the store. */
  caughtUp(): Promise<void>
  close(): Promise<void> | void
}

/** What every ObjectIndex promises. */
export function objectIndexContract(adapter: string, open: () => Promise<OpenIndex> | OpenIndex): void {
  describe(`ObjectIndex: ${adapter}`, () => {
    let opened: OpenIndex
    let store: ObjectStore
    let index: ObjectIndex

    beforeEach(async () => {
      opened = await open()
      store = opened.store
      index = opened.index
    })
    afterEach(() => opened.close())

    const found = async (keys: () => Promise<readonly ObjectKey[]>): Promise<readonly string[]> => {
      await opened.caughtUp()
      return (await keys()).map(keyText).toSorted()
    }

    describe('childrenOf', () => {
      /** Strong: nobody waits for the index. */
      const owned = async (uid: string): Promise<readonly string[]> =>
        (await index.childrenOf(uid)).map(keyText).toSorted()

      it('finds objects by each of their owners', async () => {
        const both = await store.create(storedWidget('both', { ownerReferences: [owner('u1'), owner('u2')] }))
        const one = await store.create(storedWidget('one', { ownerReferences: [owner('u2')] }))
        await store.create(storedWidget('none'))
        expect(await owned('u1')).toEqual([textOf(both)])
        expect(await owned('u2')).toEqual([textOf(both), textOf(one)])
        expect(await owned('u3')).toEqual([])
      })

      it('follows the owners as they change', async () => {
        const first = await store.create(storedWidget('a', { ownerReferences: [owner('u1'), owner('u2')] }))
        const second = await store.replace(withMetadata(first, { ownerReferences: [owner('u2'), owner('u3')] }), [
          'meta',
        ])
        expect(await Promise.all(['u1', 'u2', 'u3'].map(owned))).toEqual([[], [textOf(first)], [textOf(first)]])
        await store.replace(withMetadata(second, { ownerReferences: [] }), ['meta'])
        expect(await Promise.all(['u1', 'u2', 'u3'].map(owned))).toEqual([[], [], []])
      })

      it('names an object once, though it names an owner twice', async () => {
        const stored = await store.create(storedWidget('a', { ownerReferences: [owner('u1'), owner('u1')] }))
        expect(await owned('u1')).toEqual([textOf(stored)])
      })

      it('takes any text for a uid', async () => {
        const uid = `it's "odd", [1] %_ ä`
        const stored = await store.create(storedWidget('a', { ownerReferences: [owner(uid)] }))
        expect(await owned(uid)).toEqual([textOf(stored)])
        await store.replace(withMetadata(stored, { ownerReferences: [] }), ['meta'])
        expect(await owned(uid)).toEqual([])
      })

      it('gives no more than asked for, and all without a limit', async () => {
        const metadata = { ownerReferences: [owner('u1')] }
        const stored = await Promise.all(['a', 'b', 'c'].map((name) => store.create(storedWidget(name, metadata))))
        const all = stored.map(textOf)
        const two = (await index.childrenOf('u1', 2)).map(keyText)
        expect([new Set(two).size, two.filter((text) => !all.includes(text))]).toEqual([2, []])
        expect((await index.childrenOf('u1', 4)).map(keyText).toSorted()).toEqual(all)
        expect(await owned('u1')).toEqual(all)
      })

      it('forgets what is removed', async () => {
        await store.remove(await store.create(storedWidget('a', { ownerReferences: [owner('u1')] })))
        expect(await owned('u1')).toEqual([])
      })
    })

    describe('referrers', () => {
      const target = { group: '', kind: 'ConfigMap', namespace: 'default', name: 'settings' }
      const other = { ...target, name: 'other' }
      const referring = (key: ObjectKey): Promise<readonly string[]> => found(() => index.referrers(key))

      it('finds who was said to refer', async () => {
        const [a, b] = await Promise.all([store.create(storedWidget('a')), store.create(storedWidget('b'))])
        await index.setReferences(keyOf(a.object), [target, other])
        await index.setReferences(keyOf(b.object), [target])
        expect(await referring(target)).toEqual([textOf(a), textOf(b)])
        expect(await referring(other)).toEqual([textOf(a)])
        expect(await referring({ ...target, namespace: 'elsewhere' })).toEqual([])
      })

      it('tells what somebody was said to refer to', async () => {
        const { object } = await store.create(storedWidget('a'))
        expect(await index.references(keyOf(object))).toEqual([])
        await index.setReferences(keyOf(object), [target, other])
        expect((await index.references(keyOf(object))).map(keyText).toSorted()).toEqual([other, target].map(keyText))
      })

      it('finds referrers of what does not exist', async () => {
        const a = await store.create(storedWidget('a'))
        const absent = { ...widgetKind, namespace: 'default', name: 'absent' }
        await index.setReferences(keyOf(a.object), [absent])
        expect(await referring(absent)).toEqual([textOf(a)])
      })

      it('replaces what was said before', async () => {
        const { object } = await store.create(storedWidget('a'))
        await index.setReferences(keyOf(object), [target])
        await index.setReferences(keyOf(object), [other, other])
        expect(await Promise.all([target, other].map(referring))).toEqual([[], [keyText(keyOf(object))]])
        expect(await index.references(keyOf(object))).toEqual([other])
        await index.setReferences(keyOf(object), [])
        expect(await referring(other)).toEqual([])
      })

      it('keeps them when the object is written', async () => {
        const stored = await store.create(storedWidget('a'))
        await index.setReferences(keyOf(stored.object), [target])
        await store.replace(stored, ['spec'])
        expect(await referring(target)).toEqual([textOf(stored)])
      })

      it('ends them with the object, also for the next one of its name', async () => {
        const stored = await store.create(storedWidget('a'))
        await index.setReferences(keyOf(stored.object), [target])
        await store.remove(stored)
        expect(await referring(target)).toEqual([])
        await store.create(storedWidget('a', { uid: 'next' }))
        expect(await referring(target)).toEqual([])
        expect(await index.references(keyOf(stored.object))).toEqual([])
      })
    })

    describe('due', () => {
      const waiting = (atMs: number): Wait => ({ kind: 'Requeue', generation: 1, atMs })
      const timed = (name: string, atMs: number): StoredObject => ({
        ...storedWidget(name),
        engine: { wait: waiting(atMs) },
      })
      const due = async (untilMs: number, limit = 10): Promise<readonly string[]> => {
        await opened.caughtUp()
        return (await index.due(widgetKind, untilMs, limit)).map(({ key, dueAtMs }) => `${key.name} ${dueAtMs}`)
      }

      it('finds timers up to a time, the earliest first', async () => {
        await Promise.all(
          [timed('c', 300), timed('a', 100), timed('d', 301), timed('b', 200)].map((stored) => store.create(stored)),
        )
        await store.create(storedWidget('none'))
        expect(await due(300)).toEqual(['a 100', 'b 200', 'c 300'])
        expect(await due(99)).toEqual([])
      })

      it('finds the wish for a run that another has, whichever is earlier', async () => {
        await store.create({ ...timed('a', 200), engine: { wait: waiting(200), wakeAtMs: 100 } })
        await store.create({ ...timed('b', 300), engine: { wait: waiting(300), wakeAtMs: 400 } })
        await store.create({ ...timed('c', 500), engine: { wakeAtMs: 500 } })
        expect(await due(500)).toEqual(['a 100', 'b 300', 'c 500'])
      })

      it('finds those of one kind only', async () => {
        await store.create(timed('a', 100))
        expect(await index.due({ group: '', kind: 'Never' }, 100, 1)).toEqual([])
      })

      it('begins where it is asked to', async () => {
        await Promise.all([timed('a', 1), timed('b', 2), timed('c', 3)].map((stored) => store.create(stored)))
        await opened.caughtUp()
        const from = async (fromMs: number, limit = 10): Promise<readonly string[]> =>
          (await index.due(widgetKind, 3, limit, fromMs)).map(({ key }) => key.name)
        expect(await from(2)).toEqual(['b', 'c'])
        expect(await from(2, 1)).toEqual(['b'])
        expect(await from(4)).toEqual([])
      })

      it('gives no more than asked for', async () => {
        await Promise.all([timed('a', 1), timed('b', 2), timed('c', 3)].map((stored) => store.create(stored)))
        expect(await due(10, 2)).toEqual(['a 1', 'b 2'])
      })

      it('follows the timer as it moves, ends, and goes with its object', async () => {
        const first = await store.create(timed('a', 100))
        const second = await store.replace({ ...first, engine: { wait: waiting(500) } }, ['engine'])
        expect(await due(499)).toEqual([])
        expect(await due(500)).toEqual(['a 500'])
        const third = await store.replace({ ...second, engine: {} }, ['engine'])
        expect(await due(1_000)).toEqual([])
        await store.remove(await store.replace({ ...third, engine: { wait: waiting(7) } }, ['engine']))
        expect(await due(1_000)).toEqual([])
      })

      it('names the whole key', async () => {
        const stored = await store.create(timed('a', 1))
        await opened.caughtUp()
        expect(await index.due(widgetKind, 1, 1)).toEqual([{ key: keyOf(stored.object), dueAtMs: 1 }])
      })
    })

    describe('onWheel', () => {
      it('finds each object of a kind on its slot, and on no other', async () => {
        const stored = await Promise.all(Array.from({ length: 40 }, (_, i) => store.create(storedWidget(`w${i}`))))
        await store.create({ ...storedWidget('g'), object: { ...storedWidget('g').object, kind: 'Gadget' } })
        expect(await found(() => index.onWheel(widgetKind, 0, wheelSlots))).toEqual(stored.map(textOf).toSorted())
        for (const one of stored.slice(0, 5)) {
          const slot = wheelSlot(one.object.metadata.uid)
          expect(await found(() => index.onWheel(widgetKind, slot, slot + 1))).toContain(textOf(one))
          expect(await found(() => index.onWheel(widgetKind, slot + 1, wheelSlots))).not.toContain(textOf(one))
          expect(await found(() => index.onWheel(widgetKind, 0, slot))).not.toContain(textOf(one))
        }
      })

      // Names of roles may have any mark but a slash and a percent sign.
      it.each(['team#dev', '#', 'a#b#c', '~a', '$', ' '])('finds the object that is called %j', async (name) => {
        const stored = await store.create(storedWidget(name))
        expect(await found(() => index.onWheel(widgetKind, 0, wheelSlots))).toEqual([textOf(stored)])
      })

      it('forgets what is removed, and knows nothing of a kind without objects', async () => {
        await store.remove(await store.create(storedWidget('a')))
        expect(await found(() => index.onWheel(widgetKind, 0, wheelSlots))).toEqual([])
        expect(await found(() => index.onWheel({ group: '', kind: 'Never' }, 0, wheelSlots))).toEqual([])
      })
    })
  })
}

function owner(uid: string): OwnerReference {
  return { apiVersion: 'example.com/v1', kind: 'Owner', name: 'any', uid }
}

function textOf({ object }: StoredObject): string {
  return keyText(keyOf(object))
}
