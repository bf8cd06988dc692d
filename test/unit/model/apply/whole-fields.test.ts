import { describe, expect, it, vi } from 'vitest'
import { wholeFieldsText } from '../../../../shared/model/apply/typed/whole-fields.ts'
import type { JsonObject } from '../../../../shared/model/json.ts'
import type { ApiObject } from '../../../../shared/model/object.ts'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'
import { widget, widgetSchema, withMetadata } from './widget.ts'

const texts = (hasStatus: boolean, ...objects: readonly JsonObject[]): readonly (string | undefined)[] => {
  // A schema of its own, of which nothing is remembered.
  const schema = structuredClone(widgetSchema)
  return objects.map((object) => wholeFieldsText({ schema, hasStatus }, object as ApiObject))
}

/** Of each object, whether its fields were made for it: what is made is read once more. */
function madeAnew(hasStatus: boolean, ...objects: readonly JsonObject[]): readonly boolean[] {
  const schema = structuredClone(widgetSchema)
  const parse = vi.spyOn(JSON, 'parse')
  try {
    return objects.map((object) => {
      const before = parse.mock.calls.length
      wholeFieldsText({ schema, hasStatus }, object as ApiObject)
      return parse.mock.calls.length > before
    })
  } finally {
    parse.mockRestore()
  }
}

