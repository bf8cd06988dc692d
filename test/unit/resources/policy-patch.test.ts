import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../shared/model/json.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import { withPatch, withPolicyPatch, type Patched } from '../../../shared/resources/policy-patch.ts'

const text = { type: 'string' }
const schema = {
  type: 'object',
  properties: {
    metadata: { type: 'object' },
    spec: {
      type: 'object',
      properties: {
        color: { ...text, default: 'red' },
        tags: { type: 'array', items: text, 'x-kubernetes-list-type': 'atomic' },
        parts: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: { type: 'object', properties: { name: text, tags: { type: 'array', items: text } } },
        },
      },
    },
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

function widget(spec: JsonObject, generation = 3, status: JsonObject = { seen: 1 }): ApiObject {
  const metadata = {
    name: 'a',
    namespace: 'n',
    uid: 'u',
    resourceVersion: '1',
    generation,
    creationTimestamp: '2026-01-01T00:00:00Z',
  }
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata, spec, status }
}

const object = widget({ color: 'blue', parts: [{ name: 'x', tags: ['t'] }] })
const asked = (more: Partial<Patched> = {}): Patched => ({ kind, object, subresource: '', ...more })
const replace = (path: string, value: unknown) => ({ op: 'replace', path, value }) as JsonObject

describe('what admission makes of an object by operations', () => {
  const made = (operations: readonly JsonObject[], more?: Partial<Patched>) =>
    withPolicyPatch(asked(more), { type: 'json', operations } as never)

  it.each<[string, Partial<Patched>, number]>([
    ['a birth has the first generation', {}, 1],
    ['a change moves that of what was there', { old: widget({ color: 'red' }) }, 4],
    [
      'a change to what was there leaves it',
      { old: widget({ ...(object['spec'] as JsonObject), color: 'green' }, 7) },
      7,
    ],
  ])('%s', (_what, more, generation) => {
    const next = made([replace('/spec/color', 'green')], more)
    expect(next).toMatchObject({ spec: { color: 'green' }, status: { seen: 1 }, metadata: { generation } })
  })

  it('gives a name to what has none yet, and to nothing else', () => {
    const { name: _, ...metadata } = object.metadata
    const nameless = { ...object, metadata } as ApiObject
    const add = [{ op: 'add', path: '/metadata/name', value: 'b' }]
    expect(made(add, { object: nameless }).metadata.name).toBe('b')
    expect(made([replace('/spec/color', 'green')], { object: nameless }).metadata).not.toHaveProperty('name')
    expect(() => made(add)).toThrow('the name of the object (b) does not match the name on the URL (a)')
    expect(() => made(add, { old: object })).toThrow('does not match')
  })

  it('is pruned, and has its defaults', () => {
    const next = made([replace('/spec', { unknown: 1 })])
    expect(next['spec']).toEqual({ color: 'red' })
  })

  it('keeps what is the server’s own, and the status but by its own path', () => {
    const operations = [replace('/metadata/uid', 'u'), replace('/status', { seen: 2 }), replace('/spec/color', 'green')]
    expect(made(operations)).toMatchObject({ metadata: { uid: 'u' }, status: { seen: 1 }, spec: { color: 'green' } })
    expect(made(operations, { subresource: 'status' })).toMatchObject({ status: { seen: 2 }, spec: { color: 'blue' } })
  })

  it('of what is no object of its own is that', () => {
    const next = made([replace('/spec/color', 'green')], { resource: kind })
    expect(next).toEqual({ ...object, spec: { ...(object['spec'] as JsonObject), color: 'green' } })
    expect(next.metadata).toBe(object.metadata)
  })

  it('is the same object where a test does not hold, and refused where something else does not fit', () => {
    const fails = { op: 'test', path: '/spec/color', value: 'red' }
    expect(made([replace('/spec/color', 'green'), fails])).toBe(object)
    expect(() => made([{ op: 'remove', path: '/none' }])).toThrow(expect.objectContaining({ code: 'INVALID' }))
    expect(() => withPatch(asked(), [fails])).toThrow('operation 0, test /spec/color')
    expect(withPatch(asked(), [replace('/spec/color', 'green')])).toMatchObject({ spec: { color: 'green' } })
  })

  it('costs what its patch costs', () => {
    const spent: number[] = []
    const budget = { spend: (steps: number) => void spent.push(steps) } as never
    made([replace('/spec/color', 'green')], { budget })
    withPatch(asked({ budget }), [replace('/spec/color', 'green')])
    expect(spent).toEqual([10, 10])
  })
})

describe('what admission makes of an object by a configuration', () => {
  const made = (config: JsonObject) => withPolicyPatch(asked(), { type: 'apply', config } as never)

  it('is merged into it, item by item', () => {
    expect(made({ spec: { color: 'green', parts: [{ name: 'y' }] } })['spec']).toEqual({
      color: 'green',
      parts: [{ name: 'x', tags: ['t'] }, { name: 'y' }],
    })
    expect(made({ metadata: { labels: { a: 'b' } } }).metadata).toMatchObject({ labels: { a: 'b' } })
  })

  it.each<[JsonObject, string]>([
    [{ spec: { tags: ['a'] } }, 'atomic arrays, maps or structs: .spec.tags'],
    [{ spec: { parts: [{ name: 'x' }, { name: 'y', tags: [] }] } }, 'structs: .spec.parts[1].tags'],
    [{ spec: { parts: 'x' } }, 'failed to convert patch object to typed object: .spec.parts: '],
    [{ spec: { color: 5 } }, 'failed to convert patch object to typed object: .spec.color: '],
    [{ spec: { nothing: 1 } }, 'typed object: .spec.nothing: field not declared in schema'],
  ])('is refused if it cannot be: %j', (config, why) => {
    expect(() => made(config)).toThrow(expect.objectContaining({ code: 'INVALID' }))
    expect(() => made(config)).toThrow(why)
  })
})
