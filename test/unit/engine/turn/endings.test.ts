import { describe, expect, it } from 'vitest'
import type { Ending } from '../../../../shared/engine/turn/commit.ts'
import {
  afterCleanup,
  afterPostponement,
  afterRun,
  withoutRun,
  withWakeUpBy,
  type TurnBasis,
} from '../../../../shared/engine/turn/endings.ts'
import type { Turn } from '../../../../shared/engine/state/turn.ts'
import { done, type Controller } from '../../../../shared/index.ts'
import { conditionOf } from '../../../../shared/model/conditions.ts'
import type { EngineState } from '../../../../shared/model/engine-state.ts'
import type { ServedKind } from '../../../../shared/model/served-kind.ts'
import type { Verdict } from '../../../../shared/reconciler/verdict.ts'
import { widgets } from '../../../acceptance/support/widgets.ts'
import { storedWidget, withMetadata } from '../../../support/stored-object.ts'

const nowMs = 1_000_000
const controller: Controller = widgets([], () => done())
const turn = { isNearReceiveLimit: false } as Turn
const wait = { kind: 'Requeue', generation: 1, atMs: nowMs + 9 } as const

function basisOf(engine: EngineState = {}, { hasStatus = true, showsStatus = true } = {}): TurnBasis {
  return {
    turn,
    stored: { ...storedWidget('w'), engine },
    kind: { hasStatus } as ServedKind,
    controller,
    facts: { nowMs, chance: 0, generation: 1, showsStatus },
  }
}

const nextOf = (ending: Ending, showsStatus = true) => ending.next(ending.begun, showsStatus)

describe('withWakeUpBy', () => {
  it.each([
    ['no timer', {}, { wakeAtMs: 5 }],
    ['a later timer', { wakeAtMs: 6 }, { wakeAtMs: 5 }],
    ['a later wait', { wait: { ...wait, atMs: 6 } }, { wait: { ...wait, atMs: 6 }, wakeAtMs: 5 }],
    ['a timer at that time', { wakeAtMs: 5 }, { wakeAtMs: 5 }],
    ['a sooner wait', { wait: { ...wait, atMs: 4 } }, { wait: { ...wait, atMs: 4 } }],
  ] as const)('an object with %s', (_what, engine, next) => {
    const live = { ...storedWidget('w'), engine }
    expect(withWakeUpBy(live, 5)).toEqual({ ...live, engine: next })
  })

  it('is the same object where it runs by then anyway', () => {
    const live = { ...storedWidget('w'), engine: { wakeAtMs: 5 } }
    expect(withWakeUpBy(live, 5)).toBe(live)
  })
})

describe('a turn without a run', () => {
  it('that sleeps leaves a timer', () => {
    const ending = withoutRun({ kind: 'sleep', atMs: nowMs + 90_000 }, basisOf())
    expect(nextOf(ending).engine).toEqual({ wakeAtMs: nowMs + 90_000 })
    expect(ending.release).toEqual({ kind: 'settle' })
  })

  it.each([
    ['a wait that a change ends', { wait }, true, true],
    ['nothing', {}, true, false],
    ['something sooner than its wait', { wait: { ...wait, atMs: nowMs + 10 } }, true, false],
    ['a place in the line of a limit', { wait: { ...wait, kind: 'RateLimited' as const } }, false, true],
  ])('that hides its message, waiting for %s', (_what, engine, isWakeable, isTimed) => {
    const ending = withoutRun({ kind: 'hide', untilMs: nowMs + 9 }, basisOf(engine))
    expect(nextOf(ending)).toBe(ending.begun)
    expect(ending.release).toEqual({ kind: 'hold', untilMs: nowMs + 9, isWakeable, isTimed, isOpen: true })
  })

  it('that was hidden so often that the queue would soon give its message up leaves a timer', () => {
    const worn = { ...turn, isNearReceiveLimit: true }
    const ending = withoutRun({ kind: 'hide', untilMs: nowMs + 9 }, { ...basisOf(), turn: worn })
    expect(nextOf(ending).engine).toEqual({ wakeAtMs: nowMs + 9 })
    expect(ending.release).toEqual({ kind: 'settleWithTimer' })
  })

  it.each([
    [true, false],
    [false, true],
  ])(
    'that is paused says so wherever the kind keeps a status (%j), whoever reports it (%j)',
    (hasStatus, showsStatus) => {
      const basis = basisOf({ wait }, { hasStatus, showsStatus })
      const annotations = { 'setpoint.dev/paused': 'true' }
      const ending = withoutRun({ kind: 'pause' }, { ...basis, stored: withMetadata(basis.stored, { annotations }) })
      expect(ending.showsStatus).toBe(hasStatus)
      const next = nextOf(ending, ending.showsStatus)
      expect([conditionOf(next.object, 'Paused') !== undefined, next.engine]).toEqual([hasStatus, {}])
    },
  )

  it('that rests leaves no timer', () => {
    const ending = withoutRun({ kind: 'rest' }, basisOf({ wait, wakeAtMs: 3 }))
    expect(nextOf(ending)).toEqual({ object: ending.begun.object, engine: {} })
  })

  it.each([
    [{ kind: 'refuse', message: 'spec.a: Required value' }, 'SpecInvalid', 'Stopped'],
    [{ kind: 'stall' }, 'RunNotEnded', 'Backoff'],
  ] as const)('%j says why, as a condition and as an event', (admission, reason, kind) => {
    const ending = withoutRun(admission, basisOf())
    expect(ending.event).toMatchObject({ type: 'Warning', reason, component: 'widget' })
    expect(conditionOf(nextOf(ending).object, 'Stalled')?.reason).toBe(reason)
    expect(nextOf(ending).engine.wait?.kind).toBe(kind)
    expect(nextOf(ending, false).object).toBe(ending.begun.object)
    expect([ending.release.kind, ending.isStatusVital]).toEqual(['settle', false])
  })
})

