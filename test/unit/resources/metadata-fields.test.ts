import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../shared/model/json.ts'
import { siftMetadata } from '../../../shared/resources/metadata-fields.ts'

const owner = (name: string, more: JsonObject = {}) => ({
  apiVersion: 'v1',
  kind: 'X',
  name,
  uid: `u-${name}`,
  ...more,
})

describe('metadata', () => {
  it.each<[string, JsonObject]>([
    ['of known fields', { name: 'a', labels: { odd: 'x' } }],
    ['whose owners are no list', { ownerReferences: 'x' }],
    ['with an owner', { ownerReferences: [owner('a')] }],
    [
      'with owners that differ in one field',
      { ownerReferences: [owner('a'), owner('a', { controller: true }), owner('b')] },
    ],
    ['with owners that are none', { ownerReferences: ['x', null, 5, {}] }],
  ])('%s stays the same', (_what, metadata) => {
    const sifted = siftMetadata(metadata)
    expect(sifted).toEqual({ metadata, unknown: [], repeated: [] })
    expect(sifted.metadata).toBe(metadata)
  })

  it('keeps unknown fields of its own, which are told', () => {
    const metadata = { name: 'a', odd: 1, even: 2 }
    expect(siftMetadata(metadata)).toEqual({ metadata, unknown: ['metadata.odd', 'metadata.even'], repeated: [] })
  })

  it.each<[string, readonly Json[], readonly Json[], readonly string[], readonly string[]]>([
    [
      'loses unknown fields of owners',
      [owner('a'), owner('b', { odd: 1, even: 2 })],
      [owner('a'), owner('b')],
      ['metadata.ownerReferences[1].odd', 'metadata.ownerReferences[1].even'],
      [],
    ],
    ['loses one unknown field', [owner('a', { odd: 1 })], [owner('a')], ['metadata.ownerReferences[0].odd'], []],
    [
      'has each owner once',
      [owner('a'), owner('b'), owner('a'), owner('a')],
      [owner('a'), owner('b')],
      [],
      ['u-a', 'u-a'],
    ],
    [
      'has owners once that say null or nothing',
      [{ name: 'a', controller: null }, { name: 'a' }],
      [{ name: 'a', controller: null }],
      [],
      ['undefined'],
    ],
    ['has each of what is no owner once', ['x', 'x', 'y'], ['x', 'y'], [], ['']],
  ])('%s', (...row) => {
    const [, given, kept, unknown, repeated] = row
    expect(siftMetadata({ name: 'm', ownerReferences: [...given] })).toEqual({
      metadata: { name: 'm', ownerReferences: kept },
      unknown,
      repeated,
    })
  })
})
