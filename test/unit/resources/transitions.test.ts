import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../shared/model/json.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import type { DeleteOptions } from '../../../shared/resources/resources.ts'
import {
  findTouched,
  markDeleted,
  newObject,
  replaceObject,
  withGeneration,
  withStatus,
} from '../../../shared/resources/transitions.ts'

const schema = {
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { size: { type: 'integer', default: 1 } } },
    status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
}
const kind = {
  group: 'example.com',
  version: 'v1',
  storageVersion: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: true,
  hasStatus: true,
  schema,
} as unknown as ServedKind
const withoutStatus: ServedKind = { ...kind, hasStatus: false }
const birth = { namespace: 'default', nowMs: 0, uid: 'u', suffix: 'abcde' }

const bad = (message: string) => expect.objectContaining({ code: 'BAD_REQUEST', message })

describe('a new object', () => {
  const bodyOf = (metadata: object, content: object = {}): JsonObject =>
    ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata, ...content }) as JsonObject

  it.each([
    { given: { name: 'w' }, name: 'w', generateName: undefined },
    { given: { generateName: 'w-' }, name: 'w-abcde', generateName: 'w-' },
    { given: { name: 'w', generateName: 'v-' }, name: 'w', generateName: 'v-' },
    { given: {}, name: '', generateName: undefined },
  ])('with $given is named $name', ({ given, name, generateName }) => {
    const { metadata } = newObject(kind, bodyOf(given), birth)
    expect(metadata).toMatchObject({ name, namespace: 'default', uid: 'u', generation: 1 })
    expect(metadata.generateName).toBe(generateName)
    expect(Object.hasOwn(metadata, 'generateName')).toBe(generateName !== undefined)
  })

  it('has what is the server’s set by the server, and no status that has its own path', () => {
    const given = {
      name: 'w',
      uid: 'mine',
      generation: 7,
      creationTimestamp: '2001-01-01T00:00:00Z',
      labels: { a: 'b' },
    }
    const content = { spec: { size: 2 }, status: { a: 1 }, none: undefined }
    const whole = newObject(kind, bodyOf(given, content), birth)
    expect(whole).toStrictEqual({
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: {
        labels: { a: 'b' },
        name: 'w',
        namespace: 'default',
        uid: 'u',
        resourceVersion: '0',
        generation: 1,
        creationTimestamp: '1970-01-01T00:00:00Z',
      },
      spec: { size: 2 },
    })
    expect(newObject(withoutStatus, bodyOf(given, content), birth)).toMatchObject({ status: { a: 1 } })
  })

  it.each([
    ['its own namespace', kind, { namespace: 'default' }, 'default'],
    ['no namespace', kind, {}, 'default'],
    ['a namespace that its kind does not have', { ...kind, namespaced: false }, { namespace: 'other' }, undefined],
  ])('with %s', (_what, of, given, namespace) => {
    expect(newObject(of, bodyOf({ name: 'w', ...given }), birth).metadata.namespace).toBe(namespace)
  })

  it('of another namespace, or with a version, is refused', () => {
    expect(() => newObject(kind, bodyOf({ name: 'w', namespace: 'other' }), birth)).toThrow(
      bad('the namespace of the provided object (other) does not match the namespace sent on the request (default)'),
    )
    expect(() => newObject(kind, bodyOf({ name: 'w', resourceVersion: '1' }), birth)).toThrow(
      bad('resourceVersion should not be set on objects to be created'),
    )
  })
})

const live: ApiObject = {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: {
    name: 'w',
    namespace: 'default',
    uid: 'u',
    resourceVersion: '5',
    generation: 3,
    creationTimestamp: 'then',
    labels: { a: 'b' },
    annotations: { c: 'd' },
    finalizers: ['e.f/g'],
  },
  spec: { size: 2 },
  status: { seen: 1 },
}

