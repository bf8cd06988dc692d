import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../shared/model/json.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import type { AcceptedChange } from '../../../shared/model/engine-state.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import { withAcceptedChange } from '../../../shared/resources/accepted-change.ts'
import { createWidgetHarness, widget, widgets, type Harness } from '../api/harness.ts'

/** What the engine is told, for people, of a change of the desired state. */
let harness: Harness
beforeEach(async () => {
  harness = await createWidgetHarness()
  await harness.send(`POST ${widgets}`, { body: widget('a') })
})
afterEach(() => harness.close())

async function storedWidget(): Promise<StoredObject> {
  const stored = await harness.store.get({ group: 'example.com', kind: 'Widget', namespace: 'default', name: 'a' })
  return stored as StoredObject
}

async function noted(): Promise<AcceptedChange | undefined> {
  return (await storedWidget()).engine.change
}

function patch(body: JsonObject, path = `${widgets}/a`): Promise<unknown> {
  return harness.send(`PATCH ${path}?fieldManager=alice`, { type: 'application/merge-patch+json', body })
}

describe('the note of a change', () => {
  it('says who created the object, and when', async () => {
    expect(await noted()).toEqual({ verb: 'created', by: 'kubectl', atMs: harness.clock.nowMs() })
  })

  it('says who changed which fields, and since when changes wait', async () => {
    const createdMs = harness.clock.nowMs()
    await harness.clock.advance(1_000)
    await patch({ spec: { color: 'blue', size: 3 } })
    const change = { verb: 'changed', by: 'alice', atMs: createdMs + 1_000, sinceMs: createdMs }
    expect(await noted()).toEqual({ ...change, fields: ['spec.color', 'spec.size'] })
  })

  it('says who asked for the deletion', async () => {
    await patch({ metadata: { finalizers: ['example.com/held'] } })
    await harness.send(`DELETE ${widgets}/a?fieldManager=bob`)
    expect(await noted()).toMatchObject({ verb: 'deleted', by: 'bob' })
  })

  it('begins anew once the change before was observed', async () => {
    const stored = await storedWidget()
    await harness.store.replace({ ...stored, object: { ...stored.object, status: { observedGeneration: 1 } } }, [
      'status',
    ])
    await patch({ spec: { color: 'blue' } })
    expect(await noted()).not.toHaveProperty('sinceMs')
  })

  it('is not made by what leaves the desired state as it is', async () => {
    const before = await noted()
    await patch({ metadata: { labels: { a: 'b' } } })
    await patch({ status: { phase: 'Done' } }, `${widgets}/a/status`)
    await patch({ spec: { color: 'red' } })
    expect(await noted()).toEqual(before)
  })

  it('is not made for kinds that nobody reconciles', async () => {
    await harness.send('POST /api/v1/namespaces/default/configmaps', { body: { metadata: { name: 'a' } } })
    const key = { group: '', kind: 'ConfigMap', namespace: 'default', name: 'a' }
    expect((await harness.store.get(key))?.engine).toEqual({})
  })

  it('is not shown while nothing waits', async () => {
    const { body } = await harness.send(`GET ${widgets}/a`)
    expect(body).not.toHaveProperty('status')
  })
})

describe('a note', () => {
  const kind = { builtIn: false, hasStatus: true } as ServedKind
  const of = (generation: number, content: JsonObject = {}, metadata: JsonObject = {}): StoredObject => ({
    object: { metadata: { name: 'a', generation, ...metadata }, ...content } as unknown as ApiObject,
    engine: {},
  })
  const by = { manager: 'alice', nowMs: 5 }
  const note = (before: StoredObject | undefined, next: StoredObject, changer = by) =>
    withAcceptedChange(kind, before, next, changer).engine.change

  it.each<[string, StoredObject | undefined, StoredObject, object | undefined]>([
    ['a birth', undefined, of(1), { verb: 'created', by: 'alice', atMs: 5 }],
    ['a change', of(1, { spec: 1 }), of(2, { spec: 2 }), { verb: 'changed', by: 'alice', atMs: 5, fields: ['spec'] }],
    ['no change', of(1, { spec: 1 }), of(1, { spec: 1 }), undefined],
    ['a deletion', of(1), of(2, {}, { deletionTimestamp: 'x' }), { verb: 'deleted', by: 'alice', atMs: 5 }],
    [
      'a change of what is being deleted',
      of(2, { spec: 1 }, { deletionTimestamp: 'x' }),
      of(3, { spec: 2 }, { deletionTimestamp: 'x' }),
      { verb: 'changed', by: 'alice', atMs: 5, fields: ['spec'] },
    ],
    [
      'a change of the status',
      of(1, { status: 1 }),
      of(2, { status: 2 }),
      { verb: 'changed', by: 'alice', atMs: 5, fields: [] },
    ],
  ])('of %s', (_what, before, next, made) => {
    expect(note(before, next)).toEqual(made)
  })

  it('says since when changes wait that nobody has observed', () => {
    const change = { verb: 'changed', by: 'bob', atMs: 2 } as const
    const waiting = (more: object, content: JsonObject = {}): StoredObject => ({
      ...of(1, content),
      engine: { change: { ...change, ...more } },
    })
    expect(note(waiting({}), of(2))).toMatchObject({ sinceMs: 2 })
    expect(note(waiting({ sinceMs: 1 }), of(2))).toMatchObject({ sinceMs: 1 })
    expect(note(waiting({}, { status: { observedGeneration: 1 } }), of(2))).not.toHaveProperty('sinceMs')
  })

  it('is as long as a person reads', () => {
    const spec = Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`${i}${'x'.repeat(200)}`, 1]))
    const made = note(of(1, { spec: {} }), of(2, { spec }), { manager: 'm'.repeat(200), nowMs: 5 })
    const { fields = [] } = made as { readonly fields?: readonly string[] }
    expect([made?.by.length, ...fields.map(({ length }) => length)]).toEqual([128, 100, 100, 100, 100, 100, 1])
    expect(fields.at(-1)).toBe('…')
  })

  it.each([
    ['is built in', { builtIn: true }],
    ['has no status', { hasStatus: false }],
  ])('is none for a kind that %s', (_what, more) => {
    const next = of(2)
    expect(withAcceptedChange({ ...kind, ...more }, of(1), next, by)).toBe(next)
  })
})
