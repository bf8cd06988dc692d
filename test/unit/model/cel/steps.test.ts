import { describe, expect, it } from 'vitest'
import { CostError, Meter } from '../../../../shared/model/cel/meter.ts'
import { compileExpression } from '../../../../shared/model/cel/program.ts'
import { authorizerValues } from '../../../../shared/model/cel/functions/authorizer.ts'
import { listOf, mapOf, objectOf, parseType, plain, type Type } from '../../../../shared/model/cel/type.ts'
import { readUntyped } from '../../../../shared/model/cel/untyped-value.ts'
import { patternOf } from '../../../../shared/model/cel/patterns.ts'
import { CelFailure, type Result } from '../../../../shared/model/cel/value.ts'

/** Values of known sizes, by the names of their variables. */
const known: Readonly<Record<string, readonly [Type, Result]>> = {
  t: [plain.string, 'x'.repeat(80)],
  u: [plain.string, 'y'.repeat(40)],
  w: [plain.string, '😀'.repeat(8)],
  bytes: [plain.bytes, new Uint8Array(80)],
  others: [plain.bytes, new Uint8Array(80)],
  l: [listOf(plain.int), [3n, 1n, 2n, 5n]],
  ls: [listOf(plain.string), ['a'.repeat(16), 'b'.repeat(24)]],
  m: [mapOf(plain.string, plain.int), readUntyped({ a: 1, b: 2, c: 3 })],
  link: [plain.string, `https://h/${'p'.repeat(24)}?${'q'.repeat(16)}`],
  who: [
    parseType('kubernetes.authorization.Authorizer'),
    authorizerValues(() => ({ allowed: true, reason: '' }), {})[0] as Result,
  ],
}
const types = Object.fromEntries(Object.entries(known).map(([name, [type]]) => [name, type]))
const values = Object.values(known).map(([, value]) => value)
const constructs = (name: string): Type | undefined => (name === 'Object' ? objectOf('Object') : undefined)
const plenty = 1_000_000

function stepsOf(text: string): number {
  const program = compileExpression(text, types, { gives: [], constructs })
  if ('fault' in program) throw new Error(program.fault)
  const meter = new Meter(plenty)
  program.run(values, meter)
  return plenty - meter.left
}

