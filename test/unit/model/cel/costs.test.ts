import { describe, expect, it } from 'vitest'
import { callCost, ownSize, type Costed } from '../../../../shared/model/cel/cost/call-costs.ts'
import { checkRuleCosts } from '../../../../shared/model/cel/cost/check-costs.ts'
import { declaredBy, type Declared } from '../../../../shared/model/cel/cost/declared.ts'
import { estimateCost } from '../../../../shared/model/cel/cost/estimate.ts'
import type { Overload } from '../../../../shared/model/cel/overload.ts'
import { shapeOf } from '../../../../shared/model/cel/schema-value.ts'
import { listOf as listType, parseType, plain, type Type } from '../../../../shared/model/cel/type.ts'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'

/** What it costs to go through something of any size, a tenth for each part. */
const anySize = 1_844_674_407_370_955_300
const text: StructuralSchema = { type: 'string', maxLength: 10 }
const whole: StructuralSchema = { type: 'integer' }
const listOf = (items: StructuralSchema, maxItems: number): StructuralSchema => ({ type: 'array', maxItems, items })
const schema: StructuralSchema = {
  type: 'object',
  properties: {
    s: text,
    t: { type: 'string', maxLength: 25 },
    n: whole,
    f: { type: 'number' },
    b: { type: 'boolean' },
    bytes: { type: 'string', format: 'byte', maxLength: 40 },
    l: listOf(text, 5),
    ns: listOf(whole, 7),
    m: { type: 'object', maxProperties: 3, additionalProperties: text },
    ll: listOf(listOf(text, 3), 2),
    at: { type: 'string', format: 'date-time' },
    d: { type: 'string', format: 'duration' },
    any: { type: 'string' },
  },
}

/**
 * By the tables of cel-go and of Kubernetes: a tenth for each byte that is gone through, of which a character has four
 * at most. The recordings in `cost-vectors.test.ts` say that Kubernetes comes to the same.
 */
