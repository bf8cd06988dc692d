import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { beginningOf } from '../../../../../shared/engine/insight/explain/beginning.ts'
import type { Json } from '../../../../../shared/model/json.ts'

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i)
const nested = (levels: number, end: Json): Json =>
  numbers(levels).reduce<Json>((inner, i) => (i % 2 === 0 ? { a: inner } : [inner]), end)
const lists = (levels: number, end: Json = []): Json => numbers(levels).reduce<Json>((inner) => [inner], end)
const linesOf = (value: Json): readonly string[] => stringify(value).trimEnd().split('\n')

it.each<[string, Json]>([
  ['a value that is none', null],
  ['a number', 5],
  ['what fits', { spec: { a: [1, { b: 'x' }, [], {}], c: false, d: null }, text: 'one\ntwo\n', none: '' }],
  ['thirty lines', numbers(30)],
  ['items whose first field is on their line', numbers(15).map((i) => ({ a: i, b: i }))],
  ['a name as long as may be', { a: 1, ['b'.repeat(2_399)]: 2 }],
  ['an item with the last character', ['x'.repeat(2_399), 5]],
  ['twenty levels', nested(20, 'end')],
  ['a field that every object inherits', JSON.parse('{ "__proto__": 1, "constructor": 2 }') as Json],
])('%s stays as it is', (_what, value) => {
  expect(beginningOf(value)).toEqual(value)
  expect(stringify(beginningOf(value))).toBe(stringify(value))
})

it('a field that is undefined counts as absent', () => {
  expect(beginningOf({ a: undefined, b: 1 })).toEqual({ b: 1 })
})

it.each<[Json]>([[5], [null], [''], [[]], [{}], [[1]], [{ a: 1 }]])('an item of one line takes one: %j', (item) => {
  expect(beginningOf(numbers(33).map(() => item))).toEqual([...numbers(30).map(() => item), '… and 3 more'])
})

describe('what is left out is told where it is missing:', () => {
  it.each<[string, Json, Json]>([
    ['items', numbers(33), [...numbers(30), '… and 3 more']],
    [
      'fields',
      Object.fromEntries(numbers(32).map((i) => [`f${i}`, i])),
      { ...Object.fromEntries(numbers(30).map((i) => [`f${i}`, i])), '…': 'and 2 more' },
    ],
    [
      'behind a field that is long',
      { a: numbers(40), b: 1, c: [2] },
      { a: [...numbers(29), '… and 11 more'], '…': 'and 2 more' },
    ],
    ['behind a long name', { a: 1, ['b'.repeat(2_400)]: 2, c: 3 }, { a: 1, '…': 'and 2 more' }],
    ['characters', 'x'.repeat(2_500), `${'x'.repeat(2_400)}… and 100 more characters`],
    [
      'lines of a text',
      { a: 'x\n'.repeat(100), b: 1 },
      { a: `${'x\n'.repeat(29)}x… and 141 more characters`, '…': 'and 1 more' },
    ],
    [
      'characters of a second text',
      ['x'.repeat(2_000), 'y'.repeat(500)],
      ['x'.repeat(2_000), `${'y'.repeat(400)}… and 100 more characters`],
    ],
    ['what is behind the last character', ['x'.repeat(2_400), 5], ['x'.repeat(2_400), '… and 1 more']],
    [
      'what lies deep, in one line each',
      numbers(33).map(() => lists(20)),
      [...numbers(30).map(() => lists(19, ['… and 1 more'])), '… and 3 more'],
    ],
    ['levels', nested(20, { b: { c: 1 } }), nested(20, { '…': 'and 1 more' })],
    ['levels of lists', nested(20, [[1, 2]]), nested(20, ['… and 1 more'])],
  ])('%s', (_what, value, shown) => {
    expect(beginningOf(value)).toEqual(shown)
  })
})

/** Each had a process at work for seconds when all of it became YAML. */
it.each<[string, Json]>([
  ['deep', nested(150, numbers(60_000))],
  ['deep at each item', numbers(10_000).map(() => nested(22, 'end'))],
  ['wide', Object.fromEntries(numbers(30_000).map((i) => [`field${i}`, { a: i }]))],
  ['many short lines', 'x\n'.repeat(150_000)],
  ['one long line', 'word '.repeat(60_000)],
])('a large value is some sixty lines at most: %s', (_what, value) => {
  const lines = linesOf(beginningOf(value))
  expect(lines.length).toBeLessThanOrEqual(60)
  expect(lines.join('\n').length).toBeLessThan(6_000)
})
