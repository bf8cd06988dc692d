import { describe, expect, it } from 'vitest'
import { verdictOf } from '../../../../shared/reconciler/verdict.ts'
import { allDone, combineFailures } from '../../../../shared/reconciler/workflow/combine-failures.ts'
import { retryAfter, stop, withReport } from '../../../../shared/index.ts'
import { InvariantError, OperatingError } from '../../../../shared/model/errors.ts'

const away = new Error('connection refused')
const conflict = new OperatingError('VERSION_CONFLICT', 'another write came first')
const taken = stop('NameTaken', 'the name is taken')
const late = stop('TooLate', 'the day is over')
const busy = retryAfter('15s', 'busy')
const busier = retryAfter('1m', 'very busy')

describe('many failures as one', () => {
  const rows = [
    { errors: [away], verdict: { kind: 'failed', reason: 'ReconcileFailed' }, because: 'one is itself' },
    { errors: [away, taken], verdict: { kind: 'failed' }, because: 'a retry helps one of them' },
    { errors: [away, busy], verdict: { kind: 'failed' }, because: 'backoff waits long enough in the end' },
    { errors: [taken], verdict: { kind: 'stopped', reason: 'NameTaken' }, because: 'one keeps its reason' },
    { errors: [taken, late], verdict: { kind: 'stopped', reason: 'DependentsStopped' }, because: 'nothing helps' },
    { errors: [busy, busier], verdict: { kind: 'retryAfter', afterMs: 60_000 }, because: 'nobody is asked too early' },
    { errors: [busy, taken], verdict: { kind: 'retryAfter', afterMs: 15_000 }, because: 'waiting helps one of them' },
    {
      errors: [retryAfter(0, 'now'), taken],
      verdict: { kind: 'retryAfter', afterMs: 0 },
      because: 'what was asked for is what is waited for',
    },
    { errors: [conflict, conflict], verdict: { kind: 'failed', quiet: true }, because: 'nothing is wrong' },
    { errors: [conflict, away], verdict: { kind: 'failed', quiet: false }, because: 'something is wrong' },
  ]
  it.each(rows)('$verdict: $because', ({ errors, verdict }) => {
    expect(verdictOf(combineFailures(errors.map((error, i) => ({ error, name: `n${i}` }))))).toMatchObject(verdict)
  })

  it('says of each whose it is', () => {
    const failures = [
      { name: 'server', error: away },
      { name: 'page', error: taken },
    ]
    expect(combineFailures(failures).message).toBe('server: connection refused; page: the name is taken')
    expect(combineFailures([{ error: away }, { error: 'text' }]).message).toBe('connection refused; text')
    expect(combineFailures([{ name: 'page', error: { status: 503 } }]).message).toBe('page: {"status":503}')
  })

  it('says of the object what each of them says, and comes again by the shortest time', () => {
    const condition = (reason: string) => ({ status: 'False', reason }) as const
    const reports = [
      { conditions: { A: condition('First'), B: condition('First') }, retryWithin: '1m', status: { a: 1 } },
      { conditions: { B: condition('Second') }, retryWithin: '30s' },
      { status: { b: 2 } },
    ] as const
    const errors = reports.map((report) => withReport(stop('Bad', 'bad'), report))
    expect(verdictOf(combineFailures([...errors, away].map((error) => ({ error }))))).toMatchObject({
      kind: 'failed',
      report: {
        conditions: { A: condition('First'), B: condition('Second') },
        retryWithin: 30_000,
        status: { a: 1, b: 2 },
      },
    })
    expect(verdictOf(combineFailures([{ error: away }]))).not.toHaveProperty('report')
    const { report } = verdictOf(combineFailures([{ error: errors[2] }])) as { readonly report?: object }
    expect(report).toEqual({ status: { b: 2 } })
  })

  it('keeps the place of the first slip', () => {
    const slip = new TypeError('slip')
    expect(verdictOf(combineFailures([{ error: away }, { error: slip }]))).toMatchObject({ stack: slip.stack })
    const nested = combineFailures([{ error: combineFailures([{ error: slip }]) }])
    expect(verdictOf(nested)).toMatchObject({ stack: slip.stack })
    expect(verdictOf(combineFailures([{ error: away }]))).not.toHaveProperty('stack')
  })

  it('lets a broken invariant through', () => {
    expect(() => combineFailures([{ error: away }, { error: new InvariantError('impossible') }])).toThrow(
      InvariantError,
    )
  })
})

describe('waiting for all', () => {
  it('gives what each has given, in their order', async () => {
    const slow = new Promise<number>((resolve) => setImmediate(() => resolve(1)))
    expect(await allDone([slow, Promise.resolve(2)])).toEqual([1, 2])
  })

  it('goes on when one fails, and throws in the end', async () => {
    let done = 0
    const works = [
      Promise.reject(away),
      Promise.resolve().then(() => void done++),
      new Promise<void>((resolve) => setImmediate(resolve)).then(() => void done++),
    ]
    await expect(allDone(works)).rejects.toThrow('connection refused')
    expect(done).toBe(2)
  })
})