describe('a write of the whole object', () => {
  it('decides all but what is the server’s, and the status', () => {
    const body = { metadata: { labels: { x: 'y' }, generation: 9 }, spec: { size: 3 }, status: { seen: 9 } }
    expect(replaceObject(kind, live, body)).toEqual({
      ...live,
      metadata: {
        name: 'w',
        namespace: 'default',
        uid: 'u',
        resourceVersion: '5',
        generation: 4,
        creationTimestamp: 'then',
        labels: { x: 'y' },
      },
      spec: { size: 3 },
    })
    expect(replaceObject(withoutStatus, live, body)).toMatchObject({ status: { seen: 9 }, metadata: { generation: 4 } })
  })

  it.each<[string, ServedKind, JsonObject, number]>([
    ['the same', kind, { spec: { size: 2 } }, 3],
    ['another spec', kind, { spec: { size: 3 } }, 4],
    ['a default', kind, { spec: {} }, 4],
    ['no spec', kind, {}, 4],
    ['another status', kind, { spec: { size: 2 }, status: {} }, 3],
    ['another status that has no path', withoutStatus, { spec: { size: 2 }, status: {} }, 4],
    ['no status that has no path', withoutStatus, { spec: { size: 2 } }, 4],
    ['another label', kind, { metadata: { labels: {} }, spec: { size: 2 } }, 3],
  ])('of %s moves the generation as the desired state moves', (_what, of, body, generation) => {
    expect(replaceObject(of, live, body).metadata.generation).toBe(generation)
  })

  it('that leaves a field as it is seen leaves it as it is stored', () => {
    const stored = { ...live, spec: { size: 2, unknown: 'kept' } } as unknown as ApiObject
    const same = replaceObject(kind, stored, { metadata: { labels: { x: 'y' } }, spec: { size: 2 } })
    expect([same['spec'], same.metadata.generation]).toEqual([{ size: 2, unknown: 'kept' }, 3])
    const changed = replaceObject(kind, stored, { spec: { size: 3 } })
    expect([changed['spec'], changed.metadata.generation]).toEqual([{ size: 3 }, 4])
  })

  it('that sees nothing of a field at the top leaves it as it is stored, too', () => {
    const stored = { ...live, extra: 'kept' } as unknown as ApiObject
    const same = replaceObject(kind, stored, { metadata: { labels: { x: 'y' } }, spec: { size: 2 } })
    expect([same['extra'], same.metadata.generation]).toEqual(['kept', 3])
  })

  it.each([
    [{ name: 'v' }, 'the name of the object (v) does not match the name on the URL (w)'],
    [
      { namespace: 'n' },
      'the namespace of the provided object (n) does not match the namespace sent on the request (default)',
    ],
  ])('of another object is refused: %j', (metadata, message) => {
    expect(() => replaceObject(kind, live, { metadata })).toThrow(bad(message))
    expect(() => withStatus(kind, live, { metadata })).toThrow(bad(message))
  })

  it.each([
    [{ uid: 'v' }, 'VERSION_CONFLICT'],
    [{ resourceVersion: '4' }, 'VERSION_CONFLICT'],
  ])('that was made for another state is refused: %j', (metadata, code) => {
    expect(() => replaceObject(kind, live, { metadata })).toThrow(expect.objectContaining({ code }))
    expect(() => withStatus(kind, live, { metadata })).toThrow(expect.objectContaining({ code }))
  })
})

describe('a write of the status', () => {
  it('changes nothing else', () => {
    const body = { metadata: { name: 'w', labels: {} }, spec: { size: 9 }, status: { seen: 2 } }
    expect(withStatus(kind, live, body)).toEqual({ ...live, status: { seen: 2 } })
    const { status: _, ...bare } = live
    expect(withStatus(kind, live, {})).toStrictEqual(bare)
  })
})

