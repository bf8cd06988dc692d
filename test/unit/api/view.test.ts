import { describe, expect, it } from 'vitest'
import { viewOf } from '../../../shared/api/view.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'
import { callOf, plainKind } from './called.ts'
import { storedOf } from './fake-services.ts'

const kind = { ...plainKind, columns: [{ name: 'Color', type: 'string', jsonPath: '.spec.color' }] as const }
const stored = storedOf({ labels: { a: 'b' } }, { spec: { color: 'red' } })
const meta = 'g=meta.k8s.io;v=v1'
const clock = createVirtualClock(Date.parse('2026-01-01T00:01:30Z'))

function view(accept: string, query = '', complete?: Parameters<typeof viewOf>[0]['complete']) {
  return viewOf({ ...callOf(`GET /apis/g.dev/v1/ks?${query}`, { kind, accept }), complete }, clock)
}
const read = (text: string) => JSON.parse(text) as JsonObject
const list = { items: [stored, stored], resourceVersion: '50' }

describe('an object', () => {
  const plain = view('application/json')
  it('is shown as it is, alone, in lists and in events', () => {
    expect(read(plain.one(stored))).toEqual(stored.object)
    expect(plain.event(stored, true)).toBe(plain.one(stored))
    expect([plain.name, plain.introduces]).toEqual(['objects', false])
    expect(read(plain.list(list))).toEqual({
      kind: 'KList',
      apiVersion: 'g.dev/v1',
      metadata: { resourceVersion: '50' },
      items: [stored.object, stored.object],
    })
  })

  it('is shown with what the engine waits for', () => {
    const waiting = { ...stored, engine: { wait: { kind: 'Requeue', generation: 1, atMs: 0 } as const } }
    expect(read(plain.one(waiting))).toMatchObject({ status: { reconcile: { waiting: 'Requeue' } } })
  })

  it('is shown more whole than it is stored', () => {
    const complete = (object: JsonObject) => ({ ...object, rules: [] }) as never
    expect(read(view('', '', complete).one(stored))).toMatchObject({ rules: [], spec: { color: 'red' } })
  })

  it('of a kind that has no generation shows none', () => {
    const secret = viewOf(
      { kind: { ...kind, hidesGeneration: true }, request: callOf('GET /apis/g.dev/v1/ks').request },
      clock,
    )
    expect(read(secret.one(stored))['metadata']).not.toHaveProperty('generation')
    expect(read(plain.one(stored))['metadata']).toHaveProperty('generation')
  })
})

describe('a list', () => {
  it.each([
    [{ resourceVersion: '50' }, { resourceVersion: '50' }],
    [{ resourceVersion: '' }, {}],
    [
      { resourceVersion: '50', continue: 'c' },
      { resourceVersion: '50', continue: 'c' },
    ],
  ])('of %j says %j', (parts, metadata) => {
    for (const accept of [
      '',
      `application/json;as=PartialObjectMetadataList;${meta}`,
      `application/json;as=Table;${meta}`,
    ])
      expect(read(view(accept).list({ items: [], ...parts }))['metadata']).toStrictEqual(metadata)
  })

  it('is the same in parts', () => {
    for (const accept of [
      '',
      `application/json;as=PartialObjectMetadataList;${meta}`,
      `application/json;as=Table;${meta}`,
    ]) {
      const { parts, list: whole } = view(accept)
      const text = parts.openText(list) + [stored, stored].map(parts.item).join(',') + parts.closing
      expect(text).toBe(whole(list))
    }
  })
})

describe('metadata alone', () => {
  const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: stored.object.metadata }
  const alone = view(`application/json;as=PartialObjectMetadata;${meta}`)
  it('is shown of an object, in lists and in events', () => {
    expect(read(alone.one(stored))).toEqual(partial)
    expect(alone.event(stored, true)).toBe(alone.one(stored))
    expect([alone.name, alone.introduces]).toEqual(['meta.k8s.io/v1', false])
    expect(read(alone.list(list))).toEqual({
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '50' },
      items: [partial, partial],
    })
  })
})

describe('a table', () => {
  const table = (query = '') => view(`application/json;as=Table;${meta}`, query)
  const cells = ['a', 'red', '90s', null, null, null, null]
  const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: stored.object.metadata }

  it.each([
    ['', partial],
    ['includeObject=Metadata', partial],
    ['includeObject=Object', stored.object],
    ['includeObject=None', null],
  ])('asked for by %j has rows with %j', (query, object) => {
    expect(read(table(query).one(stored))).toMatchObject({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '7' },
      columnDefinitions: [{ name: 'Name' }, { name: 'Color' }, { name: 'Age' }, {}, {}, {}, {}],
      rows: [{ cells, object }],
    })
  })

  it('of a list has a row for each', () => {
    const { rows, metadata } = read(table().list(list))
    expect([rows, metadata]).toEqual([
      [
        { cells, object: partial },
        { cells, object: partial },
      ],
      { resourceVersion: '50' },
    ])
  })

  it('in a stream names its columns once', () => {
    const { event, introduces, name } = table()
    expect([introduces, name, table('includeObject=None').name]).toEqual([
      true,
      'table meta.k8s.io/v1 Metadata',
      'table meta.k8s.io/v1 None',
    ])
    expect(read(event(stored, true))['columnDefinitions']).toHaveLength(7)
    expect(read(event(stored, false))['columnDefinitions']).toBeNull()
  })
})
