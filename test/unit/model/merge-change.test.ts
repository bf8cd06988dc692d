import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../shared/model/json.ts'
import { mergeChange } from '../../../shared/model/merge-change.ts'
import type { StructuralSchema } from '../../../shared/model/schema/structural-schema.ts'

const keyed: StructuralSchema = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
  items: { type: 'object', properties: { name: { type: 'string' } } },
}

const cases: readonly {
  readonly what: string
  readonly live: Json
  readonly from: Json
  readonly to: Json
  readonly schema?: StructuralSchema
  readonly merged: Json
}[] = [
  { what: 'a field that changed', live: { a: 1, b: 1 }, from: { a: 1 }, to: { a: 2 }, merged: { a: 2, b: 1 } },
  { what: 'a field that came', live: { b: 1 }, from: {}, to: { a: 2 }, merged: { b: 1, a: 2 } },
  { what: 'a field that went', live: { a: 1, b: 1 }, from: { a: 1 }, to: {}, merged: { b: 1 } },
  {
    what: 'a field below',
    live: { a: { x: 1, y: 1 } },
    from: { a: { x: 1 } },
    to: { a: { x: 2 } },
    merged: { a: { x: 2, y: 1 } },
  },
  {
    what: 'a field that the view guesses and the write left',
    live: { a: 1 },
    from: { a: 0 },
    to: { a: 0 },
    merged: { a: 1 },
  },
  {
    what: 'items of a list that keeps its length',
    live: [{ a: 1, b: 1 }, { a: 2 }],
    from: [{ a: 1 }, { a: 2 }],
    to: [{ a: 1 }, { a: 3 }],
    merged: [{ a: 1, b: 1 }, { a: 3 }],
  },
  {
    what: 'a list that grew',
    live: [{ a: 1, b: 1 }],
    from: [{ a: 1 }],
    to: [{ a: 1 }, { a: 2 }],
    merged: [{ a: 1 }, { a: 2 }],
  },
  {
    what: 'a keyed list that grew at its start',
    live: [{ name: 'a', b: 1 }],
    from: [{ name: 'a' }],
    to: [{ name: 'c' }, { name: 'a' }],
    schema: keyed,
    merged: [{ name: 'c' }, { name: 'a', b: 1 }],
  },
  {
    what: 'a keyed list that lost an item',
    live: [
      { name: 'a', b: 1 },
      { name: 'c', b: 2 },
    ],
    from: [{ name: 'a' }, { name: 'c' }],
    to: [{ name: 'c' }],
    schema: keyed,
    merged: [{ name: 'c', b: 2 }],
  },
  {
    what: 'a keyed list of which the view does not show all items',
    live: [{ name: 'x' }, { name: 'a', b: 1 }, { name: 'y' }, { name: 'c' }, { name: 'z' }],
    from: [{ name: 'a' }, { name: 'c' }],
    to: [{ name: 'd' }, { name: 'a', e: 1 }],
    schema: keyed,
    merged: [{ name: 'x' }, { name: 'd' }, { name: 'a', b: 1, e: 1 }, { name: 'y' }, { name: 'z' }],
  },
  {
    what: 'a keyed list that gets an item that the view does not show',
    live: [{ name: 'a' }, { name: 'x', b: 1 }],
    from: [{ name: 'a' }],
    to: [{ name: 'x', c: 2 }],
    schema: keyed,
    merged: [{ name: 'x', c: 2 }],
  },
  {
    what: 'a keyed list whose items have other keys in the view',
    live: [{ name: 'a', b: 1 }],
    from: [{ name: 'A' }],
    to: [{ name: 'A', c: 2 }],
    schema: keyed,
    merged: [{ name: 'A', c: 2 }],
  },
  {
    what: 'a map by the schema of its values',
    live: { m: { k: [{ name: 'a', b: 1 }] } },
    from: { m: { k: [{ name: 'a' }] } },
    to: { m: { k: [{ name: 'c' }, { name: 'a' }] } },
    schema: { properties: { m: { additionalProperties: keyed } } },
    merged: { m: { k: [{ name: 'c' }, { name: 'a', b: 1 }] } },
  },
  {
    what: 'a list within an item',
    live: [{ name: 'a', list: [{ name: 'x', b: 1 }] }],
    from: [{ name: 'a', list: [{ name: 'x' }] }],
    to: [{ name: 'a', list: [{ name: 'y' }, { name: 'x' }] }],
    schema: { items: { properties: { list: keyed } } },
    merged: [{ name: 'a', list: [{ name: 'y' }, { name: 'x', b: 1 }] }],
  },
  {
    what: 'keyed items that lack their key, or are none',
    live: [{ b: 1 }, { name: 'a', b: 2 }],
    from: [{}, { name: 'a' }],
    to: [{ c: 3 }, { name: 'a', c: 4 }, 5],
    schema: keyed,
    merged: [{ b: 1, c: 3 }, { name: 'a', b: 2, c: 4 }, 5],
  },
  {
    what: 'a list that is longer than its view',
    live: [{ a: 1, b: 1 }, { a: 2 }],
    from: [{ a: 1 }],
    to: [{ a: 3 }],
    merged: [{ a: 3 }],
  },
  {
    what: 'a keyed list that is none by now',
    live: { a: 1 },
    from: [{ name: 'a' }],
    to: [{ name: 'c' }],
    schema: keyed,
    merged: [{ name: 'c' }],
  },
  {
    what: 'a keyed list that was none',
    live: [{ name: 'a' }],
    from: 5,
    to: [{ name: 'c' }],
    schema: keyed,
    merged: [{ name: 'c' }],
  },
  {
    what: 'keyed items that are null',
    live: [null],
    from: [null],
    to: [null, { name: 'c' }],
    schema: keyed,
    merged: [null, { name: 'c' }],
  },
  { what: 'a list that is none by now', live: { a: 1 }, from: [1], to: [2], merged: [2] },
  { what: 'a list that was none', live: [1], from: { a: 1 }, to: [2], merged: [2] },
  { what: 'a list that becomes an object', live: [1], from: [1], to: { a: 1 }, merged: { a: 1 } },
  { what: 'an object that is none by now', live: [1], from: { a: 1 }, to: { a: 2 }, merged: { a: 2 } },
  { what: 'an object that was none', live: { b: 1 }, from: 5, to: { a: 2 }, merged: { a: 2 } },
  { what: 'an object that becomes a text', live: { b: 1 }, from: { a: 1 }, to: 'x', merged: 'x' },
  { what: 'another type', live: { a: 1 }, from: { a: 1 }, to: [1], merged: [1] },
  { what: 'a name that every object inherits', live: {}, from: {}, to: { constructor: 1 }, merged: { constructor: 1 } },
]

