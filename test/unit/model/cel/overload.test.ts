import { expect, it } from 'vitest'
import { accepts, overloadsOf } from '../../../../shared/model/cel/overload.ts'
import { objectOf, parseType, showType, type Type } from '../../../../shared/model/cel/type.ts'
import { BuiltMap, Timestamp, type Value } from '../../../../shared/model/cel/value.ts'

it.each([
  ['f() int', 'f', false, [], 'int'],
  ['size(string) int', 'size', false, ['string'], 'int'],
  ['_+_(int, int) int', '_+_', false, ['int', 'int'], 'int'],
  ['-_(double) double', '-_', false, ['double'], 'double'],
  ['_in_(A, map(A, B)) bool', '_in_', false, ['A', 'map(A, B)'], 'bool'],
  ['string.startsWith(string) bool', 'startsWith', true, ['string', 'string'], 'bool'],
  ['string.trim() string', 'trim', true, ['string'], 'string'],
  ['list(A).indexOf(A) int', 'indexOf', true, ['list(A)', 'A'], 'int'],
  ['map(A, B).size() int', 'size', true, ['map(A, B)'], 'int'],
  ['optional(A).or(optional(A)) optional(A)', 'or', true, ['optional_type(A)', 'optional_type(A)'], 'optional_type(A)'],
  ['optional.of(A) optional(A)', 'optional.of', false, ['A'], 'optional_type(A)'],
  ['sets.contains(list(A), list(A)) bool', 'sets.contains', false, ['list(A)', 'list(A)'], 'bool'],
  ['ip.isCanonical(string) bool', 'ip.isCanonical', false, ['string'], 'bool'],
  ['net.CIDR.containsIP(net.IP) bool', 'containsIP', true, ['net.CIDR', 'net.IP'], 'bool'],
  ['string(net.IP) string', 'string', false, ['net.IP'], 'string'],
] as const)('the signature %s is that of %s, on a value: %s', (...row) => {
  const [signature, name, isMember, takes, gives] = row
  const [overload] = overloadsOf([{ [signature]: () => null }]).get(name) ?? []
  expect(
    overload && { ...overload, takes: overload.takes.map(showType), gives: showType(overload.gives) },
  ).toMatchObject({
    name,
    isMember,
    takes,
    gives,
  })
})

it('one function may be called in several ways', () => {
  const overloads = overloadsOf([
    { 'size(string) int': () => 1n },
    { 'string.size() int': () => 2n, 'f() int': () => 3n },
  ])
  expect([...overloads.keys()]).toEqual(['size', 'f'])
  expect(overloads.get('size')?.map(({ isMember, run }) => [isMember, run([], undefined as never)])).toEqual([
    [false, 1n],
    [true, 2n],
  ])
})

const listOfAny: Type = { kind: 'list', name: 'list', of: [] }
const emptyMap = new BuiltMap(new Map())

it.each<[string, string, boolean, Type, Value]>([
  ['anything', 'a text', true, parseType('dyn'), 'a'],
  ['a parameter', 'null', true, parseType('A'), null],
  ['an int', 'an int', true, parseType('int'), 5n],
  ['an int', 'a double', false, parseType('int'), 5],
  ['a timestamp', 'a timestamp', true, parseType('timestamp'), new Timestamp(5n)],
  ['a timestamp', 'the text of one', false, parseType('timestamp'), '2026-01-01T00:00:00Z'],
  ['an object', 'a map', true, objectOf('o'), emptyMap],
  ['an object', 'a list', false, objectOf('o'), ['a']],
  ['an address', 'the text of one', false, parseType('net.IP'), '10.0.0.1'],
  ['a list without a type of its items', 'a list of any two', true, listOfAny, ['a', 5n]],
  ['a list without a type of its items', 'a text', false, listOfAny, 'a'],
  ['a list of anything', 'a list of any two', true, parseType('list(dyn)'), ['a', 5n]],
  ['a list of a parameter', 'a list of any two', true, parseType('list(A)'), ['a', 5n]],
  ['a list of texts', 'one of two texts', true, parseType('list(string)'), ['a', 'b']],
  ['a list of texts', 'one of nothing', true, parseType('list(string)'), []],
  ['a list of texts', 'one with a null', false, parseType('list(string)'), ['a', null]],
  ['a list of lists of texts', 'one with a list of an int', false, parseType('list(list(string))'), [['a'], [5n]]],
])('what is to be %s may be %s: %s', (...[, , may, type, value]) => {
  expect(accepts(type, value)).toBe(may)
})
