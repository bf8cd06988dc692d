import { describe, expect, it } from 'vitest'
import { itemName, type Topology } from '../../../../shared/model/cel/keyed-list.ts'
import { Meter } from '../../../../shared/model/cel/meter.ts'
import { validateRules } from '../../../../shared/model/cel/validate-rules.ts'
import {
  CelDuration,
  CelFailure,
  Timestamp,
  ValueMap,
  type Result,
  type Value,
} from '../../../../shared/model/cel/value.ts'
import type { Json, JsonObject } from '../../../../shared/model/json.ts'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'

const text: StructuralSchema = { type: 'string' }
const set = (items: StructuralSchema): StructuralSchema => ({ type: 'array', items, 'x-kubernetes-list-type': 'set' })
const map = (fields: Record<string, StructuralSchema>, ...keys: readonly string[]): StructuralSchema => ({
  type: 'array',
  items: { type: 'object', properties: fields },
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': keys,
})

const properties: Readonly<Record<string, StructuralSchema>> = {
  set: set(text),
  numbers: set({ type: 'number' }),
  times: set({ type: 'string', format: 'date-time' }),
  bytes: set({ type: 'string', format: 'byte' }),
  any: set({ 'x-kubernetes-int-or-string': true }),
  pairs: set({ type: 'array', items: text }),
  plain: { type: 'array', items: text },
  ports: map({ name: text, port: { type: 'integer' } }, 'name'),
  two: map({ 'a-b': text, port: { type: 'integer' }, v: text }, 'a-b', 'port'),
}

/** Whether the rule holds for an object that was another one before. */
function holds(rule: string, value: JsonObject, old: JsonObject = {}): boolean {
  const schema: StructuralSchema = { type: 'object', properties, 'x-kubernetes-validations': [{ rule }] }
  const errors = validateRules(schema, value, { old })
  expect(errors.map(({ message }) => message).filter((message) => !message.includes('failed rule'))).toEqual([])
  return errors.length === 0
}

const port = (name: string, number: number): JsonObject => ({ name, port: number })
const both = (a: string, number: number, v: string): JsonObject => ({ 'a-b': a, port: number, v })

