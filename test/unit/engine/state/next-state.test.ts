import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { admit } from '../../../../shared/engine/state/admission.ts'
import { nextState } from '../../../../shared/engine/state/next-state.ts'
import { toPausedState } from '../../../../shared/engine/state/paused-state.ts'
import { toPostponedState } from '../../../../shared/engine/state/postponed-state.ts'
import type { RunFacts } from '../../../../shared/engine/state/run-facts.ts'
import { notEnded, toStalledState } from '../../../../shared/engine/state/stalled-state.ts'
import { toBegunState } from '../../../../shared/engine/state/begun-state.ts'
import { isRepeatedError } from '../../../../shared/engine/state/repeated-errors.ts'
import {
  isOvertaken,
  releaseAfterPostponement,
  releaseAfterRun,
  writeOf,
} from '../../../../shared/engine/state/writes.ts'
import { conditionOf } from '../../../../shared/model/conditions.ts'
import { dueAtMs, type EngineState } from '../../../../shared/model/engine-state.ts'
import type { ServedKind } from '../../../../shared/model/served-kind.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'
import type { WakeUp } from '../../../../shared/ports/work-queue.ts'
import type { Verdict } from '../../../../shared/reconciler/verdict.ts'

const nowMs = 5_000_000
const facts: RunFacts = { nowMs, chance: 0, generation: 2, showsStatus: true }
const change = { verb: 'changed', atMs: 1, by: 'me' } as const
const failed: Verdict = { kind: 'failed', reason: 'Refused', message: 'no route', quiet: false }

function objectWith(
  parts: { readonly metadata?: object; readonly status?: object; readonly engine?: EngineState } = {},
) {
  const metadata = { name: 'n', uid: 'u', resourceVersion: '1', generation: 2, ...parts.metadata }
  const object = { apiVersion: 'a/v1', kind: 'K', metadata, spec: {}, ...(parts.status && { status: parts.status }) }
  return { object, engine: parts.engine ?? {} } as unknown as StoredObject
}

const ready = (stored: StoredObject): string | undefined => {
  const condition = conditionOf(stored.object, 'Ready')
  return condition && `${condition.status} ${condition.reason}`
}