/** Three for each part that is worked out, and then as much as the work grows with the values. */
describe('a run takes so many steps:', () => {
  it.each([
    ['t', 0],
    ['1 == 1', 5],
    ['m == m', 5],
    ['t == u', 5],
    ['t == t', 15],
    ['bytes == b"x"', 5],
    ['bytes == bytes', 5],
    ['bytes == others', 15],
    ['t in ls', 7],
    ['{"a": 1} == {"a": 2}', 22],
    ['m == {"a": 1, "b": 2, "c": 3}', 29],
    ['[1, 2, 3]', 6],
    ['{"a": 1, "b": 2}', 11],
    ['Object{a: 1, b: 2}', 11],
    ['t.startsWith(u)', 18],
    ['t.lowerAscii()', 13],
    ['t.upperAscii()', 13],
    ['w.upperAscii()', 35],
    ['t.charAt(0)', 13],
    ['w.charAt(0)', 19],
    ['t.indexOf("x")', 13],
    ['t.indexOf("x", 1)', 13],
    ['t.lastIndexOf("x")', 13],
    ['t.lastIndexOf("x", 1)', 13],
    ['t.substring(1)', 13],
    ['t.substring(1, 2)', 13],
    ['t.replace("x", "yy")', 33],
    ['t.replace("x", "yy", 1)', 13],
    ['t.replace("x", "yy", 0)', 13],
    ['t.replace("", u, 0)', 578],
    ['t.split("x")', 94],
    ['t.split("x", 2)', 15],
    ['ls.join()', 8],
    ['ls.join(t)', 28],
    ['t.matches("x+")', 165],
    ['t.find("x")', 84],
    ['t.findAll("x")', 1164],
    ['t.findAll("x", 0)', 3],
    ['t.findAll("xx", 2)', 208],
    ['size(t)', 13],
    ['size(w)', 19],
    ['size(m)', 6],
    ['string(bytes)', 13],
    ['bytes(t)', 13],
    ['t + u', 18],
    ['bytes + bytes', 23],
    ['l + l + l', 26],
    ['t < u', 13],
    ['bytes < bytes', 13],
    ['3 in l', 5],
    ['l.min()', 11],
    ['l.max()', 11],
    ['l.isSorted()', 11],
    ['l.sum()', 11],
    ['"%s".format([t])', 20],
    ['"%s".format([[t]])', 38],
    ['l.all(x, true)', 11],
    // Of what fails nothing is counted further.
    ['dyn(m).z.all(i, x, true)', 9],
    ['m.all(k, true)', 12],
    ['m.all(k, v, true)', 15],
    ['l.transformMap(i, x, x)', 35],
    ['m.transformMapEntry(k, v, {v: k})', 48],
    ['isURL(link)', 29],
    ['url(link).getHost()', 37],
    ['format.dns1123Label().validate(t)', 16],
    ['timestamp("2026-01-01T00:00:00Z").getHours()', 8],
    ['timestamp("2026-01-01T00:00:00Z").getHours("UTC")', 2008],
    ['double(t)', 13],
    ['t.format([])', 16],
    ['"%%%%".format([])', 12],
    ['strings.quote(t)', 23],
    ['ls.min()', 12],
    ['ls.isSorted()', 9],
    ['url(link).getQuery()', 67],
    ['who.serviceAccount(t, u)', 18],
    ['jsonpatch.escapeKey(t)', 13],
    ['"%x".format([t])', 270],
    ['duration("1h")', 55],
    ['duration(t + t)', 666],
    ['isQuantity("1Gi")', 15],
    ['quantity(t + t)', 426],
    ['isIP("::1")', 153],
    ['ip.isCanonical("::1")', 303],
    ['string(ip("::1"))', 306],
    ['ip("::1").isLoopback()', 206],
    ['isCIDR("::/1")', 153],
    ['cidr("::/1").containsIP("::1")', 306],
    ['cidr("::/1").containsIP(ip("::1"))', 359],
    ['cidr("::/1").containsCIDR("::1/9")', 306],
    ['cidr("::/1").masked()', 206],
    ['who.path("/a").check("get")', 20006],
  ])('%s %d', (text, steps) => {
    expect(stepsOf(text)).toBe(steps)
  })
})

describe('a pattern that is made while an expression runs', () => {
  const meter = new Meter(plenty)
  const stepsFor = (source: string): number => {
    const before = meter.left
    patternOf(source, meter)
    return before - meter.left
  }

  it('costs what it takes to compile it, once', () => {
    expect([stepsFor('seldom+'), stepsFor('(?:ab|cd){240}')]).toEqual([1_820, 252_840])
    expect([stepsFor('seldom+'), stepsFor('(?:ab|cd){240}')]).toEqual([0, 0])
  })

  it('costs the same whatever others have compiled', () => {
    const other = new Meter(plenty)
    patternOf('seldom+', other)
    expect(plenty - other.left).toBe(1_820)
  })

  it('costs nothing where it is written down, since it is compiled with its expression', () => {
    expect(stepsOf('t.matches("(?:ab|cd){9}")')).toBe(stepsOf('t.matches("(?:ab|ce){9}")'))
    expect(stepsOf('t.matches("(?:ab|cd)" + "{9}")')).toBeGreaterThan(stepsOf('t.matches("(?:ab|cd){9}")') + 4_000)
  })

  it('costs as much to be found in every place as in the first', () => {
    const found = compileExpression('t.findAll("a(.*x)?")', { t: plain.string }, { gives: [] })
    if ('fault' in found) throw new Error(found.fault)
    expect(() => found.run(['a'.repeat(3_000)], new Meter(300_000))).toThrow(CostError)
  })
})

it('a text that is no pattern is one as little the second time', () => {
  const meter = new Meter(plenty)
  const [one, other] = [0, 1].map(() => patternOf('a{9999}', meter))
  expect(one).toEqual(new CelFailure('unrolls to more than 5000 steps'))
  expect(other).toBe(one)
})

it('nothing runs on once its steps are used up', () => {
  const meter = new Meter(5)
  meter.spend(5)
  expect(meter.left).toBe(0)
  expect(() => meter.spend(1)).toThrow(CostError)
})
