import { describe, expect, it } from 'vitest'
import type { ApiObject } from '../../../shared/model/object.ts'
import { defineBuiltInKind } from '../../../shared/model/served-kind.ts'
import { twinOf } from '../../../shared/model/twin.ts'
import { createResources } from '../../../shared/resources/create-resources.ts'
import type { Patch } from '../../../shared/resources/resources.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'
import { createMapStore } from './map-store.ts'

/** A kind that is shown in another group, in which its text is called a note. */
const kind = defineBuiltInKind({
  group: 'old.dev',
  kind: 'K',
  plural: 'ks',
  namespaced: true,
  schema: { type: 'object', properties: { text: { type: 'string' }, size: { type: 'integer' } } },
})
const twin = twinOf(kind, 'new.dev', { note: 'text' })

const at = { namespace: 'n', name: 'a' }
const by = { manager: 'm' }
const meta = { uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '2026-11-01T00:00:00Z' }

function open(live?: ApiObject) {
  const store = createMapStore()
  store.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { ...meta, name: 'n' } })
  if (live) store.put(live)
  const random = { next: () => 0, uuid: () => 'new' }
  return { store, ...createResources({ store, clock: createVirtualClock(), random }) }
}

const live: ApiObject = { apiVersion: 'old.dev/v1', kind: 'K', metadata: { ...at, ...meta }, text: 'was', size: 1 }
const shown = { apiVersion: 'new.dev/v1', kind: 'K', note: 'was', size: 1 }
const storedText = async ({ store }: ReturnType<typeof open>) =>
  (await store.get({ group: 'old.dev', kind: 'K', ...at }))?.object['text']

describe('a kind that is the twin of another', () => {
  it('is read under its own names, and the other under its', async () => {
    const { get, list } = open(live)
    expect((await get(twin, at)).object).toMatchObject(shown)
    expect((await get(twin, at)).object).not.toHaveProperty('text')
    expect((await get(kind, at)).object).toMatchObject({ apiVersion: 'old.dev/v1', text: 'was' })
    expect((await list(twin)).items).toMatchObject([{ object: shown }])
    expect((await list(kind)).items).toMatchObject([{ object: { text: 'was' } }])
  })

  it.each([
    ['was', 1],
    ['is', 0],
  ])('is selected by its own names: note %j', async (note, count) => {
    const { list } = open(live)
    expect((await list(twin, { selector: (object) => object['note'] === note })).items).toHaveLength(count)
    expect((await list(kind, { selector: (object) => object['text'] === note })).items).toHaveLength(count)
  })

  it('is created as the other', async () => {
    const world = open()
    const { stored, warnings } = await world.create(twin, { metadata: { ...at }, note: 'new', text: 'odd' }, by)
    expect([stored.object, warnings]).toMatchObject([
      { apiVersion: 'new.dev/v1', note: 'new' },
      ['unknown field "text"'],
    ])
    expect(await storedText(world)).toBe('new')
    const other = open()
    expect((await other.create(kind, { metadata: { ...at }, text: 'new' }, by)).stored.object).toMatchObject({
      text: 'new',
    })
  })

  it('is replaced as the other', async () => {
    const world = open(live)
    const { stored, before, warnings } = await world.update(twin, { metadata: { ...at }, note: 'next', odd: 1 }, by)
    expect([stored.object, before?.object]).toMatchObject([{ note: 'next' }, { ...shown, note: 'was' }])
    expect(warnings).toEqual(['unknown field "odd"'])
    expect(await storedText(world)).toBe('next')
    const idle = await world.update(twin, { metadata: { ...at }, note: 'next' }, by)
    expect(idle).not.toHaveProperty('before')
    const other = await world.update(kind, { metadata: { ...at }, text: 'last' }, by)
    expect([other.stored.object, other.before?.object]).toMatchObject([{ text: 'last' }, { text: 'next' }])
  })

  it.each<[string, Patch, Patch]>([
    ['merged', { type: 'merge', body: { note: 'next' } }, { type: 'merge', body: { text: 'last' } }],
    [
      'patched by operations',
      { type: 'json', body: [{ op: 'replace', path: '/note', value: 'next' }] },
      { type: 'json', body: [{ op: 'replace', path: '/text', value: 'last' }] },
    ],
    [
      'applied',
      { type: 'apply', body: { note: 'next' }, force: true },
      { type: 'apply', body: { text: 'last' }, force: true },
    ],
  ])('is %s as the other', async (_what, patch, ofOther) => {
    const world = open(live)
    const { stored, before } = await world.patch(twin, at, patch, by)
    expect([stored.object, before?.object]).toMatchObject([{ apiVersion: 'new.dev/v1', note: 'next' }, { note: 'was' }])
    expect(await storedText(world)).toBe('next')
    expect((await world.patch(kind, at, ofOther, by)).stored.object).toMatchObject({ text: 'last' })
  })

  it('is not patched by what names the other', async () => {
    const body = { apiVersion: 'old.dev/v1', kind: 'K', note: 'next' }
    const code = 'BAD_REQUEST'
    await expect(open(live).patch(twin, at, { type: 'merge', body }, by)).rejects.toMatchObject({ code })
  })

  it('is deleted as the other, and shown as it was', async () => {
    const world = open(live)
    expect(await world.delete(twin, at)).toMatchObject({ gone: true, stored: { object: shown } })
    world.store.put(live)
    expect(await world.delete(kind, at)).toMatchObject({ stored: { object: { text: 'was' } } })
  })
})
