import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { planRuns } from '../../../functions/reconcilers/backup/cron-plan.ts'
import { parseSchedule } from '../../../functions/reconcilers/backup/schedule.ts'
import { share } from '../../support/strength.ts'

const at = (text: string): number => Date.parse(text)
const times = (schedule: string, zone: string | undefined, from: string, count: number): readonly string[] => {
  const parsed = parseSchedule(schedule, zone)
  const found: string[] = []
  for (let ms = parsed.next(at(from)); ms !== undefined && found.length < count; ms = parsed.next(ms))
    found.push(new Date(ms).toISOString().slice(0, 16))
  return found
}

type Row = readonly [
  schedule: string,
  zone: string | undefined,
  from: string,
  expected: readonly string[],
  because: string,
]

describe('a plan', () => {
  it('goes on by the clock of now, though the last run or the object is of a clock that was ahead', () => {
    const facts = {
      schedule: parseSchedule('0 2 * * *'),
      nowMs: at('2026-01-02T01:59Z'),
      concurrencyPolicy: 'Allow',
      suspend: false,
      jobs: [],
    } as const
    const ahead = at('2031-01-01T02:00Z')
    for (const lastMs of [ahead, undefined]) {
      const before = planRuns({ ...facts, createdMs: ahead, lastMs })
      expect(before).toEqual({ replaced: [], missed: 0, nextMs: at('2026-01-02T02:00Z') })
    }
    const ranMs = at('2026-01-02T02:00Z')
    const after = planRuns({ ...facts, createdMs: ahead, lastMs: at('2026-01-01T02:00Z'), nowMs: ranMs })
    expect(after.startMs).toBe(ranMs)
  })
})

