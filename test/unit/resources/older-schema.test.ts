import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemRandom } from '../../../shared/adapters/node/system-random.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import { defineBuiltInKind, type ServedKind } from '../../../shared/model/served-kind.ts'
import type { StructuralSchema } from '../../../shared/model/schema/structural-schema.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import { namespaceKind } from '../../../shared/resources/built-in-kinds.ts'
import { createResources } from '../../../shared/resources/create-resources.ts'
import type { Resources, WriteOptions } from '../../../shared/resources/resources.ts'
import { openSqlite, type OpenSqlite } from '../../support/sqlite.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'

/** Writes to objects that were stored under an older schema of their kind, which they do not fit any more. */
let opened: OpenSqlite
let resources: Resources
beforeEach(async () => {
  const clock = createVirtualClock()
  opened = openSqlite(':memory:', clock)
  resources = createResources({ store: opened.store, clock, random: systemRandom })
  await resources.create(namespaceKind, { metadata: { name: 'default' } }, by)
})
afterEach(() => opened.close())

const by = { manager: 'test' }
const at = { namespace: 'default', name: 'a' }
const text = { type: 'string' } as const

function kindOf(spec: StructuralSchema, root: Partial<StructuralSchema> = {}): ServedKind {
  const status = { type: 'object', properties: { phase: { type: 'string', enum: ['Old', 'New'] } } } as const
  const schema: StructuralSchema = { type: 'object', properties: { spec, status }, ...root }
  return {
    ...defineBuiltInKind({ group: 'g.dev', kind: 'K', plural: 'ks', namespaced: true, schema }),
    hasStatus: true,
  }
}

const titled = kindOf({ type: 'object', properties: { title: text, size: { type: 'integer' } } })
const headed = kindOf({
  type: 'object',
  required: ['heading'],
  properties: { heading: text, size: { type: 'integer' } },
})
const demanding = kindOf({ type: 'object', properties: { size: { type: 'integer' } } }, { required: ['spec'] })

async function stored(spec?: JsonObject): Promise<StoredObject> {
  const body = { metadata: { ...at }, ...(spec && { spec }) }
  return (await resources.create(titled, body, by)).stored
}

const annotated = { metadata: { annotations: { note: 'x' } } }

const harmless: readonly {
  readonly what: string
  readonly write: (kind: ServedKind, live: StoredObject) => Promise<unknown>
}[] = [
  {
    what: 'a merge patch of an annotation',
    write: (kind) => resources.patch(kind, at, { type: 'merge', body: annotated }, by),
  },
  {
    what: 'a JSON patch of a label',
    write: (kind) =>
      resources.patch(
        kind,
        at,
        { type: 'json', body: [{ op: 'add', path: '/metadata/labels', value: { a: 'b' } }] },
        by,
      ),
  },
  {
    what: 'an apply of an annotation by another manager',
    write: (kind) => resources.patch(kind, at, { type: 'apply', body: annotated, force: false }, { manager: 'other' }),
  },
  {
    what: 'an update that sends back what was read, and an annotation',
    write: (kind, { object }) =>
      resources.update(kind, { ...object, metadata: { ...object.metadata, ...annotated.metadata } }, by),
  },
  {
    what: 'a status',
    write: (kind) =>
      resources.patch(
        kind,
        at,
        { type: 'merge', body: { status: { phase: 'New' } } },
        { ...by, subresource: 'status' },
      ),
  },
]

describe.each([
  { kind: headed, spec: { title: 'Hello', size: 1 }, name: 'a field was renamed' },
  { kind: headed, spec: { size: 1 }, name: 'a required field was added' },
  { kind: demanding, spec: undefined, name: 'the whole spec is required now' },
])('where $name', ({ kind, spec }) => {
  it.each(harmless)('passes: $what', async ({ write }) => {
    const before = await stored(spec)
    await write(kind, before)
    const after = await resources.get(titled, at)
    expect(after.object.metadata.resourceVersion).not.toBe(before.object.metadata.resourceVersion)
    expect(after.object.metadata.generation).toBe(before.object.metadata.generation)
    expect(after.object['spec']).toEqual(spec)
  })

  it('passes: a deletion', async () => {
    await stored(spec)
    expect((await resources.delete(kind, at)).gone).toBe(true)
  })
})

