import { expect, it } from 'vitest'
import { durationMs, tryDurationMs, type Duration } from '../../../shared/model/duration.ts'

it.each([
  [0, 0],
  [1_500, 1_500],
  ['500ms', 500],
  ['1.5s', 1_500],
  ['1h30m', 5_400_000],
  ['876600h', 3_155_760_000_000],
])('%s is %i ms', (duration, ms) => {
  expect(durationMs(duration)).toBe(ms)
})

it.each([
  [0.4, 0],
  [1.5, 2],
  ['1.1s', 1_100],
  ['0.0015s', 2],
])('%s is whole milliseconds: stores and timers know no others', (duration, ms) => {
  expect(durationMs(duration)).toBe(ms)
})

/** What a program without types may give. */
const foreign = [undefined, null, true, [], new Date(0)] as unknown as readonly Duration[]

it.each(['', '5', '-1s', '1 s', 'soon', -1, Number.NaN, Infinity, '876600h1ms', 9e15, '9999999999999h', ...foreign])(
  '%s is none',
  (duration) => {
    expect(tryDurationMs(duration)).toBeUndefined()
    expect(() => durationMs(duration)).toThrow(expect.objectContaining({ code: 'BAD_REQUEST' }))
    const said = typeof duration === 'string' ? JSON.stringify(duration) : String(duration)
    expect(() => durationMs(duration)).toThrow(`not a duration: ${said};`)
  },
)