describe('an expression costs at most', () => {
  const self = shapeOf(schema)?.type
  const declared = declaredBy(schema)

  it.each([
    ['true', 0],
    ['1 + 1 == 2', 2],
    ['self.n', 2],
    ['self.n == 1', 2],
    ['self.n < 5', 3],
    ['self.s == "abc"', 3],
    ['self.s != "abc"', 3],
    ['self.s < self.t', 8],
    ['self.s <= self.t', 8],
    ['self.t > self.s', 8],
    ['self.s >= "a"', 3],
    ['self.b && self.b || !self.b', 7],
    ['self.b ? self.s : self.t', 4],
    ['(self.b ? self.s : self.t) == self.t', 16],
    ['self.b ? self.l : []', 12],
    ['self.s + self.t', 18],
    ['self.s + self.t == self.t', 30],
    ['self.bytes + b"a"', 7],
    ['self.l + self.l', 5],
    ['(self.l + self.l).all(x, true)', 36],
    ['self.n + 1', 3],
    ['self.s in self.l', 9],
    ['self.s in self.m', 5],
    ['self.n in self.ns', 11],
    ['self.n in [1, 2, 3]', 15],
    ['[1, 2, 3]', 10],
    ['{"a": 1, "b": 2}', 30],
    ['self.l[0]', 3],
    ['self.l[0] == self.s', 9],
    ['self.m["a"]', 3],
    ['self.m["a"] == self.s', 9],
    ['self.m.a == self.s', 9],
    ['self.ll[0][1] == self.s', 10],
    ['has(self.s)', 1],
    ['self.?s.hasValue()', 3],
    ['self.l[?0].hasValue()', 4],
    ['self.l.size() > 0', 4],
    ['size(self.s) > 0', 4],
    ['self.s.startsWith("abc")', 3],
    ['self.s.endsWith(self.t)', 14],
    ['self.s.contains("abc")', 6],
    ['self.s.contains(self.t)', 44],
    ['self.s.matches("^[a-z]+$")', 12],
    ['self.s.find("[0-9]+") == ""', 12],
    ['self.s.findAll("[0-9]+").size() > 0', 14],
    ['self.s.findAll("[0-9]+").all(x, true)', 133],
    ['self.s.charAt(1) == "a"', 4],
    ['self.s.indexOf("a") > 0', 7],
    ['self.s.lastIndexOf("a") > 0', 7],
    ['self.l.indexOf("a") > 0', 28],
    ['self.ns.indexOf(1) > 0', 10],
    ['self.s.lowerAscii() == self.t', 12],
    ['self.s.upperAscii() == "A"', 7],
    ['self.s.substring(1) == self.t', 12],
    ['self.s.trim() == self.t', 12],
    ['self.s.replace("a", "bc") == self.t', 20],
    ['self.s.replace("abc", "b") == self.t', 16],
    ['self.s.replace("", "ab") == self.t', 22],
    ['self.s.replace(self.t, self.t) == self.t', 26],
    ['self.s.split(",").size() > 0', 12],
    ['self.s.split(",", 3).all(x, true)', 20],
    ['self.s.split(",", -1).all(x, true)', 2 ** 64],
    ['self.s.split(",").all(x, true)', 131],
    ['self.l.join() == self.t', 34],
    ['self.l.join(", ") == self.t', 35],
    ['self.l.map(x, x).join(",") == self.t', anySize],
    ['self.ns.isSorted()', 9],
    ['self.l.isSorted()', 27],
    ['self.ns.sum() > 0', 10],
    ['self.l.min() == self.s', 33],
    ['self.ns.max() > 0', 10],
    ['self.l.all(x, x == self.s)', 53],
    ['self.l.exists(x, x == self.s)', 58],
    ['self.l.exists_one(x, x == self.s)', 49],
    ['self.l.filter(x, x == self.s).size() > 0', 115],
    ['self.l.map(x, x + "a").size() > 0', 105],
    ['self.l.map(x, x == "a", x).size() > 0', 90],
    ['self.l.map(x, x).all(x, true)', 94],
    ['self.l.filter(x, true).all(x, true)', 94],
    ['self.m.all(k, k == self.s)', 21],
    ['self.m.all(k, v, v == self.s)', 33],
    ['self.l.all(i, x, x == self.s)', 53],
    ['self.l.transformList(i, x, x).all(x, true)', 94],
    ['self.m.transformMap(k, v, v).size() > 0', 47],
    ['self.m.transformMapEntry(k, v, {v: k}).size() > 0', 137],
    ['self.m.transformMap(k, v, v == "a", v).size() > 0', 53],
    ['self.ll.all(x, x.all(y, y == self.s))', 73],
    ['self.any == self.any', 314_577],
    ['self.any.startsWith(self.any)', 314_577],
    ['string(self.n) == "1"', 4],
    ['string(self.bytes) == self.s', 12],
    ['bytes(self.s) == self.bytes', 12],
    ['string(self.at) == self.s', 9],
    ['int(self.s) > 0', 4],
    ['self.at < self.at', 5],
    ['self.at.getHours() > 0', 4],
    ['self.d == duration("1s")', 4],
    ['strings.quote(self.s) == self.t', 17],
    ['"%s".format([self.s]) == self.t', 25],
    ['sets.contains(self.l, self.l)', 30],
    ['sets.equivalent(self.ns, [1, 2])', 41],
    ['sets.intersects(self.l, [self.s])', 20],
    ['url(self.s) == url(self.t)', 28],
    ['url(self.s).getHost() == self.t', 19],
    ['isURL(self.s)', 3],
    ['ip(self.s) == ip(self.t)', 19],
    ['isIP(self.s)', 6],
    ['ip.isCanonical(self.s)', 10],
    ['ip(self.s).family() == 4', 8],
    ['cidr(self.s).containsIP(self.t)', 22],
    ['cidr(self.s).containsIP(ip(self.t))', 22],
    ['cidr(self.s).containsCIDR(self.t)', 25],
    ['cidr(self.s).containsCIDR(cidr(self.t))', 25],
    ['quantity(self.s) == quantity(self.t)', 19],
    ['quantity(self.s) != quantity(self.t)', anySize],
    ['quantity(self.s).add(1).isInteger()', 8],
    ['isQuantity(self.s)', 6],
    ['format.dns1123Label().validate(self.s).hasValue()', 132],
    ['format.named(self.s).hasValue()', 4],
    ['format.dns1123Label() == format.dns1123Label()', 9],
    ['optional.of(self.s).optMap(x, x + "a").hasValue()', 22],
    ['optional.of(self.s).orValue(self.t) == self.s', 12],
    ['type(self.n) == int', 4],
    ['self == self', 2],
    ['dyn(self.s) == self.t', 15],
    ['[1, 2].isSorted()', 12],
    ['self.any.replace(self.s, self.t) == self.any', 943_727],
    ['self.any.replace(self.s, self.t).lowerAscii() == ""', 32_400_995],
    ['self.bytes + b"twelve bytes"', 8],
    ['type(self.at) == google.protobuf.Timestamp', 4],
    ['self.?s == optional.of("a")', anySize],
    ['optional.of(self).s.hasValue()', 3],
    ['self.l[0] == self.l[1]', 10],
    ['self.m["a"] == self.m["b"]', 10],
    ['self.l[?0] == self.l[?1]', anySize],
    ['optional.of(self.l)[0] == optional.of(self.l)[1]', anySize],
    ['self.l.all(i, x, i == 0)', 23],
    ['self.', 0],
  ])('%s: %d', (rule, cost) => {
    if (self === undefined || declared === undefined) throw new Error('an object has a type')
    expect(estimateCost(rule, { self }, declared)).toBe(cost)
  })

  it('what the key and the value of each entry cost', () => {
    const map: StructuralSchema = { type: 'object', maxProperties: 3, additionalProperties: text }
    const [type, parts] = [shapeOf(map)?.type, declaredBy(map)]
    if (type === undefined || parts === undefined) throw new Error('a map has a type')
    expect(estimateCost('self.all(k, v, k == v)', { self: type }, parts)).toBe(17)
  })
})