describe('a deletion', () => {
  it('marks the object, and moves its generation', () => {
    expect(markDeleted(live, 1_000)).toEqual({
      ...live,
      metadata: {
        ...live.metadata,
        generation: 4,
        deletionTimestamp: '1970-01-01T00:00:01Z',
        deletionGracePeriodSeconds: 0,
      },
    })
    const marked = { ...live, metadata: { ...live.metadata, deletionTimestamp: 'x' } }
    expect(markDeleted(marked, 1_000)).toBe(marked)
    expect(markDeleted(marked, 1_000, 'Background')).toBe(marked)
  })

  it.each<[readonly string[] | undefined, DeleteOptions['propagation'], readonly string[] | undefined]>([
    [undefined, 'Orphan', ['orphan']],
    [['a'], undefined, ['a']],
    [['a'], 'Background', ['a']],
    [['foregroundDeletion', 'a'], undefined, ['foregroundDeletion', 'a']],
    [['foregroundDeletion', 'a'], 'Foreground', ['foregroundDeletion', 'a']],
    [['foregroundDeletion', 'a'], 'Orphan', ['a', 'orphan']],
    [['foregroundDeletion', 'a'], 'Background', ['a']],
    [['orphan'], 'Background', undefined],
  ])('that is asked for again, of one held by %j, with %s leaves %j', (finalizers, propagation, left) => {
    const deletionTimestamp = '1970-01-01T00:00:00Z'
    const going = { ...live, metadata: { ...live.metadata, deletionTimestamp, finalizers } } as unknown as ApiObject
    const { metadata } = markDeleted(going, 1_000, propagation)
    const { finalizers: _, ...others } = live.metadata
    expect(metadata).toEqual({ ...others, deletionTimestamp, ...(left && { finalizers: left }) })
  })

  it.each<[readonly string[] | undefined, DeleteOptions['propagation'], readonly string[] | undefined]>([
    [undefined, undefined, undefined],
    [[], undefined, undefined],
    [['a'], undefined, ['a']],
    [undefined, 'Orphan', ['orphan']],
    [['a', 'foregroundDeletion'], 'Orphan', ['a', 'orphan']],
    [['orphan'], 'Foreground', ['foregroundDeletion']],
    [['orphan'], undefined, ['orphan']],
    [['orphan'], 'Background', undefined],
    [['foregroundDeletion', 'a'], 'Background', ['a']],
  ])('of one held by %j that asks for %s leaves %j', (finalizers, added, left) => {
    const held = { ...live, metadata: { ...live.metadata, finalizers } } as unknown as ApiObject
    const { metadata } = markDeleted(held, 0, added)
    expect(metadata.finalizers).toEqual(left)
    expect(Object.hasOwn(metadata, 'finalizers')).toBe(left !== undefined)
  })
})

describe('what a write touched', () => {
  const of = (metadata: object, content: object = {}): ApiObject => ({
    ...live,
    ...content,
    metadata: { ...live.metadata, ...metadata },
  })
  it.each<[string, ApiObject, readonly string[]]>([
    ['nothing', of({}), []],
    ['its version', of({ resourceVersion: '6' }), []],
    ['its spec', of({ generation: 4 }), ['spec']],
    ['its labels', of({ labels: {} }), ['labels']],
    ['an annotation', of({ annotations: {} }), ['annotations']],
    [
      'an annotation for the engine',
      of({ annotations: { c: 'd', 'setpoint.dev/paused': 'true' } }),
      ['annotations', 'control'],
    ],
    ['its finalizers', of({ finalizers: [] }), ['meta']],
    ['its owners', of({ ownerReferences: [{ uid: 'o' }] }), ['meta']],
    ['its owners of fields', of({ managedFields: [{}] }), ['fields']],
    ['its version of the kind', of({}, { apiVersion: 'example.com/v2' }), ['fields']],
    ['its status', of({}, { status: {} }), ['status']],
    ['its life', of({ deletionTimestamp: 'x', generation: 4 }), ['delete']],
    [
      'all',
      of({ generation: 4, labels: {}, annotations: {}, finalizers: [] }, { status: {} }),
      ['spec', 'labels', 'annotations', 'meta', 'status'],
    ],
  ])('of %s', (_what, next, parts) => {
    expect(findTouched(live, next)).toEqual(parts)
  })

  it('is nothing where a time of the owners of fields is all that differs', () => {
    const owner = { manager: 'm', operation: 'Update', time: '2026-11-01T00:00:00Z', fieldsType: 'FieldsV1' }
    const managedFields = [{ ...owner, time: '2026-11-01T00:00:01Z' }]
    const owned = of({ managedFields: [owner] })
    expect(findTouched(owned, of({ managedFields }))).toEqual([])
    expect(findTouched(owned, of({ managedFields }, { apiVersion: 'example.com/v2' }))).toEqual(['fields'])
    expect(findTouched(owned, of({ managedFields, generation: 4 }))).toEqual(['spec', 'fields'])
    expect(findTouched(owned, of({ managedFields: [{ ...owner, manager: 'n' }] }))).toEqual(['fields'])
    expect(findTouched(owned, of({}))).toEqual(['fields'])
  })

  it('moves the generation by one, and not for a field that is there without a value', () => {
    expect(withGeneration(kind, live, of({ generation: 9 })).metadata.generation).toBe(3)
    expect(withGeneration(kind, live, of({}, { more: 1 })).metadata.generation).toBe(4)
    expect(withGeneration(kind, { ...live, more: 1 }, live).metadata.generation).toBe(4)
    expect(withGeneration(kind, { ...live, more: undefined }, live).metadata.generation).toBe(3)
  })

  it('does not move it for the version alone in which the object is stored', () => {
    expect(withGeneration(kind, { ...live, apiVersion: 'example.com/v1alpha1' }, live).metadata.generation).toBe(3)
  })
})
