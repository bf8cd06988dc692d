import { expect, it } from 'vitest'
import { overloadsOf } from '../../../../shared/model/cel/overload.ts'
import { showType } from '../../../../shared/model/cel/type.ts'

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