describe('nextState', () => {
  const rows: readonly {
    readonly what: string
    readonly verdict: Verdict
    readonly ready: string | undefined
    readonly observed: number | undefined
  }[] = [
    { what: 'done', verdict: { kind: 'done' }, ready: 'True Reconciled', observed: 2 },
    {
      what: 'done and waiting',
      verdict: { kind: 'done', ready: { reason: 'Booting', message: 'm' } },
      ready: 'False Booting',
      observed: 2,
    },
    { what: 'again', verdict: { kind: 'again', afterMs: 1 }, ready: 'Unknown Requeued', observed: 2 },
    {
      what: 'again and ready',
      verdict: { kind: 'again', afterMs: 1, ready: true },
      ready: 'True Reconciled',
      observed: 2,
    },
    { what: 'failed', verdict: failed, ready: 'False Refused', observed: undefined },
    { what: 'failed by a conflict', verdict: { ...failed, quiet: true }, ready: undefined, observed: undefined },
    { what: 'stopped', verdict: { kind: 'stopped', reason: 'Taken', message: 'm' }, ready: 'False Taken', observed: 2 },
    {
      what: 'told to wait',
      verdict: { kind: 'retryAfter', afterMs: 1, message: '429' },
      ready: 'False RetryAfter',
      observed: undefined,
    },
  ]

  it.each(rows)('$what: Ready is $ready, observed is $observed', ({ verdict, ready: expected, observed }) => {
    const next = nextState(objectWith({ engine: { change } }), verdict, facts)
    expect(ready(next)).toBe(expected)
    expect(next.object.status?.['observedGeneration']).toBe(observed)
    expect(next.engine.change).toBe(observed === undefined ? change : undefined)
  })

  it('keeps what runs leave to later runs, and forgets what belongs to the run that ended', () => {
    const memory = {
      once: { a: { of: 'x', state: 'done' } },
      notes: { n: 1 },
      secretPaths: [['notes', 'n']],
      syncedAtMs: 3,
      window: { startMs: 0, runs: 1 },
      reservedMs: 5,
      unended: 2,
      expectations: { e: 9 },
    } as const
    const engine: EngineState = { memory, wakeAtMs: 7, hold: { handle: 'h', untilMs: 9 } }
    const next = nextState(objectWith({ engine }), { kind: 'done' }, { ...facts, wakeAtMs: 7, noteChanges: { n: 2 } })
    const kept = { once: memory.once, notes: { n: 2 }, syncedAtMs: 3 }
    expect(next.engine).toEqual({ memory: { ...kept, secretPaths: memory.secretPaths } })
    const found = nextState(
      objectWith({ engine }),
      { kind: 'done' },
      { ...facts, wakeAtMs: 7, noteChanges: { n: 2 }, secretPaths: [] },
    )
    expect(found.engine).toEqual({ memory: kept })
  })

  it.each([
    [undefined, { theirs: 1, both: 1, gone: 1 }],
    [{}, { theirs: 1, both: 1, gone: 1 }],
    [
      { both: 2, own: 3, gone: undefined, never: undefined },
      { theirs: 1, both: 2, own: 3 },
    ],
    [{ theirs: undefined, both: undefined, gone: undefined }, undefined],
  ])('leaves notes that the run has not changed as another run has: %j', (noteChanges, notes) => {
    const engine: EngineState = { memory: { notes: { theirs: 1, both: 1, gone: 1 } } }
    const next = nextState(objectWith({ engine }), { kind: 'done' }, { ...facts, ...(noteChanges && { noteChanges }) })
    expect(next.engine.memory?.notes).toEqual(notes)
  })

  it('leaves no trace on an object at rest', () => {
    expect(
      nextState(
        objectWith({ engine: { memory: { unended: 1 } } }),
        { kind: 'done' },
        { ...facts, noteChanges: {}, expectations: {} },
      ).engine,
    ).toEqual({})
  })

  it('keeps a wish that came after the run had begun', () => {
    const after = (engine: EngineState) =>
      nextState(objectWith({ engine }), { kind: 'done' }, { ...facts, wakeAtMs: 7 }).engine
    expect(after({ wakeAtMs: 7 })).toEqual({})
    expect(after({ wakeAtMs: 8 })).toEqual({ wakeAtMs: 8 })
    // The net of a change is found by the time of its write for as long as it is said to be one.
    expect(after({ wakeAtMs: 8, netMs: 8 })).toEqual({ wakeAtMs: 8, netMs: 8 })
    expect(after({ wakeAtMs: 8, netMs: 9 })).toEqual({ wakeAtMs: 8 })
  })

  it('says nothing of an object that a newer run has observed', () => {
    for (const live of [
      objectWith({ metadata: { generation: 4 }, status: { observedGeneration: 3 } }),
      objectWith({ metadata: { generation: 4 }, engine: { wait: { kind: 'Requeue', generation: 3, atMs: 1 } } }),
    ])
      expect(nextState(live, failed, facts)).toBe(live)
  })

  it('counts for its own generation only where the object has moved on', () => {
    const next = nextState(objectWith({ metadata: { generation: 3 }, engine: { change } }), { kind: 'done' }, facts)
    expect(next.object.status?.['observedGeneration']).toBe(2)
    expect(next.engine.change).toBe(change)
  })

  it('believes no status about generations that are yet to come', () => {
    const next = nextState(objectWith({ status: { observedGeneration: 9 } }), failed, facts)
    expect(ready(next)).toBe('False Refused')
    expect(next.object.status?.['observedGeneration']).toBeUndefined()
  })

  it('keeps the note of a deletion as long as the object', () => {
    const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z' }
    expect(nextState(objectWith({ metadata, engine: { change } }), { kind: 'done' }, facts).engine.change).toBe(change)
  })

  it('keeps when things outside were last as declared, until a run that knows says otherwise', () => {
    const live = objectWith({ engine: { memory: { syncedAtMs: 3 } } })
    const syncedBy = (verdict: Verdict) => nextState(live, verdict, facts).engine.memory?.syncedAtMs
    expect([{ kind: 'done' }, { kind: 'done', syncedAtMs: 4 }, failed].map((one) => syncedBy(one as Verdict))).toEqual([
      3, 4, 3,
    ])
  })

  it('writes no status where the kind keeps none', () => {
    const live = objectWith()
    expect(nextState(live, failed, { ...facts, showsStatus: false }).object).toBe(live.object)
  })
})

