import { describe, expect, it } from 'vitest'
import { again, attempts, done, retryAfter, stop, withReport, type Context } from '../../../shared/index.ts'
import { OperatingError } from '../../../shared/model/errors.ts'
import type { AttemptsOptions } from '../../../shared/reconciler/attempts.ts'
import { verdictOf } from '../../../shared/reconciler/verdict.ts'

interface Tried {
  /** What the run threw, if it threw. */
  readonly error?: unknown
  /** What comes of it: the outcome, or what is thrown. */
  readonly end: unknown
  /** What `onError` was told. */
  readonly told: readonly { readonly error: unknown; readonly isLast: boolean }[]
  /** What the run itself was told. */
  readonly isLastAttempt: boolean | undefined
}

async function tryOnce(
  attempt: number,
  thrown: unknown,
  { max, onError }: Pick<AttemptsOptions<object, object>, 'max' | 'onError'> = { max: 2 },
): Promise<Tried> {
  const told: { error: unknown; isLast: boolean }[] = []
  let isLastAttempt: boolean | undefined
  const run = attempts<object, object>(
    {
      ...(max !== undefined && { max }),
      onError: async (failure) => {
        told.push({ error: failure.error, isLast: failure.ctx.isLastAttempt })
        return onError?.(failure)
      },
    },
    async (_, ctx) => {
      ;({ isLastAttempt } = ctx)
      if (thrown === undefined) return done()
      throw thrown as Error
    },
  )
  const end = await run({}, { attempt } as Context).catch((error: unknown) => error)
  return { end, told, isLastAttempt }
}

const away = new Error('away')
const conflict = new OperatingError('VERSION_CONFLICT', 'another writer was first')
const later = retryAfter('5s', 'slow down')

describe('attempts', () => {
  it.each([
    ['the first failure', 0, away, { message: 'away', name: 'Error' }],
    ['the last failure', 1, away, { reason: 'RetriesExhausted', message: 'away', cause: away }],
    ['a failure behind the last', 2, away, { reason: 'RetriesExhausted' }],
    ['what is no Error', 1, 'text', { reason: 'RetriesExhausted', message: 'text' }],
    ['what is an object', 1, { status: 503 }, { reason: 'RetriesExhausted', message: '{"status":503}' }],
    ['what stops by itself, the last time too', 1, stop('Broken', 'for good'), { reason: 'Broken' }],
    ['a conflict, the last time too', 1, conflict, { code: 'VERSION_CONFLICT' }],
    ['a wait that was asked for, the last time too', 1, later, { afterMs: 5_000 }],
  ])('%s ends as it says', async (_what, attempt, error, end) => {
    expect((await tryOnce(attempt, error)).end).toMatchObject(end)
  })

  it.each([
    ['a failure', away, 1],
    ['what stops by itself', stop('Broken', 'for good'), 1],
    ['a conflict', conflict, 0],
    ['a wait that was asked for', later, 0],
    ['a success', undefined, 0],
  ])('tell of %s', async (_what, error, times) => {
    expect((await tryOnce(0, error)).told).toEqual(Array.from({ length: times }, () => ({ error, isLast: false })))
  })

  it.each([
    [0, 3, false],
    [1, 3, false],
    [2, 3, true],
    [0, 1, true],
    [1_000, undefined, false],
  ])('after %d failures, with %s at most: the last one is %s', async (attempt, max, isLast) => {
    const { told, isLastAttempt } = await tryOnce(attempt, away, max === undefined ? {} : { max })
    expect([told, isLastAttempt]).toEqual([[{ error: away, isLast }], isLast])
  })

  it('leave what the last failure says of the object', async () => {
    const report = { conditions: { Synced: { status: 'False', reason: 'Away' } }, retryWithin: '1h' } as const
    const { end } = await tryOnce(1, withReport(new Error('away'), report))
    expect(verdictOf(end)).toMatchObject({ kind: 'stopped', reason: 'RetriesExhausted', report })
  })

  it('are replaced by the outcome or the error that comes of telling', async () => {
    expect((await tryOnce(1, away, { max: 2, onError: async () => again('1m') })).end).toEqual(again('1m'))
    const given = stop('GivenUp', 'enough')
    expect((await tryOnce(0, away, { max: 2, onError: () => Promise.reject(given) })).end).toBe(given)
  })

  it('need nobody to tell', async () => {
    const run = attempts<object, object>({ max: 2 }, () => Promise.reject(away))
    await expect(run({}, { attempt: 0 } as Context)).rejects.toBe(away)
  })

  it.each([0, 0.5, -1, Number.NaN])('are refused if there can be none: %d', (max) => {
    expect(() => attempts<object, object>({ max }, async () => done())).toThrow('max must be 1 or more')
  })
})