describe('a schedule', () => {
  it.each<Row>([
    [
      '0 2 * * *',
      undefined,
      '2026-01-01T00:00Z',
      ['2026-01-01T02:00', '2026-01-02T02:00'],
      'UTC unless it says another',
    ],
    ['0 2 * * *', 'Europe/Vienna', '2026-01-01T00:00Z', ['2026-01-01T01:00', '2026-01-02T01:00'], 'its own zone'],
    [
      '*/20 * * * *',
      undefined,
      '2026-01-01T00:00Z',
      ['2026-01-01T00:20', '2026-01-01T00:40'],
      'the time itself is over',
    ],
    [
      '5/20,50 1/12 * * *',
      undefined,
      '2026-01-01T00:00Z',
      ['2026-01-01T01:05', '2026-01-01T01:25', '2026-01-01T01:45', '2026-01-01T01:50', '2026-01-01T13:05'],
      'from a number on, in steps',
    ],
    ['0 0 1 NOV/1 *', undefined, '2026-01-01T00:30Z', ['2026-11-01T00:00', '2026-12-01T00:00'], 'and from a name on'],
    ['@hourly', undefined, '2026-01-01T00:30Z', ['2026-01-01T01:00', '2026-01-01T02:00'], 'a nickname'],
    [
      '0 0 13 * 5',
      undefined,
      '2026-02-28T00:00Z',
      ['2026-03-06T00:00', '2026-03-13T00:00', '2026-03-20T00:00'],
      'day of month or of week',
    ],
    ['0 9 * JAN MON-FRI', undefined, '2026-01-02T10:00Z', ['2026-01-05T09:00'], 'names'],
    ['0 0 30 2 *', undefined, '2026-01-01T00:00Z', [], 'a day that never comes'],
    // robfig/cron, which Kubernetes uses: spec_test.go, "Daylight savings time" and "1am nightly job (runs twice)".
    [
      '30 2 * * *',
      'America/New_York',
      '2026-03-07T12:00Z',
      ['2026-03-09T06:30'],
      'a time in the gap of spring is skipped',
    ],
    ['0 2,14 * * *', 'America/New_York', '2026-03-07T20:00Z', ['2026-03-08T18:00'], 'one of several, too'],
    [
      '0 1 * * *',
      'America/New_York',
      '2026-11-01T00:00Z',
      ['2026-11-01T05:00', '2026-11-01T06:00', '2026-11-02T06:00'],
      'one that comes twice in autumn runs twice',
    ],
    [
      '0 * * * *',
      'America/New_York',
      '2026-03-08T06:30Z',
      ['2026-03-08T07:00', '2026-03-08T08:00'],
      'every hour is every hour',
    ],
  ])('%s in %s after %s: %j (%s)', (...[schedule, zone, from, expected]) => {
    expect(times(schedule, zone, from, Math.max(1, expected.length))).toEqual(expected)
  })

  it.each([
    ['61 * * * *', undefined, 'minute'],
    ['* 24 * * *', undefined, 'hour'],
    ['* * * *', undefined, 'exactly five'],
    ['0 0 0 * * *', undefined, '5'],
    ['* * * * *', 'Mars/Olympus', 'Mars/Olympus'],
  ] as const)('%s in %s is refused', (schedule, zone, message) => {
    expect(() => parseSchedule(schedule, zone)).toThrow(message)
  })

  it('knows the last time of a span, and counts up to a hundred before it', () => {
    const hourly = parseSchedule('0 * * * *')
    const span = (from: string, until: string) => hourly.latest(at(from), at(until))
    expect(span('2026-01-01T00:00Z', '2026-01-01T00:59Z')).toBeUndefined()
    expect(span('2026-01-01T00:00Z', '2026-01-01T01:00Z')).toEqual({ atMs: at('2026-01-01T01:00Z'), missed: 1 })
    expect(span('2026-01-01T00:00Z', '2026-01-05T04:30Z')).toEqual({ atMs: at('2026-01-05T04:00Z'), missed: 100 })
    expect(span('2020-01-01T00:00Z', '2026-01-05T04:30Z')).toEqual({ atMs: at('2026-01-05T04:00Z'), missed: 101 })
  })

  it('is due at every minute whose local time it names, and at no other, over any change of the clocks', () => {
    const zones = ['UTC', 'America/New_York', 'Europe/Vienna', 'Asia/Kathmandu', 'America/Sao_Paulo']
    // Around the days when clocks change in one of them.
    const starts = ['2026-03-07', '2026-03-28', '2026-10-24', '2026-10-31', '2018-11-03'].map((day) =>
      at(`${day}T00:00Z`),
    )
    const field = (least: number, most: number) =>
      fc.oneof(
        fc.constant('*'),
        fc.integer({ min: least, max: most }).map(String),
        fc.integer({ min: 2, max: 7 }).map((step) => `*/${step}`),
        fc
          .tuple(fc.integer({ min: least, max: most }), fc.integer({ min: least, max: most }))
          .map((pair) => pair.join(',')),
      )
    const schedules = fc.tuple(field(0, 59), field(0, 4), fc.constantFrom('*', '1', '8,25'))
    fc.assert(
      fc.property(
        schedules,
        fc.constantFrom(...zones),
        fc.constantFrom(...starts),
        ([minute, hour, day], zone, start) => {
          const end = start + 3 * 24 * 3_600_000
          const due = Array.from({ length: (end - start) / 60_000 }, (_, i) => start + (i + 1) * 60_000).filter(
            (ms) => {
              const local = localTime(ms, zone)
              return [minute, hour, day].every((one, i) => names(one, local[i] ?? 0))
            },
          )
          const parsed = parseSchedule(`${minute} ${hour} ${day} * *`, zone)
          const found: number[] = []
          for (let ms = parsed.next(start); ms !== undefined && ms <= end; ms = parsed.next(ms)) found.push(ms)
          expect(found).toEqual(due)
          expect(parsed.latest(start, end)?.atMs).toBe(due.at(-1))
        },
      ),
      { numRuns: share(60) },
    )
  })
})

const formats = new Map<string, Intl.DateTimeFormat>()
const hours = new Map<string, readonly number[]>()

/** Minute, hour and day; by the zone's offset at the quarter of an hour. */
function localTime(ms: number, zone: string): readonly number[] {
  const quarter = Math.floor(ms / 900_000) * 900_000
  const key = `${zone} ${quarter}`
  const known = hours.get(key)
  const [minute = 0, hour = 0, day = 0] = known ?? askLocalTime(quarter, zone)
  if (known === undefined) hours.set(key, [minute, hour, day])
  return [minute + (ms - quarter) / 60_000, hour, day]
}

function askLocalTime(ms: number, zone: string): readonly number[] {
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat('en', {
      timeZone: zone,
      minute: 'numeric',
      hour: 'numeric',
      day: 'numeric',
      hourCycle: 'h23',
    })
  formats.set(zone, format)
  const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]))
  return [parts['minute'] ?? 0, parts['hour'] ?? 0, parts['day'] ?? 0]
}

function names(field: string, value: number): boolean {
  if (field === '*') return true
  if (field.startsWith('*/')) return value % Number(field.slice(2)) === 0
  return field.split(',').map(Number).includes(value)
}
