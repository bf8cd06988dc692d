import { describe, expect, it } from 'vitest'
import { CostError, Meter } from '../../../../shared/model/cel/meter.ts'
import { compileExpression } from '../../../../shared/model/cel/program.ts'
import { plain } from '../../../../shared/model/cel/type.ts'
import type { Result } from '../../../../shared/model/cel/value.ts'
import { leastProcessorMs } from '../../../support/processor-time.ts'

function resultOf(rule: string, text: string): Result {
  const program = compileExpression(rule, { a: plain.string }, ['bool'])
  if ('fault' in program) throw new Error(program.fault)
  return program.run([text], new Meter(1_000_000))
}

describe('a text of an object, as large as that may be,', () => {
  const many = `[${'1, '.repeat(2_000)}1]`
  it.each([
    ['is a URL with values of one name', 'url(a).getQuery()["q"].size() == 30000', `https://h/?${'q&'.repeat(30_000)}`],
    ['is put together again of its letters', 'a.split("").join("").size() == 250000', 'x'.repeat(250_000)],
    ['is known at once to be no network', `${many}.all(i, !isCIDR(a))`, '/'.repeat(300_000)],
  ])('%s', (_what, rule, text) => {
    expect(leastProcessorMs(() => expect(resultOf(rule, text)).toBe(true))).toBeLessThan(500)
  })
})

it('a path with half a character is escaped as the mark of what is none', () => {
  expect(resultOf('url(a).getEscapedPath() == "/%EF%BF%BD"', '/\ud800')).toBe(true)
})

describe('what walks a text of an object, as large as that may be, is given up in time', () => {
  const numbers = (count: number): string => `[${Array.from({ length: count }, (_, i) => i).join()}]`
  const often = `${numbers(100)}.all(i, ${numbers(100)}.all(j, `
  it.each([
    ['timestamp', 'timestamp(a) > timestamp("2024-01-01T00:00:00Z")', `2024-01-01T00:00:00.${'1'.repeat(300_000)}Z`],
    ['double', 'double(a) > 1.0', '1'.repeat(300_000)],
    ['format', 'a.format([]) != "x"', '%%'.repeat(150_000)],
    ['getQuery', 'url(a).getQuery().size() > 0', `h://h?${'a&'.repeat(150_000)}`],
    ['strings.quote', 'strings.quote(a) != ""', '\u0001'.repeat(300_000)],
    ['==', 'a != b', 'x'.repeat(300_000)],
    ['in', '!(a in [b])', 'x'.repeat(300_000)],
    ['max', '[a, b].max() == b', 'x'.repeat(300_000)],
    ['upperAscii', 'a.upperAscii() != a', 'aA'.repeat(150_000)],
    ['lowerAscii, with letters beyond ASCII', 'a.lowerAscii() != a', 'Aé'.repeat(30_000)],
    ['%x', '"%x".format([a]) != a', 'aA'.repeat(10_000)],
    ['%f of a number of 300 digits', '"%f".format([1e300]) != a', ''],
    ['replace of nothing', 'a.replace("", "b") != a', 'aA'.repeat(30_000)],
    ['duration', 'duration(a) > duration("1s")', '1.12345678h'.repeat(9)],
    ['quantity', 'isQuantity(a)', `${'1'.repeat(97)}e99`],
    ['ip', 'ip.isCanonical("2001:db8::1")', ''],
    ['cidr', 'cidr("2001:db8::/32").containsIP("2001:db8::1")', ''],
  ])('%s', (_what, test, text) => {
    const program = compileExpression(`${often}${test}))`, { a: plain.string, b: plain.string }, ['bool'])
    if ('fault' in program) throw new Error(program.fault)
    const other = `${text.slice(0, -1)}y`
    const work = (): void => expect(() => program.run([text, other], new Meter(300_000))).toThrow(CostError)
    expect(leastProcessorMs(work)).toBeLessThan(100)
  })

  it('where it does not know the name of a time zone at once', () => {
    const rule = `${numbers(100)}.exists(i, timestamp('2024-01-01T00:00:00Z').getHours(a) > 1) || true`
    expect(leastProcessorMs(() => expect(resultOf(rule, 'a'.repeat(300_000))).toBe(true))).toBeLessThan(100)
  })
})