describe('a call costs, and makes something of a size', () => {
  const ofType = (type: Type, more: Partial<Costed> = {}): Costed => ({ cost: 0, type, ...more })
  const sized = (min: number, max: number, type: Type = plain.string): Costed => ofType(type, { size: { min, max } })
  const [strings, ints] = [listType(plain.string), listType(plain.int)]
  const [net, address] = ['net.CIDR', 'net.IP'].map(parseType) as [Type, Type]
  const literal = (value: bigint): Costed => ofType(plain.int, { literal: value })
  const all = sized(3, 11)
  const most = 2 ** 64

  it.each<[string, readonly (readonly Type[])[], Costed | undefined, readonly Costed[], object]>([
    ['constructor', [], undefined, [], { cost: 1 }],
    ['isSorted', [], ofType(strings, { size: { min: 0, max: 5 }, itemSize: { min: 0, max: 20 } }), [], { cost: 15 }],
    ['isSorted', [], sized(0, 5, strings), [], { cost: 5 * anySize }],
    ['isSorted', [], sized(0, 5, ints), [], { cost: 5 }],
    ['indexOf', [], sized(0, 25), [], { cost: 3 }],
    ['indexOf', [], undefined, [], { cost: anySize }],
    ['replace', [], all, [sized(2, 2), sized(2, 2)], { cost: 3, size: { min: 3, max: 11 } }],
    ['replace', [], all, [sized(1, 3), sized(2, 4)], { cost: 3, size: { min: 2, max: 44 } }],
    ['replace', [], all, [sized(1, 2), sized(3, 3)], { cost: 3, size: { min: 3, max: 33 } }],
    ['replace', [], all, [sized(0, 5), sized(1, 1)], { cost: 3, size: { min: 1, max: 23 } }],
    ['replace', [], all, [sized(0, 0), sized(1, 1)], { cost: 3, size: { min: 7, max: 23 } }],
    ['replace', [], all, [ofType(plain.string), sized(1, 1)], { cost: 3, size: { min: 1, max: 23 } }],
    ['split', [], all, [all], { cost: 3, size: { min: 0, max: 11 } }],
    ['split', [], all, [all, literal(3n)], { cost: 3, size: { min: 0, max: 3 } }],
    ['split', [], all, [all, literal(0n)], { cost: 3, size: { min: 0, max: 0 } }],
    ['split', [], all, [all, literal(-1n)], { cost: 3, size: { min: 0, max: most } }],
    [
      'join',
      [],
      ofType(strings, { size: { min: 1, max: 4 }, itemSize: { min: 0, max: 10 } }),
      [sized(2, 2)],
      { cost: 5, size: { min: 0, max: 46 } },
    ],
    [
      'join',
      [],
      ofType(strings, { size: { min: 3, max: 4 }, itemSize: { min: 0, max: 10 } }),
      [sized(2, 2)],
      { cost: 5, size: { min: 4, max: 46 } },
    ],
    [
      'join',
      [],
      ofType(strings, { size: { min: 0, max: 0 }, itemSize: { min: 0, max: 10 } }),
      [sized(2, 2)],
      { cost: 0, size: { min: 0, max: 0 } },
    ],
    ['join', [], sized(2, 2, plain.dyn), [], { cost: 0, size: { min: 0, max: 0 } }],
    ['find', [], sized(1, 19), [sized(8, 8)], { cost: 4, size: { min: 0, max: 19 } }],
    ['matches', [], sized(1, 19), [sized(8, 8)], { cost: 4 }],
    ['matches', [], undefined, [sized(1, 19), sized(8, 8)], { cost: 1 }],
    ['_==_', [], undefined, [ofType(address), ofType(address)], { cost: 1 }],
    ['_==_', [], undefined, [ofType(net), ofType(net)], { cost: 1 }],
    ['_==_', [], undefined, [sized(0, 100, address), sized(0, 100, net)], { cost: 10 }],
    ['_==_', [], undefined, [sized(0, 100), sized(0, 30)], { cost: 3 }],
    ['_+_', [[plain.string]], undefined, [sized(1, 9), sized(2, 12)], { cost: 3, size: { min: 3, max: 21 } }],
    ['_+_', [[strings]], undefined, [sized(1, 9), sized(2, 12)], { cost: 1, size: { min: 3, max: 21 } }],
    ['_+_', [[plain.int]], undefined, [sized(1, 9), sized(2, 12)], { cost: 1 }],
    ['string', [[plain.bytes]], undefined, [sized(9, 20)], { cost: 2, size: { min: 2, max: 20 } }],
    ['string', [[plain.int]], undefined, [ofType(plain.int)], { cost: 1, size: { min: 0, max: 32 } }],
    ['string', [[plain.string]], undefined, [sized(1, 99)], { cost: 1 }],
    ['bytes', [[plain.string]], undefined, [sized(2, 5)], { cost: 1, size: { min: 2, max: 20 } }],
    ['strings.quote', [[plain.string]], undefined, [sized(2, 5)], { cost: 1, size: { min: 4, max: 12 } }],
    ['ip', [[plain.string]], undefined, [sized(0, 45)], { cost: 5 }],
    ['ip', [[net]], ofType(net), [], { cost: 1 }],
    ['format', [[plain.string]], sized(0, 45), [ofType(strings)], { cost: 5 }],
    ['format', [], undefined, [sized(0, 45)], { cost: 1 }],
  ])('%s %#', (...row) => {
    const [name, takes, target, args, made] = row
    const overloads = takes.map((types) => ({ takes: types })) as unknown as readonly Overload[]
    expect(callCost({ name, overloads, target, args })).toEqual(made)
  })

  it('of which nothing is known it may be any, and what is of a fixed size counts as one', () => {
    const nobody: { readonly knows?: Costed } = {}
    expect(ownSize(nobody.knows)).toEqual({ min: 0, max: most })
    expect(ownSize(ofType(plain.string))).toEqual({ min: 0, max: most })
    expect(ownSize(ofType(plain.int))).toEqual({ min: 1, max: 1 })
  })
})

