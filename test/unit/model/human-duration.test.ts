import { expect, it } from 'vitest'
import { humanDuration } from '../../../shared/model/human-duration.ts'

const s = 1_000
const m = 60 * s
const h = 60 * m
const d = 24 * h
const y = 365 * d

/** Of k8s.io/apimachinery/pkg/util/duration: TestHumanDuration and its boundaries. */
const rows: readonly (readonly [number, string])[] = [
  [-2 * s, '<invalid>'],
  [-1 * s, '0s'],
  [-1.9 * s, '0s'],
  [0, '0s'],
  [999, '0s'],
  [1_000, '1s'],
  [1_999, '1s'],
  [70 * s, '70s'],
  [119 * s, '119s'],
  [120 * s - 1, '119s'],
  [2 * m, '2m'],
  [2 * m + 5 * s, '2m5s'],
  [9 * m + 59 * s, '9m59s'],
  [10 * m, '10m'],
  [10 * m + 1 * s, '10m'],
  [70 * m, '70m'],
  [179 * m + 59 * s, '179m'],
  [180 * m + 59 * s, '3h'],
  [3 * h, '3h'],
  [3 * h + 1 * m, '3h1m'],
  [7 * h + 59 * m, '7h59m'],
  [8 * h, '8h'],
  [8 * h + 59 * m, '8h'],
  [47 * h + 59 * m, '47h'],
  [48 * h, '2d'],
  [53 * h, '2d5h'],
  [7 * d + 23 * h, '7d23h'],
  [8 * d, '8d'],
  [8 * d + 23 * h, '8d'],
  [2 * y - h, '729d'],
  [2 * y - 1, '729d'],
  [2 * y, '2y'],
  [2 * y + 35 * d, '2y35d'],
  [8 * y - h, '7y364d'],
  [8 * y, '8y'],
  [8 * y + 100 * d, '8y'],
  [9 * y - 1, '8y'],
]
it.each(rows)('shows %d ms as %s', (ms, text) => {
  expect(humanDuration(ms)).toBe(text)
})