describe('a turn that ends otherwise', () => {
  it('by a limit waits for it', () => {
    const ending = afterPostponement({ kind: 'RateLimited', untilMs: nowMs + 5_000 }, basisOf())
    expect(nextOf(ending).engine.wait).toMatchObject({ kind: 'RateLimited', atMs: nowMs + 5_000 })
    expect(ending.release).toEqual({ kind: 'hold', untilMs: nowMs + 5_000, isWakeable: false, isTimed: true })
    expect(ending.isStatusVital).toBe(false)
  })

  it('with its clean-up lets go of the finalizer, from the newest state that the run knows', () => {
    const basis = basisOf({ wait })
    const live = withMetadata(basis.stored, { finalizers: ['a/b', 'other'] })
    const ending = afterCleanup(live, { ...basis, controller: { ...controller, finalizer: 'a/b' } })
    expect(ending.live).toBe(live)
    expect(ending.next(live, true)).toMatchObject({ object: { metadata: { finalizers: ['other'] } }, engine: {} })
    expect(ending.release).toEqual({ kind: 'settle' })
  })
})

describe('a run that has ended', () => {
  const basis = basisOf()
  const after = (verdict: Verdict, overrun?: Promise<unknown>): Ending =>
    afterRun({ live: basis.stored, overrun }, verdict, { basis, facts: basis.facts })
  const failure = { reason: 'Refused', message: 'no route' } as const

  const events: readonly (readonly [Verdict, string | undefined])[] = [
    [{ kind: 'done' }, undefined],
    [{ kind: 'again', afterMs: 5 }, undefined],
    [{ kind: 'failed', quiet: true, ...failure }, undefined],
    [{ kind: 'failed', quiet: false, ...failure }, 'Refused'],
    [{ kind: 'stopped', ...failure }, 'Refused'],
    [{ kind: 'retryAfter', afterMs: 5, message: 'no route' }, 'RetryAfter'],
  ]
  it.each(events)('%j is told as %s', (verdict, reason) => {
    expect(after(verdict).event).toEqual(
      reason === undefined ? undefined : { type: 'Warning', reason, message: 'no route', component: 'widget' },
    )
  })

  it('holds its message for a short wait, but not while its function goes on', () => {
    const hold = { kind: 'hold', untilMs: nowMs + 5, isWakeable: true, isTimed: true }
    expect(after({ kind: 'again', afterMs: 5 }).release).toEqual(hold)
    expect(after({ kind: 'again', afterMs: 5 }, Promise.resolve()).release).toEqual({ kind: 'settle' })
    expect(after({ kind: 'done' })).toMatchObject({
      release: { kind: 'settle' },
      isStatusVital: true,
      showsStatus: true,
    })
  })

  it('makes a state of each state that it is asked about, of the same one once', () => {
    const ending = after({ kind: 'done' })
    const other = withMetadata(basis.stored, { labels: { a: 'b' } })
    const next = ending.next(basis.stored, true)
    expect(ending.next(basis.stored, true)).toBe(next)
    expect(conditionOf(next.object, 'Ready')?.status).toBe('True')
    expect(ending.next(other, true).object.metadata.labels).toEqual({ a: 'b' })
    expect(ending.next(other, false).object).toBe(other.object)
    expect(conditionOf(ending.next(other, true).object, 'Ready')?.status).toBe('True')
  })
})
