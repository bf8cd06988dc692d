import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  civilOf,
  readDuration,
  readFormatDuration,
  readTimestamp,
  showDuration,
  showTimestamp,
} from '../../../../shared/model/cel/times.ts'
import { stringFormat } from '../../../../shared/model/schema/formats.ts'

const ns = (seconds: number): bigint => BigInt(seconds) * 1_000_000_000n
/** From the year 0001 to the year 9999. */
const seconds = fc.integer({ min: -62_135_596_800, max: 253_402_300_799 })

describe('a timestamp', () => {
  it('is the moment that Node takes the same text for', () => {
    fc.assert(
      fc.property(seconds, (second) => {
        const text = showTimestamp(ns(second))
        expect(Date.parse(text)).toBe(second * 1_000)
        expect(readTimestamp(text)).toBe(ns(second))
      }),
    )
  })

  it('has the parts that Node gives it', () => {
    fc.assert(
      fc.property(seconds, (second) => {
        const date = new Date(second * 1_000)
        const firstDay = new Date(0).setUTCFullYear(date.getUTCFullYear())
        expect(civilOf(second)).toEqual({
          year: date.getUTCFullYear(),
          month: date.getUTCMonth() + 1,
          day: date.getUTCDate(),
          hour: date.getUTCHours(),
          minute: date.getUTCMinutes(),
          second: date.getUTCSeconds(),
          dayOfWeek: date.getUTCDay(),
          dayOfYear: Math.floor((second * 1_000 - firstDay) / 86_400_000),
        })
      }),
    )
  })

  it.each([
    ['2024-02-29T00:00:00Z', true],
    ['2024-02-30T00:00:00Z', false],
    ['2023-02-29T00:00:00Z', false],
    ['1900-02-29T00:00:00Z', false],
    ['2000-02-29T00:00:00Z', true],
    ...[31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].flatMap((days, i): [string, boolean][] => {
      const month = String(i + 1).padStart(2, '0')
      return [
        [`2026-${month}-${days}T00:00:00Z`, true],
        [`2026-${month}-${days + 1}T00:00:00Z`, false],
      ]
    }),
    ['2026-04-31T00:00:00Z', false],
    ['2026-12-31T23:59:59Z', true],
    ['2026-13-01T00:00:00Z', false],
    ['2026-00-01T00:00:00Z', false],
    ['2026-01-00T00:00:00Z', false],
    ['2026-01-01T24:00:00Z', false],
    ['2026-01-01T00:60:00Z', false],
    ['2026-01-01T00:00:60Z', false],
    ['2026-01-01', false],
  ])('%s is one: %s', (text, isOne) => {
    expect(readTimestamp(text) !== undefined).toBe(isOne)
  })

  it.each([
    ['2026-01-01T02:30:00+02:30', '2026-01-01T00:00:00Z'],
    ['2025-12-31T22:00:00-02:00', '2026-01-01T00:00:00Z'],
    ['2026-01-01T00:00:00.5Z', '2026-01-01T00:00:00.5Z'],
    ['1969-12-31T23:59:59.000000001Z', '1969-12-31T23:59:59.000000001Z'],
    // The last day of four hundred years.
    ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00Z'],
    ['1600-02-29T00:00:00Z', '1600-02-29T00:00:00Z'],
  ])('%s is shown as %s', (text, shown) => {
    expect(showTimestamp(readTimestamp(text) ?? 0n)).toBe(shown)
  })
})

describe('a duration', () => {
  it.each([
    ['0', 0n],
    ['-0', 0n],
    ['1h30m', ns(5_400)],
    ['-1.5s', -1_500_000_000n],
    ['.5ms', 500_000n],
    ['1m1ms1us1ns', 60_001_001_001n],
    ['\u00b5s', undefined],
    ['1', undefined],
    ['1 s', undefined],
    ['2562048h', undefined],
    ['1s'.repeat(51), undefined],
    [`${'0'.repeat(98)}1s`, ns(1)],
    [`${'0'.repeat(99)}1s`, undefined],
  ])('%s is %s ns', (text, expected) => {
    expect(readDuration(text)).toBe(expected)
  })

  it.each([
    [0n, '0s'],
    [ns(5_400), '5400s'],
    [-1_500_000_000n, '-1.5s'],
    [1n, '0.000000001s'],
  ])('%s ns is shown as %s', (value, shown) => {
    expect(showDuration(value)).toBe(shown)
  })
})

describe('a duration of a field with that format', () => {
  const [second, day] = [ns(1), ns(86_400)]
  it.each<[string, bigint | undefined]>([
    ['1h30m', ns(5_400)],
    ['-1.5s', -1_500_000_000n],
    ['0', 0n],
    ['7d', 7n * day],
    ['2w', 14n * day],
    ['1wk', 7n * day],
    ['3 days', 3n * day],
    ['1 week and 2 Days', 9n * day],
    ['5\tmin', ns(300)],
    ['1 hr', ns(3_600)],
    ['2 hours', ns(7_200)],
    ['4sec', 4n * second],
    ['6 nanos', 6n],
    ['6NS', 6n],
    ['2 \u00b5s', 2_000n],
    ['2 us', 2_000n],
    ['3 microseconds', 3_000n],
    ['2 ms', 2_000_000n],
    ['3 milliseconds', 3_000_000n],
    ['1 s', second],
    ['1 m', ns(60)],
    // A sign and a fraction are passed over.
    ['-3 days', 3n * day],
    ['1.5d', 5n * day],
    ['1 apple 2d', 2n * day],
    ['1 mm', undefined],
    ['7', undefined],
    ['days', undefined],
    ['1 hrs', undefined],
    ['', undefined],
  ])('%j is %s nanoseconds', (text, expected) => {
    expect(readFormatDuration(text)).toBe(expected)
    expect(stringFormat('duration')?.(text)).toBe(expected !== undefined)
  })

  it('is none beyond 292 years, and none of a long text', () => {
    expect(readFormatDuration('106751 days')).toBe(106_751n * day)
    expect(readFormatDuration('106752 days')).toBeUndefined()
    expect(readFormatDuration(`${' '.repeat(98)}1d`)).toBe(day)
    expect(readFormatDuration(`${' '.repeat(99)}1d`)).toBeUndefined()
  })

  it('is there for each text that the format takes', () => {
    const piece = fc.constantFrom(
      '1',
      '20',
      ' ',
      '.',
      '-',
      'd',
      'days',
      's',
      'sec',
      'm',
      'min',
      'mi',
      'h',
      'hr',
      'w',
      'x',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const text = pieces.join('')
        const isTooLong = /\d{5}/.test(text)
        expect(isTooLong || (readFormatDuration(text) !== undefined) === stringFormat('duration')?.(text)).toBe(true)
      }),
    )
  })
})
