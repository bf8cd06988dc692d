import { describe, expect, it } from 'vitest'
import { pathsOf, setOfPaths } from '../../../../shared/model/apply/fields/field-set.ts'
import type { ListShape, MapShape, MergeType } from '../../../../shared/model/apply/typed/merge-type.ts'
import { settle } from '../../../../shared/model/apply/typed/schema-change.ts'

const scalar: MergeType = { scalar: { kind: 'scalar', accepts: 'untyped' } }

function mapOf(fields: Readonly<Record<string, MergeType>>, more: Partial<MapShape> = {}): MergeType {
  return { map: { kind: 'map', atomic: false, fields: new Map(Object.entries(fields)), others: undefined, ...more } }
}

function listOf(items: MergeType, more: Partial<ListShape> = {}): MergeType {
  return { list: { kind: 'list', atomic: false, keys: [], items, ...more } }
}

const deep = [
  ['f:a', 'f:b', 'f:c'],
  ['f:a', 'f:d'],
]

describe('a set of fields by a later schema', () => {
  it.each([
    ['is the same', mapOf({ a: mapOf({ b: mapOf({ c: scalar }), d: scalar }) }), deep],
    [
      'is owned whole below what is atomic now',
      mapOf({ a: mapOf({ b: mapOf({}, { atomic: true }), d: scalar }) }),
      [
        ['f:a', 'f:b'],
        ['f:a', 'f:d'],
      ],
    ],
    ['is owned whole from the top', mapOf({ a: mapOf({}, { atomic: true }) }), [['f:a']]],
    ['keeps what the schema does not name', mapOf({ other: scalar }), deep],
    ['takes the type of other keys', mapOf({}, { others: mapOf({}, { atomic: true }) }), [['f:a']]],
    ['keeps what is a list by now', listOf(scalar, { atomic: true }), deep],
  ])('%s', (_what, type, paths) => {
    const settled = pathsOf(settle(setOfPaths(deep), type))
    expect(new Set(settled.map((path) => path.join()))).toEqual(new Set(paths.map((path) => path.join())))
  })

  it('looks into lists', () => {
    const items = setOfPaths([['f:l', 'k:{"n":1}', 'f:a', 'f:b']])
    const type = mapOf({ l: listOf(mapOf({ a: mapOf({}, { atomic: true }) })) })
    expect(pathsOf(settle(items, type))).toEqual([['f:l', 'k:{"n":1}', 'f:a']])
    const atomic = mapOf({ l: listOf(scalar, { atomic: true }) })
    expect(pathsOf(settle(items, atomic))).toEqual([['f:l']])
  })
})
