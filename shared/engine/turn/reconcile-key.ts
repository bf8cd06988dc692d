import { hasCode, OperatingError } from '../../model/errors.ts'
import { keyText } from '../../model/object-key.ts'
import { isDeleting } from '../../model/object.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import type { Controller } from '../../reconciler/controller.ts'
import { isOfKind } from '../../reconciler/kind.ts'
import { verdictOf } from '../../reconciler/verdict.ts'
import { createAdvice } from '../insight/advice.ts'
import { createRunAdvice } from '../insight/run-advice.ts'
import { createRunObserver } from '../insight/run-observer.ts'
import { createLimits, type Entry } from '../limits/limits.ts'
import { admit, isHeldBy } from '../state/admission.ts'
import { begunState } from '../state/begun-state.ts'
import { nextState } from '../state/next-state.ts'
import type { RunFacts } from '../state/run-facts.ts'
import type { Turn, TurnRunner } from '../state/turn.ts'
import { createCommit } from './commit.ts'
import { afterCleanup, afterPostponement, afterRun, withoutRun, type TurnBasis } from './endings.ts'
import type { EngineOptions } from './engine-options.ts'
import { runWithDeadline, type RunResult } from './run.ts'

/**
 * One turn of one key: admit, run, next state, commit. Everything that is decided here depends on the object; the wake-ups
 * that led here only tell a timer that came too early.
 */
export function createReconcileKey(controller: Controller, engine: EngineOptions): TurnRunner {
  const { store, catalog, clock, random } = engine
  const commit = createCommit(engine)
  const limits = createLimits(controller, engine)
  const observe = createRunObserver(controller, engine)
  const advise = createAdvice(controller.name, { ...engine, nowMs: () => clock.nowMs() })
  const adviseOnRun = createRunAdvice(controller, advise)
  const isOwn = isOfKind(controller.kind)

  return async (turn, signal) => {
    // The queue may hold keys of a controller for another kind, which had this name before.
    if (!isOwn(turn.key)) return turn.settle()
    const entry = limits.enter()
    try {
      for (let looks = 1; !(await take(turn, entry, signal)); looks++) if (looks === looksMax) throw neverStill()
    } finally {
      entry.leave()
    }
  }

  /** Whether the turn is over. If not, what was read is old: the object is looked at anew. */
  async function take(turn: Turn, entry: Entry, signal: AbortSignal): Promise<boolean> {
    const kind = await catalog.byKind(controller.kind.group, controller.kind.kind)
    const stored = await store.get(turn.key)
    const admission = admit({ controller, kind, stored, turn, nowMs: clock.nowMs() })
    if (admission.kind === 'retry') return over(turn.hold(admission.afterMs))
    if (admission.kind === 'drop' || stored === undefined || kind === undefined) return over(turn.settle())
    const basis = { turn, stored, kind, controller, facts: factsOf(stored, kind) }
    if (admission.kind !== 'run') return over(commit(withoutRun(admission, basis)))
    const postponement = await entry.postpone(stored, turn)
    if (postponement?.kind === 'HotLoop') advise('HotLoop', keyText(turn.key))
    if (postponement !== undefined) return over(commit(afterPostponement(postponement, basis)))
    if (await entry.wait(stored, signal)) return false
    const begun = await begin(stored)
    return begun !== undefined && !entry.isLate() && over(run({ ...basis, stored: begun }, signal))
  }

  /** The object as its run begins with it. Undefined if it changed just now. */
  async function begin(stored: StoredObject): Promise<StoredObject | undefined> {
    const begun = begunState(stored, controller)
    if (begun === stored) return stored
    try {
      return await store.replace(begun, ['engine'])
    } catch (error) {
      if (hasCode(error, 'VERSION_CONFLICT', 'NOT_FOUND')) return undefined
      throw error
    }
  }

  async function run(basis: TurnBasis, signal: AbortSignal): Promise<void> {
    const { stored, turn } = basis
    const seen = observe(stored, turn)
    const startMs = clock.nowMs()
    const phase = isDeleting(stored.object) && isHeldBy(controller.finalizer, stored.object) ? 'cleanup' : 'reconcile'
    const ran = await runWithDeadline({ controller, stored, engine: { ...engine, ...seen.engine }, signal, phase })
    const isCleanedUp = phase === 'cleanup' && ran.verdict.kind === 'done'
    await (isCleanedUp ? commit(afterCleanup(ran.live, basis)) : conclude(ran, basis, startMs))
    seen.ended(ran.verdict)
  }

  /** Writes how a run ended. If that cannot be written, the object says so instead. */
  async function conclude(ran: RunResult, basis: TurnBasis, startMs: number): Promise<void> {
    const facts = runFacts(ran, basis)
    adviseOnRun({ stored: basis.stored, verdict: ran.verdict, ms: facts.nowMs - startMs })
    try {
      await commit(afterRun(ran, ran.verdict, { ...basis, facts }))
    } catch (error) {
      if (!isUnwritable(error)) throw error
      await commit({ ...afterRun(ran, verdictOf(error), { ...basis, facts }), isStatusVital: false })
    }
  }

  function runFacts(ran: RunResult, { stored, kind, facts }: TurnBasis): RunFacts {
    const { verdict, expectations, notes } = ran
    const nowMs = clock.nowMs()
    const reporter = { manager: controller.name, schema: kind.schema }
    const known = { ...facts, nowMs, wakeAtMs: stored.engine.wakeAtMs, reporter, expectations, notes }
    const againMs = verdict.kind === 'again' ? verdict.afterMs : undefined
    const ended = { againMs, after: () => nextState(stored, verdict, known).object }
    const retryDelayMs = verdict.kind === 'failed' ? engine.retryBudget?.reserve(nowMs) : undefined
    return { ...known, ...limits.countEnded(stored, ended, nowMs), retryDelayMs }
  }

  function factsOf({ object }: StoredObject, kind: ServedKind): TurnBasis['facts'] {
    const showsStatus = kind.hasStatus && controller.reportsStatus
    return { nowMs: clock.nowMs(), chance: random.next(), generation: object.metadata.generation, showsStatus }
  }
}

async function over(end: Promise<void>): Promise<true> {
  await end
  return true
}

/** What the run reports is no JSON, or more than an object may hold. */
function isUnwritable(error: unknown): boolean {
  return error instanceof TypeError || hasCode(error, 'TOO_LARGE')
}

const looksMax = 10

/** The queue brings the turn again. */
function neverStill(): OperatingError {
  return new OperatingError('VERSION_CONFLICT', `the object changed during ${looksMax} looks at it`)
}