describe('writeOf', () => {
  const live = objectWith({
    metadata: { finalizers: ['a/b'], deletionTimestamp: 't' },
    status: { a: 1 },
    engine: { wakeAtMs: 1 },
  })
  const changedIn = (object: object, engine: EngineState = live.engine): StoredObject => ({
    object: { ...live.object, ...object },
    engine,
  })
  it.each([
    { what: 'the same state', next: live, write: { kind: 'none' } },
    { what: 'an equal state', next: structuredClone(live), write: { kind: 'none' } },
    { what: 'another status', next: changedIn({ status: { a: 2 } }), write: { kind: 'replace', touched: ['status'] } },
    { what: 'another wait', next: changedIn({}, {}), write: { kind: 'replace', touched: ['engine'] } },
    { what: 'both', next: changedIn({ status: {} }, {}), write: { kind: 'replace', touched: ['status', 'engine'] } },
    {
      what: 'one more finalizer',
      next: changedIn({ metadata: { ...live.object.metadata, finalizers: ['a/b', 'c/d'] } }),
      write: { kind: 'replace', touched: ['meta'] },
    },
    {
      what: 'no finalizer any more',
      next: changedIn({ metadata: { ...live.object.metadata, finalizers: [] } }, {}),
      write: { kind: 'remove' },
    },
  ])('$what: $write.kind', ({ next, write }) => {
    expect(writeOf(live, next)).toEqual(write)
  })
})

describe('releaseAfterRun', () => {
  const at = (ms: number): EngineState => ({ wakeAtMs: nowMs + ms })
  it.each([
    { what: 'no timer', engine: {}, release: { kind: 'settle' } },
    {
      what: 'a short wait',
      engine: at(60_000),
      release: { kind: 'hold', untilMs: nowMs + 60_000, isWakeable: true, isTimed: true },
    },
    { what: 'a long wait', engine: at(60_001), release: { kind: 'settle' } },
    {
      what: 'a short wait with a worn message',
      engine: at(1),
      isNearReceiveLimit: true,
      release: { kind: 'settleWithTimer' },
    },
    { what: 'a short wait of a function that goes on', engine: at(1), isOverrun: true, release: { kind: 'settle' } },
  ])('$what: $release.kind', ({ engine, isNearReceiveLimit = false, isOverrun = false, release }) => {
    expect(releaseAfterRun(engine, { nowMs, turn: { isNearReceiveLimit }, isOverrun })).toEqual(release)
  })
})

describe('releaseAfterPostponement', () => {
  it.each([
    {
      what: 'a short wait in line',
      ms: 60_000,
      release: { kind: 'hold', untilMs: nowMs + 60_000, isWakeable: false, isTimed: true },
    },
    { what: 'a long wait in line', ms: 60_001, release: { kind: 'settle' } },
    { what: 'a hot loop', kind: 'HotLoop' as const, ms: 1, release: { kind: 'settle' } },
    { what: 'a worn message', ms: 1, isNearReceiveLimit: true, release: { kind: 'settleWithTimer' } },
  ])('$what: $release.kind', ({ kind = 'RateLimited' as const, ms, isNearReceiveLimit = false, release }) => {
    const turn = { isNearReceiveLimit }
    expect(releaseAfterPostponement({ kind, untilMs: nowMs + ms }, { nowMs, turn })).toEqual(release)
  })
})