describe('a value of a schema', () => {
  const most = 3 * 1_024 * 1_024 - 2
  /** An object that has a field of this name takes 65 bytes, and an entry with it 71. */
  const longName = 'n'.repeat(58)
  const object = (properties: StructuralSchema['properties'], required?: readonly string[]): StructuralSchema => ({
    type: 'object',
    ...(properties && { properties }),
    ...(required && { required }),
  })

  it.each<[StructuralSchema, number, number]>([
    [{ type: 'boolean' }, 0, 4],
    [whole, 0, 1],
    [{ type: 'number' }, 0, 1],
    [{ type: 'string' }, most, 2],
    [{ type: 'string', maxLength: 5 }, 20, 2],
    [{ type: 'string', maxLength: 0 }, 0, 2],
    [{ type: 'string', enum: ['a', 'äb'] }, 3, 2],
    [{ type: 'string', enum: ['a'], maxLength: 9 }, 36, 2],
    [{ type: 'string', enum: [5, 'abcd'] }, 4, 2],
    [{ type: 'string', enum: [5] }, 0, 2],
    [{ type: 'string', enum: [] }, 0, 2],
    [{ type: 'string', format: 'byte' }, most, 2],
    [{ type: 'string', format: 'byte', maxLength: 7 }, 7, 2],
    [{ type: 'string', format: 'duration', maxLength: 5 }, 32, 3],
    [{ type: 'string', format: 'date' }, 12, 12],
    [{ type: 'string', format: 'date-time' }, 32, 21],
    [{ type: 'string', format: 'constructor', maxLength: 1 }, 4, 2],
    [{ 'x-kubernetes-int-or-string': true }, most, 1],
    [{ type: 'array', items: whole }, most / 2, 2],
    [{ type: 'array', items: { type: 'boolean' } }, Math.floor(most / 5), 2],
    [listOf(whole, 7), 7, 2],
    [{ type: 'object', additionalProperties: whole }, Math.floor(most / 7), 2],
    [{ type: 'object', additionalProperties: whole, maxProperties: 7 }, 7, 2],
    [{ type: 'object', additionalProperties: object({ [longName]: whole }, [longName]) }, most / 71, 2],
    [object({ ab: whole, c: text }), 0, 2],
    [object({ ab: whole, c: text }, ['ab']), 0, 2 + 2 + 1 + 4],
    [object({ ab: whole, c: { ...text, default: 'x' } }, ['ab', 'c']), 0, 2 + 2 + 1 + 4],
    [object({ ab: whole, c: text }, ['ab', 'c']), 0, 2 + 2 + 1 + 4 + 1 + 2 + 4],
    [object({ 'a b': whole }, ['a b']), 0, 2 + 3 + 1 + 4],
  ])('%j has so many parts at most: %d, and so many bytes at least: %d', (one, parts, bytesMin) => {
    expect(declaredBy(one)).toMatchObject({ most: parts, bytesMin })
    expect(declaredBy(one)).toEqual(declaredBy(structuredClone(one)))
  })

  it.each<[StructuralSchema]>([
    [{}],
    [{ type: 'array' }],
    [{ type: 'array', items: {} }],
    [{ type: 'object', additionalProperties: {} }],
    [{ 'x-kubernetes-preserve-unknown-fields': true }],
  ])('%j is not seen', (one) => {
    expect(declaredBy(one)).toBeUndefined()
  })

  it('has the fields that expressions see, and those of every object', () => {
    const names = (one: Declared | undefined) => [...(one?.fields?.keys() ?? [])]
    const fields = object({ 'a-b': whole, 'a b': whole, free: {} })
    expect(names(declaredBy(fields))).toEqual(['a__dash__b'])
    const all = ['a__dash__b', 'apiVersion', 'kind', 'metadata']
    expect(names(declaredBy(fields, true))).toEqual(all)
    expect(names(declaredBy({ ...fields, 'x-kubernetes-embedded-resource': true }))).toEqual(all)
    expect(declaredBy(listOf(text, 5))?.item).toEqual(declaredBy(text))
    expect(declaredBy({ type: 'object', additionalProperties: whole })).toMatchObject({
      item: { most: 0, bytesMin: 1 },
      key: { most: 0, bytesMin: 2 },
    })
  })
})

