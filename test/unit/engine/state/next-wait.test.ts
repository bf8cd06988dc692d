import { describe, expect, it } from 'vitest'
import { nextWait } from '../../../../shared/engine/state/next-wait.ts'
import type { RunFacts } from '../../../../shared/engine/state/run-facts.ts'
import type { EngineState, Failure, Wait } from '../../../../shared/model/engine-state.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'
import { nextPassMs } from '../../../../shared/model/wheel.ts'
import type { Verdict } from '../../../../shared/reconciler/verdict.ts'

/** State × verdict → wait. `chance` is 0: a backoff is half of its ceiling, and one second at the least. */
const nowMs = 5_000_000
const facts: RunFacts = { nowMs, chance: 0, generation: 2, showsStatus: true }

const done: Verdict = { kind: 'done' }
const again: Verdict = { kind: 'again', afterMs: 7_000 }
const failed: Verdict = { kind: 'failed', reason: 'R', message: 'no route', quiet: false }
const stopped: Verdict = { kind: 'stopped', reason: 'R', message: 'taken' }
const told: Verdict = { kind: 'retryAfter', afterMs: 15_000, message: '429' }
const within = (verdict: Verdict): Verdict => ({ ...verdict, report: { retryWithin: '30s' } }) as Verdict

const backoff = (atMs: number, failure: Failure, generation = 2): Wait => ({
  kind: 'Backoff',
  generation,
  atMs,
  failure,
})
const failure = (attempt: number, error = 'no route', sameErrors?: number): Failure => ({
  attempt,
  error,
  ...(sameErrors && { sameErrors }),
})
const after = (wait: Wait): EngineState => ({ wait })

interface Row {
  readonly what: string
  readonly before?: EngineState
  readonly annotations?: Readonly<Record<string, string>>
  readonly facts?: Partial<RunFacts>
  readonly verdict: Verdict
  readonly wait: Wait | undefined
}

const ownPeriod = { 'setpoint.dev/resync': '1m' }
const passMs = nextPassMs('uid-1', nowMs, 60_000)
const timed = (kind: 'Requeue' | 'Resync' | 'Expectation', atMs: number): Wait => ({ kind, generation: 2, atMs })