describe('the fields of an object', () => {
  const plain = widget({ size: 1 })
  const withStatus = { ...plain, status: { ready: true } }
  const port = (name: string, more: object = {}): JsonObject => ({ name, ...more })

  it.each<[string, JsonObject, JsonObject]>([
    ['is the same', plain, widget({ size: 2 })],
    ['has another field', plain, widget({ size: 1, colour: 'red' })],
    ['has a field less', widget({ size: 1, colour: 'red' }), plain],
    ['has another field in the place of one', widget({ size: 1 }), widget({ colour: 'red' })],
    ['has its fields in another order', widget({ size: 1, colour: 'a' }), widget({ colour: 'a', size: 1 })],
    ['has another field below', widget({ retention: { days: 1 } }), widget({ retention: { policy: 'x' } })],
    ['has more fields below', widget({ retention: { days: 1 } }), widget({ retention: { days: 1, policy: 'x' } })],
    ['has other keys', widget({ options: { a: '1' } }), widget({ options: { b: '1' } })],
    ['has no keys', widget({ options: { a: '1' } }), widget({ options: {} })],
    ['has another item in a set', widget({ tags: ['a'] }), widget({ tags: ['b'] })],
    ['has one item more in a set', widget({ tags: ['a'] }), widget({ tags: ['a', 'b'] })],
    ['has an empty set', widget({ tags: ['a'] }), widget({ tags: [] })],
    ['has another item in a list with keys', widget({ ports: [port('a')] }), widget({ ports: [port('b')] })],
    ['has another field in an item', widget({ ports: [port('a')] }), widget({ ports: [port('a', { port: 1 })] })],
    ['has an item twice', widget({ ports: [port('a')] }), widget({ ports: [port('a'), port('a')] })],
    ['has other items in a list', widget({ arguments: ['a'] }), widget({ arguments: ['b', 'c'] })],
    ['has a map for a text', widget({ free: 'x' }), widget({ free: { a: 1 } })],
    ['has a text for a map', widget({ free: { a: 1 } }), widget({ free: 'x' })],
    ['has a list for a map', widget({ free: { a: 1 } }), widget({ free: [1] })],
    ['has null for a map', widget({ options: { a: '1' } }), widget({ options: null })],
    ['has a map in free data', widget({ free: { a: 1 } }), widget({ free: { a: { b: 1 } } })],
    ['has a status', plain, withStatus],
    ['has no status', withStatus, plain],
    ['has a status ahead', withStatus, { status: { ready: true }, ...plain }],
    [
      'has a status between',
      withStatus,
      {
        apiVersion: 'example.com/v1',
        kind: 'Widget',
        status: { ready: true },
        metadata: plain['metadata'],
        spec: { size: 1 },
      },
    ],
    ['has another part', plain, { ...plain, data: { a: 1 } }],
    ['has another part ahead of its status', withStatus, { ...plain, data: { a: 1 }, status: { ready: true } }],
    ['has another part behind its status', withStatus, { ...withStatus, data: { a: 1 } }],
    ['has no spec', plain, { apiVersion: 'example.com/v1', kind: 'Widget', metadata: plain['metadata'] }],
    ['has a spec that is none', plain, { ...plain, spec: 5 }],
    [
      'has another part under the name of another',
      { ...plain, data: { a: 1 }, more: { b: 1 } },
      { ...plain, data: { b: 1 }, more: { a: 1 } },
    ],
    ['has a label', plain, withMetadata(plain, { labels: { a: 'x' } })],
    ['has another label', withMetadata(plain, { labels: { a: 'x' } }), withMetadata(plain, { labels: { b: 'x' } })],
    ['has no label', withMetadata(plain, { labels: { a: 'x' } }), withMetadata(plain, { labels: {} })],
    ['has annotations', withMetadata(plain, { labels: { a: 'x' } }), withMetadata(plain, { annotations: { a: 'x' } })],
    ['has an owner', plain, withMetadata(plain, { ownerReferences: [{ uid: 'u', name: 'o' }] })],
    [
      'has another owner',
      withMetadata(plain, { ownerReferences: [{ uid: 'u' }] }),
      withMetadata(plain, { ownerReferences: [{ uid: 'v' }] }),
    ],
    ['has a generated name', plain, withMetadata(plain, { generateName: 'x-' })],
    ['has another name', plain, withMetadata(plain, { name: 'other', uid: 'u', generation: 5 })],
    ['has an undefined field', widget({ size: 1 }), widget({ size: 1, colour: undefined })],
  ])('are its own where the one before it %s', (_what, first, second) => {
    for (const hasStatus of [true, false]) {
      const [alone] = texts(hasStatus, second)
      expect(texts(hasStatus, first, second, first, second)).toEqual([
        texts(hasStatus, first)[0],
        alone,
        texts(hasStatus, first)[0],
        alone,
      ])
    }
  })

  const filled = (size: number): JsonObject =>
    withMetadata(
      widget({
        size,
        options: { a: `${size}` },
        retention: { days: size, policy: 'x' },
        tags: ['a'],
        ports: [port('p', { port: 1 })],
        arguments: Array.from({ length: size }, () => 'z'),
        free: { deep: { n: size, list: [size] } },
      }),
      { labels: { a: `${size}` }, annotations: { b: `${size}` }, name: `n${size}`, uid: `u${size}` },
    )

  it.each<[string, JsonObject, JsonObject]>([
    ['with other values', filled(1), filled(2)],
    ['with another status', { ...filled(1), status: { ready: true } }, { ...filled(2), status: {} }],
    ['with a status', filled(1), { ...filled(2), status: { ready: true } }],
    ['without a status', { ...filled(1), status: { ready: true } }, filled(2)],
    ['with a status ahead', filled(1), { status: { ready: true }, ...filled(2) }],
    ['with an empty list of values', widget({ arguments: [] }), widget({ arguments: ['a'] })],
    ['with plain data beside', { ...plain, data: 1 }, { ...plain, data: 2 }],
    ['with more data beside', { ...plain, data: { a: 1 } }, { ...plain, data: { a: 2 } }],
  ])('are made once for all of one shape: %s', (_what, first, second) => {
    expect(madeAnew(true, first, second, second, first)).toEqual([true, false, false, false])
  })

  it('are not looked for in a part that was looked at before', () => {
    let looks = 0
    const ownKeys = (target: object) => {
      looks++
      return Reflect.ownKeys(target)
    }
    const spec = new Proxy({ size: 2 }, { ownKeys })
    const objects = ['a', 'b', 'c'].map((name) => ({ ...withMetadata(plain, { name }), spec }))
    const seen: number[] = []
    const schema = structuredClone(widgetSchema)
    for (const object of [plain, ...objects, { ...plain, data: spec }, { ...plain, data: spec }]) {
      wholeFieldsText({ schema, hasStatus: true }, object as ApiObject)
      seen.push(looks)
    }
    const [first, second, third, fourth, fifth, sixth] = seen as [number, number, number, number, number, number]
    expect([first, second > 0, third, fourth]).toEqual([0, true, second, second])
    expect([fifth > fourth, sixth >= fifth]).toEqual([true, true])
  })

  it('are made again after four other shapes', () => {
    const [a, b, c, d, e] = ['a', 'b', 'c', 'd', 'e'].map((key) => widget({ options: { [key]: '1' } })) as [
      JsonObject,
      JsonObject,
      JsonObject,
      JsonObject,
      JsonObject,
    ]
    expect(madeAnew(true, a, b, c, d, a, b, c, d)).toEqual([true, true, true, true, false, false, false, false])
    expect(madeAnew(true, a, b, c, d, e, e, b, a)).toEqual([true, true, true, true, true, false, false, true])
  })

  it('are remembered of few shapes, and made again of others', () => {
    const objects = ['a', 'b', 'c', 'd', 'e', 'f'].map((key) => widget({ options: { [key]: '1' } }))
    const each = objects.map((object) => texts(true, object)[0])
    expect(texts(true, ...objects, ...objects)).toEqual([...each, ...each])
  })

  it('are written as FieldsV1', () => {
    const object = withMetadata(
      widget({
        size: 1,
        colour: undefined,
        options: { 'a"b': 'x', c: 'y' },
        tags: ['a', 'ä'],
        ports: [port('p'), port('q'), port('q')],
        arguments: ['z'],
        free: {},
      }),
      { labels: { 'app.dev/x': '1' }, generateName: 'g-', finalizers: ['f'], uid: 'u' },
    )
    const [text = ''] = texts(false, { ...object, status: { ready: true } })
    expect(JSON.parse(text)).toEqual({
      'f:metadata': { 'f:labels': { '.': {}, 'f:app.dev/x': {} }, 'f:generateName': {} },
      'f:spec': {
        '.': {},
        'f:size': {},
        'f:options': { '.': {}, 'f:a"b': {}, 'f:c': {} },
        'f:tags': { '.': {}, 'v:"a"': {}, 'v:"ä"': {} },
        'f:ports': {
          '.': {},
          'k:{"name":"p","protocol":"TCP"}': { '.': {}, 'f:name': {} },
          'k:{"name":"q","protocol":"TCP"}': {},
        },
        'f:arguments': {},
        'f:free': {},
      },
      'f:status': { '.': {}, 'f:ready': {} },
    })
    expect(texts(true, { ...object, status: { ready: true } })[0]).toBe(texts(true, object)[0])
    expect(texts(true, { apiVersion: 'v1', kind: 'K', metadata: { name: 'a' } })).toEqual(['{}'])
  })

  it.each([
    ['items of a set', (count: number) => widget({ tags: Array.from({ length: count }, (_, i) => `t${i}`) })],
    [
      'keys',
      (count: number) =>
        widget({ options: Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, ''])) }),
    ],
  ])('are not told of more than five thousand values: %s', (_what, make) => {
    // The spec and what holds them count, too.
    expect(texts(true, make(4_998))[0]).toContain('4997')
    expect(texts(true, make(4_999))).toEqual([undefined])
  })

  it('are none of a list at the root that has more', () => {
    const tags = { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } } as const
    const schema: StructuralSchema = { type: 'object', properties: { tags } }
    const made = (count: number) => {
      const object = { ...withMetadata(plain, {}), tags: Array.from({ length: count }, (_, i) => `t${i}`) }
      const { spec: _, ...rest } = object as JsonObject
      return wholeFieldsText({ schema, hasStatus: true }, rest as ApiObject)
    }
    expect([made(4_999) === undefined, made(5_001) === undefined]).toEqual([false, true])
  })
})
