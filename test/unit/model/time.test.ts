import { expect, it } from 'vitest'
import { present } from '../../../shared/model/present.ts'
import {
  formatOrderedTimestamp,
  microTimeOf,
  microTimestamp,
  parseTimestamp,
  timestamp,
} from '../../../shared/model/time.ts'
import { storedWidget } from '../../support/stored-object.ts'

it('a time is written down in UTC', () => {
  expect(timestamp(0)).toBe('1970-01-01T00:00:00Z')
  expect(microTimestamp(1_500)).toMatch(/^1970-01-01T00:00:01\.500/)
})

it.each([1.7e18, Infinity, -Infinity, Number.NaN])(
  'one that is none, %s, hides no object from those who list it',
  (syncedAtMs) => {
    const { object } = storedWidget('w')
    const shown = present({
      object,
      engine: { wait: { kind: 'Resync', generation: 1, atMs: 0 }, memory: { syncedAtMs } },
    })
    expect(shown.metadata.name).toBe('w')
  },
)

it.each([
  [1_700_000_000_000, '2023-11-14T22:13:20'],
  [1_700_000_000_999, '2023-11-14T22:13:20'],
  [1_700_000_001_000, '2023-11-14T22:13:21'],
  [-1, '1969-12-31T23:59:59'],
  [999, '1970-01-01T00:00:00'],
])('the time %d in seconds and in milliseconds', (ms, second) => {
  for (let i = 0; i < 2; i++) expect(timestamp(ms)).toBe(`${second}Z`)
  expect(microTimestamp(ms)).toBe(`${second}.${String((ms + 1_000) % 1_000).padStart(3, '0')}Z`)
})

it.each([
  [1_500.9, '1970-01-01T00:00:01.500Z'],
  [199_999_999_999_999, '8307-10-01T19:33:19.999Z'],
  [200_000_000_000_000, '8307-10-01T19:33:20.000Z'],
  [253_402_300_800_000, '+010000-01-01T00:00:00.000Z'],
  [Infinity, '+275760-09-13T00:00:00.000Z'],
  [9e15, '+275760-09-13T00:00:00.000Z'],
  [-Infinity, '-271821-04-20T00:00:00.000Z'],
  [Number.NaN, '1970-01-01T00:00:00.000Z'],
])('the time %d, which no clock says, is %s', (ms, text) => {
  expect(microTimestamp(ms)).toBe(text)
})

it.each([
  [0, '000'],
  [7, '007'],
  [999, '999'],
  [1_000, '999'],
])('what comes as number %d of one millisecond has its own place', (place, end) => {
  expect(formatOrderedTimestamp(1_500, place)).toBe(`1970-01-01T00:00:01.500${end}Z`)
})

it.each([
  ['2026-01-02T03:04:05.123456Z', '2026-01-02T03:04:05.123456Z'],
  ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000000Z'],
  ['2026-01-02T03:04:05.1Z', '2026-01-02T03:04:05.100000Z'],
  ['2026-01-02T03:04:05.123456789Z', '2026-01-02T03:04:05.123456Z'],
  ['2026-01-02T03:04:05.5+01:00', '2026-01-02T02:04:05.500000Z'],
  ['2026-01-02t03:04:05z', '2026-01-02T03:04:05.000000Z'],
  ['2026-13-02T03:04:05Z', undefined],
  ['2026-01-02T03:04:05', undefined],
  ['2026-01-02', undefined],
  ['', undefined],
])('%j as a MicroTime is %j', (text, is) => {
  expect(microTimeOf(text)).toBe(is)
})

it.each([
  ['1970-01-01T00:00:01.5Z', 1_500],
  ['1970-01-01T00:00:00Z', 0],
  ['soon', undefined],
])('%j is the time %j', (text, ms) => {
  expect(parseTimestamp(text)).toBe(ms)
})