describe('toBegunState', () => {
  it('uses the reservation, and counts a run that has not ended', () => {
    const begun = (memory: EngineState['memory']) =>
      toBegunState(objectWith({ engine: { wakeAtMs: 1, ...(memory && { memory }) } }), {}).engine
    expect(begun({ reservedMs: 5 })).toEqual({ wakeAtMs: 1, memory: { unended: 1 } })
    expect(begun({ reservedMs: 5, unended: 2, notes: { a: 1 } })).toEqual({
      wakeAtMs: 1,
      memory: { unended: 3, notes: { a: 1 } },
    })
  })

  it('puts the finalizer behind those of others, and is the same where nothing is to be done', () => {
    const others = objectWith({ metadata: { finalizers: ['a/b'] } })
    const begun = toBegunState(others, { finalizer: 'c/d' })
    expect(begun.object.metadata.finalizers).toEqual(['a/b', 'c/d'])
    expect(toBegunState(begun, { finalizer: 'c/d' })).toBe(begun)
    expect(toBegunState(others, {})).toBe(others)
    const going = objectWith({ metadata: { finalizers: ['a/b'], deletionTimestamp: 't' } })
    expect(toBegunState(going, { finalizer: 'c/d' })).toBe(going)
  })
})

describe('isRepeatedError', () => {
  it.each([
    ['the fourth failure with one message', 3, 'no route', false],
    ['the fifth', 4, 'no route', true],
    ['the fifth failure, with another message', 4, 'no host', false],
    ['the second', undefined, 'no route', false],
  ])('%s', (_what, sameErrors, message, isRepeated) => {
    const failure = { attempt: 9, error: 'no route', ...(sameErrors && { sameErrors }) }
    const stored = objectWith({ engine: { wait: { kind: 'Backoff', generation: 2, atMs: 1, failure } } })
    expect(isRepeatedError(stored, { ...failed, message })).toBe(isRepeated)
    expect(isRepeatedError(stored, { kind: 'stopped', reason: 'R', message })).toBe(false)
  })
})

describe('isOvertaken', () => {
  it.each([
    { what: 'nothing', change: {}, is: false },
    { what: 'the status', change: { status: { a: 1 } }, is: false },
    { what: 'the spec', change: { metadata: { ...objectWith().object.metadata, generation: 3 } }, is: true },
    { what: 'a label', change: { metadata: { ...objectWith().object.metadata, labels: { a: 'b' } } }, is: true },
    { what: 'a finalizer', change: { metadata: { ...objectWith().object.metadata, finalizers: ['a/b'] } }, is: true },
  ])('$what has changed: $is', ({ change: changedIn, is }) => {
    const begun = objectWith()
    expect(isOvertaken(begun, { ...begun, object: { ...begun.object, ...changedIn } })).toBe(is)
  })
})