it.each(cases)('merges $what', ({ live, from, to, schema, merged }) => {
  expect(mergeChange(live, [from, to], schema)).toStrictEqual(merged)
})

it('looks a few times at each part, however far below it is', () => {
  let reads = 0
  const counted = {
    get part() {
      reads++
      return 1
    },
  }
  const deep = (last: number): JsonObject => {
    let value: JsonObject = { counted, last }
    for (let i = 0; i < 100; i++) value = { a: value }
    return value
  }
  mergeChange(deep(0), [deep(0), deep(1)])
  expect(reads).toBeLessThan(10)
})

const anyJson = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>
const anyObject = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), anyJson) as fc.Arbitrary<JsonObject>

it('changes nothing where the view did not change, whatever it shows', () => {
  fc.assert(
    fc.property(anyJson, anyJson, (live, view) => {
      expect(mergeChange(live, [view, view])).toBe(live)
    }),
  )
})

it('is the change itself where the view shows all', () => {
  fc.assert(
    fc.property(anyObject, anyObject, (from, to) => {
      expect(mergeChange(from, [from, to])).toEqual(to)
    }),
  )
})

it('keeps what the view does not show', () => {
  fc.assert(
    fc.property(anyObject, anyObject, anyJson, (from, to, hidden) => {
      expect(mergeChange({ ...from, hidden }, [from, to])).toEqual({ ...to, hidden })
    }),
  )
})