/** Source: apiserver, `cel/common/values.go`. */
describe('of lists of type set and map the order does not count where they are compared', () => {
  it.each<[string, readonly Json[], readonly Json[], boolean]>([
    ['set', ['a', 'b'], ['b', 'a'], true],
    ['set', ['a', 'b'], ['b', 'c'], false],
    ['set', ['a', 'b'], ['b', 'a', 'c'], false],
    ['numbers', [1, 0.5], [0.5, 1], true],
    ['numbers', [1, 0.5], [0.5, 2], false],
    ['times', ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'], ['2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z'], true],
    ['bytes', ['YQ==', 'Yg=='], ['Yg==', 'YQ=='], true],
    ['bytes', ['YQ==', 'Yg=='], ['Yg==', 'Yw=='], false],
    ['any', [1, '1'], ['1', 1], true],
    ['pairs', [['a', 'b'], ['c']], [['c'], ['a', 'b']], true],
    ['pairs', [['a', 'b'], ['c']], [['c'], ['b', 'a']], false],
    ['plain', ['a', 'b'], ['b', 'a'], false],
    ['ports', [port('a', 1), port('b', 2)], [port('b', 2), port('a', 1)], true],
    ['ports', [port('a', 1), port('b', 2)], [port('b', 2), port('a', 2)], false],
    ['ports', [port('a', 1), { port: 2 }], [{ port: 2 }, port('a', 1)], true],
    ['two', [both('a', 1, 'x'), both('a', 2, 'y')], [both('a', 2, 'y'), both('a', 1, 'x')], true],
    ['two', [both('a', 1, 'x'), both('a', 2, 'y')], [both('a', 2, 'x'), both('a', 1, 'y')], false],
    ['two', [both('a', 1, 'x'), both('b', 2, 'y')], [both('b', 1, 'x'), both('a', 2, 'y')], false],
  ])('%s %j and %j: %s', (field, one, other, same) => {
    const [value, old] = [{ [field]: [...one] }, { [field]: [...other] }]
    expect(holds(`self.${field} == oldSelf.${field}`, value, old)).toBe(same)
    expect(holds(`self.${field} != oldSelf.${field}`, value, old)).toBe(!same)
    expect(holds('self == oldSelf', value, old)).toBe(same)
  })

  it.each([
    ['self.set == ["b", "a"]', true],
    ['["b", "a"] == self.set', false],
    ['self.set.filter(i, true) == ["b", "a"]', false],
    ['self.set[0] == "a" && self.set[1] == "b"', true],
  ])('what is no such list stays as it is: %s', (rule, is) => {
    expect(holds(rule, { set: ['a', 'b'] })).toBe(is)
  })

  it('many items do not take the square of their number', () => {
    const many = (of: (i: number) => string): Json[] => Array.from({ length: 10_000 }, (_, i) => of(i))
    expect(holds('self.set == oldSelf.set', { set: many((i) => `n${i}`) }, { set: many((i) => `n${9_999 - i}`) })).toBe(
      true,
    )
  })
})

describe('one list and another of its type are', () => {
  it.each([
    ['a set of what is in both', '(self.set + oldSelf.set).map(i, i) == ["a", "b", "c"]'],
    ['a set still', 'self.set + oldSelf.set == ["c", "b", "a"]'],
    ['a set without what comes twice', '(self.set + ["d", "d", "a"]).map(i, i) == ["a", "b", "d"]'],
    ['a set of lists', '(self.pairs + oldSelf.pairs).map(i, i) == [["x"], ["y"], ["z"]]'],
    ['a map in which the second one counts', '(self.ports + oldSelf.ports).map(i, i.port) == [1, 5, 3]'],
    ['a map in the order of the first one', '(self.ports + oldSelf.ports).map(i, i.name) == ["a", "b", "c"]'],
    ['a map still', 'self.ports + oldSelf.ports == oldSelf.ports + self.ports.filter(i, i.name == "a")'],
    ['as they are, if they have no type', '(self.plain + oldSelf.plain) == ["a", "b", "a"]'],
    ['as they are, if the first one has none', '["a"] + self.set == ["a", "a", "b"]'],
  ])('%s', (_what, rule) => {
    const value = {
      set: ['a', 'b'],
      pairs: [['x'], ['y']],
      ports: [port('a', 1), port('b', 2)],
      plain: ['a', 'b'],
    }
    const old = {
      set: ['b', 'c'],
      pairs: [['y'], ['z']],
      ports: [port('c', 3), port('b', 5)],
      plain: ['a'],
    }
    expect(holds(rule, value, old)).toBe(true)
  })
})

it('what tells items apart is a text of their scalars, and takes steps by their size', () => {
  const named = (item: Value, topology: Topology): readonly [string | undefined, number] => {
    const meter = new Meter(1_000)
    return [itemName(item, topology, meter), 1_000 - meter.left]
  }
  expect(named('x'.repeat(16), {})).toEqual([`s${'x'.repeat(16)}`, 4])
  expect(named(new Uint8Array(24), {})).toEqual([`x${'A'.repeat(32)}`, 5])
  expect(named(0.5, {})).toEqual(['n0.5', 2])
  expect(named(new Timestamp(5n), {})).toEqual(['t5', 2])
  expect(named(new CelDuration(5n), {})).toEqual(['t5', 2])
  expect(named(['a'], {})).toEqual([undefined, 2])
  expect(
    named(
      Array.from({ length: 16 }, () => 'a'),
      {},
    ),
  ).toEqual([undefined, 2])
  expect(named('a', { keys: ['k'] })).toEqual(['["none"]', 0])
})

/** One of its fields cannot be told. */
class TornMap extends ValueMap {
  readonly size = 4

  get(key: Value): Result | undefined {
    if (key === 'list') return ['x']
    if (key === 'torn') return new CelFailure('it is torn')
    return key === 'a' ? 'x' : key === 'n' ? 5n : undefined
  }

  keys(): readonly Value[] {
    return ['a', 'n', 'list', 'torn']
  }
}

it.each<[string, readonly string[], string | undefined]>([
  ['both scalars', ['a', 'n'], '["sx","n5"]'],
  ['a scalar and nothing', ['a', 'b'], '["sx","none"]'],
  ['a list', ['list'], undefined],
  ['a scalar and a list', ['a', 'list'], undefined],
  ['a scalar and what cannot be told', ['a', 'torn'], undefined],
])('an item whose keys are %s: %j tell it apart by %s', (_what, keys, name) => {
  expect(itemName(new TornMap(), { keys }, new Meter(1_000))).toBe(name)
})