describe('states without a run', () => {
  it('a paused object waits for nothing, and keeps what was done once', () => {
    const engine: EngineState = {
      wait: { kind: 'Requeue', generation: 2, atMs: 9 },
      wakeAtMs: 4,
      change,
      memory: { notes: { a: 1 }, reservedMs: 3, unended: 1 },
    }
    const live = objectWith({ metadata: { annotations: { 'setpoint.dev/paused': 'true' } }, engine })
    const next = toPausedState(live, facts)
    expect(next.engine).toEqual({ change, memory: { notes: { a: 1 } } })
    expect(conditionOf(next.object, 'Paused')?.status).toBe('True')
    expect(toPausedState({ ...live, object: objectWith().object }, facts).engine).toBe(engine)
  })

  it('a run that is put off keeps the failures of its generation, and the time of their retry', () => {
    const failure = { attempt: 3, error: 'e' }
    const before = (generation: number): EngineState => ({
      wait: { kind: 'Backoff', generation, atMs: 1, failure },
      memory: { unended: 2 },
    })
    const put = (engine: EngineState) =>
      toPostponedState(objectWith({ engine }), { kind: 'RateLimited', untilMs: 9, reservedMs: 8 }, facts).engine
    expect(put(before(2))).toEqual({
      wait: { kind: 'RateLimited', generation: 2, atMs: 9, failure, retryAtMs: 1 },
      memory: { reservedMs: 8, unended: 2 },
    })
    expect(put(put(before(2)))).toEqual(put(before(2)))
    expect(put(before(1))).toEqual({ wait: { kind: 'RateLimited', generation: 2, atMs: 9 }, memory: { reservedMs: 8 } })
    expect(put({ wakeAtMs: 9 }).wakeAtMs).toBeUndefined()
    expect(put({ wakeAtMs: 10 }).wakeAtMs).toBe(10)
  })

  it('an object whose runs do not end is stalled once, and again when that wait is over', () => {
    const once = toStalledState(objectWith(), facts)
    expect(once.engine.wait).toMatchObject({ kind: 'Backoff', failure: { attempt: 1 } })
    expect(toStalledState(once, facts)).toBe(once)
    const later = { ...facts, nowMs: once.engine.wait?.atMs ?? 0 }
    expect(toStalledState(once, later).engine.wait).toMatchObject({ failure: { attempt: 2 } })
    const atMs = once.engine.wait?.atMs ?? 0
    const early = { ...facts, nowMs: atMs - 3_600_001 }
    expect(toStalledState(once, early).engine.wait?.atMs).toBe(early.nowMs + 500_000)
    const wished = (wakeAtMs: number): StoredObject => ({
      ...once,
      engine: { ...once.engine, wakeAtMs, netMs: wakeAtMs },
    })
    const [soon, late] = [wished(atMs), wished(atMs + 1)]
    expect([toStalledState(soon, facts).engine, toStalledState(late, facts)]).toEqual([once.engine, late])
    // A wish that is due, such as the net of a change, would end the slow wait at once.
    const { engine } = toStalledState(objectWith({ engine: { wakeAtMs: 1, netMs: 1 } }), facts)
    expect([engine.wakeAtMs, engine.netMs, (engine.wait?.atMs ?? 0) > 1]).toEqual([undefined, undefined, true])
  })

  it('an object that failed otherwise is stalled, though that wait runs', () => {
    const failure = { attempt: 2, error: 'no route' }
    const live = objectWith({ engine: { wait: { kind: 'Backoff', generation: 2, atMs: nowMs + 9, failure } } })
    expect(toStalledState(live, facts).engine.wait).toEqual({
      kind: 'Backoff',
      generation: 2,
      atMs: nowMs + 500_000,
      failure: { attempt: 3, error: notEnded.message },
    })
  })

  const hotLoop = { status: 'True', reason: 'StatusFlaps', message: 'm' } as const
  it.each([
    { what: 'paused', annotations: { 'setpoint.dev/paused': 'true' }, to: toPausedState, shows: 'Paused' },
    { what: 'stalled', to: toStalledState, shows: 'Stalled' },
    {
      what: 'put off in a hot loop',
      to: (live: StoredObject, at: RunFacts) => toPostponedState(live, { kind: 'HotLoop', untilMs: 9, hotLoop }, at),
      shows: 'HotLoop',
    },
  ])('an object that is $what says so beside its status, unless its kind keeps none', (row) => {
    const live = objectWith({ metadata: { annotations: row.annotations }, status: { a: 1 } })
    const next = row.to(live, facts)
    expect(conditionOf(next.object, row.shows)?.status).toBe('True')
    expect(next.object.status?.['a']).toBe(1)
    expect(row.to(live, { ...facts, showsStatus: false }).object).toBe(live.object)
  })

  it('a run that is put off by a rate limit says nothing', () => {
    const live = objectWith()
    expect(toPostponedState(live, { kind: 'RateLimited', untilMs: 9 }, facts).object).toBe(live.object)
  })

  it('an object whose runs do not end says Paused as long as it is', () => {
    const paused = { metadata: { annotations: { 'setpoint.dev/paused': 'true' } } }
    const { status = {} } = toPausedState(objectWith(paused), facts).object
    expect(conditionOf(toStalledState(objectWith({ status }), facts).object, 'Paused')).toBeUndefined()
    expect(conditionOf(toStalledState(objectWith({ ...paused, status }), facts).object, 'Paused')?.status).toBe('True')
  })
})