describe('a write of the spec of what does not fit', () => {
  const patch = (kind: ServedKind, body: JsonObject) => resources.patch(kind, at, { type: 'merge', body }, by)

  it('is refused while it leaves the fault, with its path', async () => {
    await stored({ title: 'Hello', size: 1 })
    await expect(patch(headed, { spec: { size: 2 } })).rejects.toThrow('spec.heading: Required value')
  })

  it('passes once it mends the fault, and takes what the schema does not know away', async () => {
    await stored({ title: 'Hello', size: 1 })
    const { stored: mended } = await patch(headed, { spec: { heading: 'Hello' } })
    expect(mended.object).toMatchObject({ metadata: { generation: 2 }, spec: { heading: 'Hello', size: 1 } })
    expect(mended.object['spec']).not.toHaveProperty('title')
  })

  it('can move a value from its old name to the new one', async () => {
    await stored({ title: 'Hello', size: 1 })
    const move = [{ op: 'move', from: '/spec/title', path: '/spec/heading' }]
    const { stored: mended } = await resources.patch(headed, at, { type: 'json', body: move }, by)
    expect(mended.object['spec']).toEqual({ heading: 'Hello', size: 1 })
  })
})

describe('a field that the schema does not know any more', () => {
  const strict = { ...by, fieldValidation: 'Strict' } as const
  const item: StructuralSchema = { type: 'object', properties: { name: text } }
  const now = kindOf({
    type: 'object',
    properties: { size: { type: 'integer' }, list: { type: 'array', items: item } },
  })
  const list = [{ name: 'a', old: 1 }, { name: 'b' }]
  const older: StructuralSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

  async function storedBefore(): Promise<JsonObject> {
    const body = { metadata: { ...at }, spec: { title: 'Hello', size: 1, list } }
    return (await resources.create(kindOf(older), body, by)).stored.object
  }

  const merge = (spec: JsonObject) => resources.patch(now, at, { type: 'merge', body: { spec } }, strict)
  const put = async (spec: JsonObject, how: WriteOptions = strict) =>
    resources.update(now, { ...(await storedBefore()), spec }, how)

  it('is no fault of who patches something else', async () => {
    await storedBefore()
    const { stored: patched, warnings } = await merge({ size: 2 })
    expect([patched.object['spec'], warnings]).toEqual([{ size: 2, list: [{ name: 'a' }, { name: 'b' }] }, []])
  })

  it('is no fault of who sends it back as it was', async () => {
    const { stored: written, warnings } = await put({ title: 'Hello', size: 2, list })
    expect([written.object['spec'], warnings]).toEqual([{ size: 2, list: [{ name: 'a' }, { name: 'b' }] }, []])
  })

  it.each<[string, JsonObject, string]>([
    ['another value', { title: 'Bye', list }, 'unknown field "spec.title"'],
    ['another value in a list', { title: 'Hello', list: [{ name: 'a', old: 2 }] }, 'unknown field "spec.list[0].old"'],
    ['it at another place', { list: [{ name: 'b' }, { name: 'a', old: 1 }] }, 'unknown field "spec.list[1].old"'],
    ['another such field', { title: 'Hello', colour: 'red' }, 'unknown field "spec.colour"'],
  ])('is one of who sends %s', async (_, spec, fault) => {
    await storedBefore()
    await expect(merge(spec)).rejects.toThrow(`strict decoding error: ${fault}`)
    await resources.delete(now, at)
    await expect(put(spec)).rejects.toThrow(`strict decoding error: ${fault}`)
    await resources.delete(now, at)
    expect((await put(spec, by)).warnings).toEqual([fault])
  })
})

it('a status that does not fit is refused as ever, whatever the spec is', async () => {
  await stored({ title: 'Hello' })
  const body = { status: { phase: 'Odd' } }
  await expect(resources.patch(headed, at, { type: 'merge', body }, { ...by, subresource: 'status' })).rejects.toThrow(
    'status.phase: Unsupported value',
  )
})