describe('rules that may cost too much', () => {
  const ruled = (one: StructuralSchema, ...rules: readonly string[]): StructuralSchema => ({
    ...one,
    'x-kubernetes-validations': rules.map((rule) => ({ rule })),
  })
  /** Costs two for each of so many items: to go over a list of them costs five and some. */
  const found = (one: StructuralSchema) =>
    checkRuleCosts({ type: 'object', properties: { f: one } }, 'p').map(({ field, message }) => [
      field.replace('p.properties[f]', 'f').replaceAll('x-kubernetes-validations', 'rules'),
      /factor of (.*?) \(/.exec(message)?.[1] ?? message.split(':')[1]?.trim().slice(0, 11),
    ])
  const numbers = (count: number): StructuralSchema => listOf(whole, count)
  const over = 'self.all(x, true)'
  const two = '1 == 1 && 1 == 1'

  it.each<[string, StructuralSchema, readonly unknown[]]>([
    ['within the limit of one', ruled(numbers(3_333_332), over), []],
    ['above the limit of one', ruled(numbers(3_333_334), over), [['f.rules[0].rule', '1.000000x']]],
    ['exactly at the limit of one', ruled(numbers(3_333_332), `${over} && ${two}`), []],
    ['half above the limit of one', ruled(numbers(4_999_999), `${over} && 1 == 1`), [['f.rules[0].rule', '1.5x']]],
    ['well above the limit of one', ruled(numbers(6_000_000), over), [['f.rules[0].rule', '1.8x']]],
    [
      'a hundred times above',
      ruled(numbers(400_000_000), over),
      [
        ['f.rules[0].rule', 'more than 100x'],
        ['f.rules[0].rule', 'contributed'],
        ['p', '12.0x'],
      ],
    ],
    [
      'exactly a hundred times above',
      ruled(numbers(333_333_332), `${over} && ${two}`),
      [
        ['f.rules[0].rule', '100.0x'],
        ['f.rules[0].rule', 'contributed'],
        ['p', '10.0x'],
      ],
    ],
    [
      'somewhat more than a hundred times above',
      ruled(numbers(335_000_000), over),
      [
        ['f.rules[0].rule', 'more than 100x'],
        ['f.rules[0].rule', 'contributed'],
        ['p', '10.1x'],
      ],
    ],
    ['in each of many places', listOf(ruled(numbers(100), over), 40_000), [['f.items.rules[0].rule', '1.208000x']]],
    [
      'in each of many entries',
      { type: 'object', maxProperties: 40_000, additionalProperties: ruled(numbers(100), over) },
      [['f.additionalProperties.rules[0].rule', '1.208000x']],
    ],
    [
      'in a field of each',
      listOf({ type: 'object', properties: { a: ruled(numbers(100), over) } }, 40_000),
      [['f.items.properties[a].rules[0].rule', '1.208000x']],
    ],
    [
      'where nobody knows how many there are',
      { type: 'array', items: ruled(whole, 'self > 0 || self < -9 || self < -8 || self < -7') },
      [['f.items.rules[0].rule', '1.258291x']],
    ],
    [
      'in a field that has the name of what every object has',
      ruled({ type: 'object', properties: { metadata: numbers(6_000_000) } }, 'self.metadata.all(x, true)'),
      [['f.rules[0].rule', '1.8x']],
    ],
    [
      'nowhere in what has no type',
      { type: 'array', items: ruled({ 'x-kubernetes-preserve-unknown-fields': true }, 'true') },
      [],
    ],
  ])('are found %s', (_what, one, errors) => {
    expect(found(one)).toEqual(errors)
  })

  it('are found together, and the four that cost most are named', () => {
    const rule = (count: number): string => `self.all(x, ${Array(count).fill('x > 0').join(' && ')})`
    const lists = ruled(numbers(500_000), ...[5, 4, 3, ...Array.from({ length: 30 }, () => 2)].map(rule))
    const all = found(lists)
    expect(all.filter(([, what]) => what === 'contributed').map(([field]) => field)).toEqual(
      [0, 1, 2, 3].map((i) => `f.rules[${i}].rule`),
    )
    expect(all.at(-1)?.[0]).toBe('p')
  })

  it('are found at the root, which has what every object has', () => {
    const one = ruled({ type: 'object' }, 'self.metadata.name.contains(self.metadata.name)')
    expect(checkRuleCosts(one, 'p').map(({ field }) => field)).toContain('p.x-kubernetes-validations[0].rule')
  })

  it('are found together, up to the limit of all, and named from a hundredth of it on', () => {
    const exact = ruled(numbers(3_333_332), `${over} && ${two}`)
    const many = (count: number) => ({
      type: 'object' as const,
      properties: Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, exact])),
    })
    expect(checkRuleCosts(many(10), 'p')).toEqual([])
    expect(checkRuleCosts(many(11), 'p')).toHaveLength(5)
    const fields = {
      hundredth: ruled(numbers(333_332), `${over} && ${two}`),
      large: ruled(numbers(50_000_000), over),
      less: ruled(numbers(333_332), `${over} && 1 == 1`),
    }
    const named = checkRuleCosts({ type: 'object', properties: fields }, 'p').map(({ field }) => field)
    const rule = (name: string): string => `p.properties[${name}].x-kubernetes-validations[0].rule`
    expect(named).toEqual([rule('large'), rule('large'), rule('hundredth'), 'p'])
  })

  it('speak of the value before as it is, or as one that may not be there', () => {
    const one = (rule: string, more: object) => ({ ...numbers(9), 'x-kubernetes-validations': [{ rule, ...more }] })
    const costly = 'oldSelf.map(x, x).map(x, [x]).all(x, x.all(y, self.exists(z, z == y)))'
    expect(found({ ...one(costly, {}), maxItems: 90_000 })).not.toEqual([])
    expect(found(one('oldSelf.hasValue() && oldSelf.value().all(x, true)', { optionalOldSelf: true }))).not.toEqual([])
  })

  it('are asked what their messages cost, once', () => {
    const messageExpression = 'string(self.size()) + string(self.size())'
    const one = { ...numbers(5), 'x-kubernetes-validations': [{ rule: 'true', messageExpression }] }
    expect(found(one)).toEqual([])
    const long = {
      type: 'string',
      'x-kubernetes-validations': [{ rule: 'true', messageExpression: 'self.contains(self) ? self : ""' }],
    } as const
    expect(found(long)).toEqual([
      ['f.rules[0].messageExpression', 'more than 100x'],
      ['f.rules[0].messageExpression', 'contributed'],
      ['p', 'more than 100x'],
    ])
  })
})
