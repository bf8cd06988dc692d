import { expect, it } from 'vitest'
import { entryOf, isEmptyMap, listIn, mapIn } from '../../../../shared/model/apply/json-parts.ts'
import type { Json, JsonObject } from '../../../../shared/model/json.ts'

it.each<[JsonObject, boolean]>([
  [{}, true],
  [{ a: undefined }, true],
  [{ a: undefined, b: undefined }, true],
  [{ a: null }, false],
  [{ a: undefined, b: 1 }, false],
])('the map %j is empty: %s', (map, is) => {
  expect(isEmptyMap(map)).toBe(is)
})

it.each<[Json | undefined, JsonObject, readonly Json[]]>([
  [{ a: 1 }, { a: 1 }, []],
  [[1], {}, [1]],
  ['a', {}, []],
  [null, {}, []],
  [undefined, {}, []],
])('what %j holds as a map and as a list', (value, map, list) => {
  expect([mapIn(value), listIn(value)]).toEqual([map, list])
})

it.each<[string, Json | undefined]>([
  ['a', 1],
  ['b', undefined],
  ['constructor', undefined],
])('the entry %s is %j', (key, value) => {
  expect(entryOf({ a: 1 }, key)).toBe(value)
})
