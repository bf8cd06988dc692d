import { expect, it } from 'vitest'
import { watchUnread } from '../../../../../shared/adapters/local/https/unread-answer.ts'

it.each<[string, readonly (readonly [waiting: number, taken: number])[], readonly boolean[]]>([
  ['nothing of it is taken', [1, 1, 1, 1].map(() => [9, 5]), [false, false, false, true]],
  ['nothing of a single byte is taken', [1, 1, 1, 1].map(() => [1, 0]), [false, false, false, true]],
  ['nothing waits', [1, 1, 1, 1].map(() => [0, 5]), [false, false, false, false]],
  ['parts of one length are taken', [1, 2, 3, 4].map((taken) => [9, taken]), [false, false, false, false]],
  ['less waits', [9, 8, 7, 6].map((waiting) => [waiting, 0]), [false, false, false, false]],
])('an answer is unread if nothing of it is taken for longer than two seconds: %s', (_what, seconds, unread) => {
  const left = [...seconds]
  const isUnread = watchUnread(() => {
    const [waiting, taken] = left.shift() as readonly [number, number]
    return { waiting, taken }
  }, 2)
  expect(seconds.map(() => isUnread())).toEqual(unread)
})
