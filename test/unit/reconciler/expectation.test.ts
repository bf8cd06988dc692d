import { expect, it } from 'vitest'
import { expectation, type Context } from '../../../shared/index.ts'

/** A job that is expected to end within ten seconds. */
function start(untilMs?: number) {
  const ctx = { expectations: new Map<string, number>(), nowMs: 1_000, now: () => ctx.nowMs }
  if (untilMs !== undefined) ctx.expectations.set('job', untilMs)
  const job = { isOver: false }
  const over = expectation<typeof job>('job', { within: '10s', met: async ({ isOver }) => isOver })
  return { ctx, job, over, given: ctx as unknown as Context }
}

it.each([
  ['is not expected', undefined, false, 1_000, undefined, undefined],
  ['is not expected, though it holds', undefined, true, 1_000, undefined, undefined],
  ['is on its way', 11_000, false, 10_999, 'ongoing', 11_000],
  ['is late', 11_000, false, 11_000, 'timedOut', 11_000],
  ['has come true', 11_000, true, 10_999, 'met', undefined],
  ['has come true late', 11_000, true, 20_000, 'met', undefined],
] as const)('what %s', async (...[, untilMs, isOver, nowMs, says, left]) => {
  const { ctx, job, over, given } = start(untilMs)
  job.isOver = isOver
  ctx.nowMs = nowMs
  expect(await over.check(job, given)).toBe(says)
  expect(ctx.expectations.get('job')).toBe(left)
})

it('is expected from now on, each time anew, until it is forgotten', () => {
  const { ctx, over } = start()
  over.set(ctx)
  expect([...ctx.expectations]).toEqual([['job', 11_000]])
  ctx.nowMs = 5_000
  over.set(ctx)
  expect([...ctx.expectations]).toEqual([['job', 15_000]])
  over.forget(ctx)
  expect([...ctx.expectations]).toEqual([])
})

it.each([
  [true, false, undefined],
  [false, true, 11_000],
])('that holds (%j) is expected only if it does not', async (isOver, isExpected, untilMs) => {
  const { ctx, job, over, given } = start()
  job.isOver = isOver
  expect(await over.setUnlessMet(job, given)).toBe(isExpected)
  expect(ctx.expectations.get('job')).toBe(untilMs)
})

it('that is for no time cannot be', () => {
  expect(() => expectation('JobEnded', { within: 'soon', met: () => true })).toThrow(
    'the expectation JobEnded: within: not a duration: "soon"',
  )
})