/** Any order of verdicts, postponements, stalls, wishes and changes. */
describe('no state that can be reached lacks a next step', () => {
  const verdict = fc.oneof<fc.Arbitrary<Verdict>[]>(
    fc.record({ kind: fc.constant('done' as const) }),
    fc.record({ kind: fc.constant('again' as const), afterMs: fc.integer({ min: 0, max: 200_000 }) }),
    fc.constant(failed),
    fc.record({ kind: fc.constant('stopped' as const), reason: fc.constant('R'), message: fc.constant('m') }),
    fc.record({ kind: fc.constant('retryAfter' as const), afterMs: fc.nat(90_000), message: fc.constant('429') }),
  )
  const step = fc.oneof(
    fc.record({ act: fc.constant('run' as const), verdict, expects: fc.option(fc.nat(90_000)), probes: fc.boolean() }),
    fc.record({ act: fc.constant('postpone' as const), ms: fc.integer({ min: 1, max: 90_000 }), isHot: fc.boolean() }),
    fc.record({ act: fc.constant('stall' as const) }),
    fc.record({ act: fc.constant('wish' as const), ms: fc.nat(90_000) }),
    fc.record({ act: fc.constant('edit' as const) }),
    fc.record({ act: fc.constant('pass' as const), ms: fc.nat(2_000_000) }),
  )

  it('whatever has happened: it is at rest, stopped with a word, or has a timer at which it runs', () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 12 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (steps, chance) => {
          let live = objectWith()
          let now = nowMs
          for (const one of steps) {
            const { generation } = live.object.metadata
            const at = { nowMs: now, chance, generation, showsStatus: true }
            if (one.act === 'pass') now += one.ms
            if (one.act === 'wish') live = { ...live, engine: { ...live.engine, wakeAtMs: now + one.ms } }
            if (one.act === 'stall') live = toStalledState(live, at)
            if (one.act === 'postpone')
              live = toPostponedState(live, { kind: one.isHot ? 'HotLoop' : 'RateLimited', untilMs: now + one.ms }, at)
            if (one.act === 'edit')
              live = {
                engine: { ...live.engine, change },
                object: { ...live.object, metadata: { ...live.object.metadata, generation: generation + 1 } },
              }
            if (one.act === 'run')
              live = nextState(live, one.verdict, {
                ...at,
                wakeAtMs: live.engine.wakeAtMs,
                expectations: one.expects === null ? {} : { e: now + one.expects },
                probeAtMs: one.probes ? now + 30_000 : undefined,
              })
            expectNextStep(live, one.act, now)
          }
        },
      ),
      { numRuns: 2_000 },
    )
  })

  function expectNextStep(live: StoredObject, act: string, now: number): void {
    const { wait, change: unobserved } = live.engine
    const dueMs = dueAtMs(live.engine)
    const turnBy = (origin: WakeUp['origin'], atMs: number) =>
      admit({
        controller: {},
        kind: {} as ServedKind,
        stored: live,
        turn: { wakeUps: [{ origin } as WakeUp], receiveCount: 1 },
        nowMs: atMs,
      }).kind
    // A change always runs at once.
    expect(turnBy('change', now)).toBe('run')
    // Timers stand in the line of one edge: their message runs when it is due, and not before.
    if (dueMs !== undefined) {
      expect(turnBy('timer', Math.max(dueMs, now))).toBe('run')
      expect(Number.isFinite(dueMs)).toBe(true)
    }
    // An edit has a message of its own on its way. Every other step leaves a timer, a stop, or nothing to do.
    if (act === 'edit') expect(unobserved).toBeDefined()
    else if (['run', 'postpone', 'stall'].includes(act) && dueMs === undefined && wait?.kind !== 'Stopped')
      expect({ wait, unobserved }).toEqual({})
  }
})