const rows: readonly Row[] = [
  { what: 'done: at rest', verdict: done, wait: undefined },
  { what: 'done after failures: at rest', before: after(backoff(0, failure(3))), verdict: done, wait: undefined },
  {
    what: 'done with a resync of its own',
    verdict: { kind: 'done', resyncAfterMs: 100 },
    wait: timed('Resync', nowMs + 100),
  },
  { what: 'again', verdict: again, wait: timed('Requeue', nowMs + 7_000) },

  { what: 'the first failure: one second', verdict: failed, wait: backoff(nowMs + 1_000, failure(1)) },
  {
    what: 'the second failure with the same message',
    before: after(backoff(nowMs, failure(1))),
    verdict: failed,
    wait: backoff(nowMs + 1_000, failure(2, 'no route', 2)),
  },
  {
    what: 'the third',
    before: after(backoff(nowMs, failure(2, 'no route', 2))),
    verdict: failed,
    wait: backoff(nowMs + 2_000, failure(3, 'no route', 3)),
  },
  {
    what: 'another message counts anew',
    before: after(backoff(nowMs, failure(2, 'other', 2))),
    verdict: failed,
    wait: backoff(nowMs + 2_000, failure(3)),
  },
  {
    what: 'a failure of a new generation starts from nothing',
    before: after(backoff(nowMs, failure(9, 'no route', 9), 1)),
    verdict: failed,
    wait: backoff(nowMs + 1_000, failure(1)),
  },
  {
    what: 'a failure ahead of its time costs no attempt',
    before: after(backoff(nowMs + 400, failure(4))),
    verdict: failed,
    wait: backoff(nowMs + 400, failure(4)),
  },
  {
    what: 'a failure ahead of a time that a clock that was ahead has set',
    before: after(backoff(nowMs + 86_400_001, failure(4, 'other'))),
    verdict: failed,
    wait: backoff(nowMs + 8_000, failure(5)),
  },
  {
    what: 'a failure at its time costs one',
    before: after(backoff(nowMs, failure(4, 'other'))),
    verdict: failed,
    wait: backoff(nowMs + 8_000, failure(5)),
  },
  {
    what: 'the longest backoff',
    before: after(backoff(nowMs, failure(40, 'other'))),
    verdict: failed,
    wait: backoff(nowMs + 500_000, failure(41)),
  },
  {
    what: 'a failure after a stop counts as the first',
    before: after({ kind: 'Stopped', generation: 2, failure: failure(0) }),
    verdict: failed,
    wait: backoff(nowMs + 1_000, failure(1)),
  },
  {
    what: 'a failure during a postponement goes on counting',
    before: after({ kind: 'RateLimited', generation: 2, atMs: nowMs, failure: failure(2) }),
    verdict: failed,
    wait: backoff(nowMs + 2_000, failure(3, 'no route', 2)),
  },
  ...(['RateLimited', 'HotLoop'] as const).flatMap((kind): readonly Row[] => [
    {
      what: `a failure ahead of the retry that a postponement keeps costs no attempt: ${kind}`,
      before: after({ kind, generation: 2, atMs: nowMs, failure: failure(4), retryAtMs: nowMs + 400 }),
      verdict: failed,
      wait: backoff(nowMs + 400, failure(4)),
    },
    {
      what: `a postponed failure at the time of its retry costs one: ${kind}`,
      before: after({ kind, generation: 2, atMs: nowMs, failure: failure(4, 'other'), retryAtMs: nowMs }),
      verdict: failed,
      wait: backoff(nowMs + 8_000, failure(5)),
    },
    {
      what: `a postponed failure of a new generation starts from nothing: ${kind}`,
      before: after({ kind, generation: 1, atMs: nowMs, failure: failure(4), retryAtMs: nowMs + 400 }),
      verdict: failed,
      wait: backoff(nowMs + 1_000, failure(1)),
    },
  ]),
  {
    what: 'a failure ahead of the time of a stop counts as the first',
    before: after({ kind: 'Stopped', generation: 2, atMs: nowMs + 400, failure: failure(0) }),
    verdict: failed,
    wait: backoff(nowMs + 1_000, failure(1)),
  },
  {
    what: 'a failure ahead of the time of a stop, after a postponement, counts as the first',
    before: after({ kind: 'RateLimited', generation: 2, atMs: nowMs, failure: failure(0), retryAtMs: nowMs + 400 }),
    verdict: failed,
    wait: backoff(nowMs + 1_000, failure(1)),
  },
  {
    what: 'the retry budget makes a failure wait longer',
    facts: { retryDelayMs: 9_000 },
    verdict: failed,
    wait: backoff(nowMs + 9_000, failure(1)),
  },
  {
    what: 'an error that asks for a retry within a time',
    before: after(backoff(nowMs, failure(40, 'other'))),
    verdict: within(failed),
    wait: backoff(nowMs + 30_000, failure(41)),
  },
  {
    what: 'the retry budget comes before such a wish',
    before: after(backoff(nowMs, failure(40, 'other'))),
    facts: { retryDelayMs: 90_000 },
    verdict: within(failed),
    wait: backoff(nowMs + 90_000, failure(41)),
  },
  {
    what: 'a failure ahead of its time that asks for a retry before that time',
    before: after(backoff(nowMs + 50_000, failure(4))),
    facts: { retryDelayMs: 0 },
    verdict: within(failed),
    wait: backoff(nowMs + 30_000, failure(4)),
  },
  {
    what: 'the same, and the budget has room only later: as it was',
    before: after(backoff(nowMs + 50_000, failure(4))),
    facts: { retryDelayMs: 90_000 },
    verdict: within(failed),
    wait: backoff(nowMs + 50_000, failure(4)),
  },
  {
    what: 'a stop that asks for a retry waits for the budget, too',
    facts: { retryDelayMs: 90_000 },
    verdict: within(stopped),
    wait: { kind: 'Stopped', generation: 2, atMs: nowMs + 90_000, failure: failure(0, 'taken') },
  },

  {
    what: 'the far side says when',
    verdict: told,
    wait: { kind: 'RetryAfter', generation: 2, atMs: nowMs + 15_000, failure: failure(0, '429') },
  },
  {
    what: 'the far side says when, after failures',
    before: after(backoff(nowMs, failure(3))),
    verdict: told,
    wait: { kind: 'RetryAfter', generation: 2, atMs: nowMs + 15_000, failure: failure(3, '429') },
  },
  {
    what: 'stopped: no timer',
    verdict: stopped,
    wait: { kind: 'Stopped', generation: 2, failure: failure(0, 'taken') },
  },
  {
    what: 'stopped, with a retry within a time',
    verdict: within(stopped),
    wait: { kind: 'Stopped', generation: 2, atMs: nowMs + 30_000, failure: failure(0, 'taken') },
  },

  {
    what: 'done, with a period of its own: a timer',
    annotations: ownPeriod,
    verdict: done,
    wait: timed('Resync', passMs),
  },
  {
    what: 'done with a resync of its own beside its period',
    annotations: ownPeriod,
    verdict: { kind: 'done', resyncAfterMs: 90_000 },
    wait: timed('Resync', nowMs + 90_000),
  },
  {
    what: 'stopped, with a period of its own',
    annotations: ownPeriod,
    verdict: stopped,
    wait: { kind: 'Stopped', generation: 2, atMs: passMs, failure: failure(0, 'taken') },
  },
  {
    what: 'failed, with a period of its own: the backoff stays',
    annotations: ownPeriod,
    before: after(backoff(nowMs, failure(40, 'x'))),
    verdict: failed,
    wait: backoff(nowMs + 500_000, failure(41)),
  },
  {
    what: 'again just when its period is over',
    annotations: ownPeriod,
    verdict: { kind: 'again', afterMs: passMs - nowMs },
    wait: timed('Requeue', passMs),
  },
  {
    what: 'again sooner than its period',
    annotations: ownPeriod,
    verdict: { kind: 'again', afterMs: 1 },
    wait: timed('Requeue', nowMs + 1),
  },

  {
    what: 'a hot loop: a probe',
    facts: { probeAtMs: nowMs + 30_000 },
    verdict: again,
    wait: { kind: 'HotLoop', generation: 2, atMs: nowMs + 30_000 },
  },
  {
    what: 'a hot loop keeps what failed',
    facts: { probeAtMs: nowMs + 30_000 },
    verdict: failed,
    wait: { kind: 'HotLoop', generation: 2, atMs: nowMs + 30_000, failure: failure(1) },
  },
  {
    what: 'a hot loop of an object that would rest',
    facts: { probeAtMs: nowMs + 30_000 },
    verdict: done,
    wait: { kind: 'HotLoop', generation: 2, atMs: nowMs + 30_000 },
  },
  {
    what: 'a hot loop shortens no wait',
    facts: { probeAtMs: nowMs + 30_000 },
    verdict: { kind: 'again', afterMs: 40_000 },
    wait: timed('Requeue', nowMs + 40_000),
  },

  {
    what: 'an expectation of an object at rest',
    facts: { expectations: { a: nowMs + 50, b: nowMs + 40 } },
    verdict: done,
    wait: timed('Expectation', nowMs + 40),
  },
  {
    what: 'an expectation that has passed wakes nobody',
    facts: { expectations: { a: nowMs } },
    verdict: done,
    wait: undefined,
  },
  {
    what: 'an expectation that passed during the run is run at once: it may have been asked before',
    before: { memory: { expectations: { a: nowMs - 5 } } },
    facts: { expectations: { a: nowMs - 5, b: nowMs - 10 }, begunMs: nowMs - 10 },
    verdict: done,
    wait: timed('Expectation', nowMs),
  },
  {
    what: 'an expectation that the run has set, and that has passed since, has its time once more',
    before: { memory: { expectations: { a: nowMs - 9 } } },
    facts: { expectations: { a: nowMs - 2 }, begunMs: nowMs - 10 },
    verdict: done,
    wait: timed('Expectation', nowMs + 8),
  },
  {
    what: 'an expectation that the run has set, and that is due as it ends, is run then',
    facts: { expectations: { a: nowMs }, begunMs: nowMs - 10 },
    verdict: done,
    wait: timed('Expectation', nowMs),
  },
  {
    what: 'an expectation that had passed when the run began wakes nobody',
    facts: { expectations: { a: nowMs - 10 }, begunMs: nowMs - 10 },
    verdict: done,
    wait: undefined,
  },
  {
    what: 'an expectation counts from now on where the clock was put back during the run',
    facts: { expectations: { a: nowMs + 5 }, begunMs: nowMs + 10 },
    verdict: done,
    wait: timed('Expectation', nowMs + 5),
  },
  {
    what: 'a time that was told is cut to the time within which the error wants another run',
    verdict: { ...told, report: { retryWithin: '10s' } },
    wait: { kind: 'RetryAfter', generation: 2, atMs: nowMs + 10_000, failure: { attempt: 0, error: '429' } },
  },
  {
    what: 'an expectation before a requeue',
    facts: { expectations: { a: nowMs + 50 } },
    verdict: again,
    wait: timed('Expectation', nowMs + 50),
  },
  {
    what: 'an expectation behind a requeue',
    facts: { expectations: { a: nowMs + 7_001 } },
    verdict: again,
    wait: timed('Requeue', nowMs + 7_000),
  },
  {
    what: 'an expectation shortens no backoff',
    facts: { expectations: { a: nowMs + 50 } },
    verdict: failed,
    wait: backoff(nowMs + 1_000, failure(1)),
  },
]

describe('nextWait', () => {
  it.each(rows)('$what', ({ before = {}, annotations, facts: more, verdict, wait }) => {
    const object = { metadata: { uid: 'uid-1', generation: 2, annotations } }
    expect(nextWait({ object, engine: before } as unknown as StoredObject, verdict, { ...facts, ...more })).toEqual(
      wait,
    )
  })
})
