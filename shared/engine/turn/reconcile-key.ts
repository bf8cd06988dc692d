import { isPaused, ownResyncMs } from '../../model/control-annotations.ts'
import { hasCode } from '../../model/errors.ts'
import { keyText } from '../../model/object-key.ts'
import { isDeleting, type ApiObject } from '../../model/object.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import { dueAtMs, type StoredObject } from '../../model/stored-object.ts'
import { createAdvice } from '../insight/advice.ts'
import { backoffMs } from '../state/backoff.ts'
import { createCommit } from './commit.ts'
import { conclude, type RunFacts } from '../state/conclusion.ts'
import type { Controller } from '../../reconciler/controller.ts'
import { createGate } from '../limits/gate.ts'
import { isOfKind } from '../../reconciler/kind.ts'
import type { Postponement } from '../state/postponement.ts'
import { createRunAdvice } from '../insight/run-advice.ts'
import { givenUp, runWithDeadline } from './run.ts'
import { begunBy, createSharedPace, hasNotEnded, type Pass, type SharedPace } from '../limits/shared-pace.ts'
import { createRunObserver } from '../insight/run-observer.ts'
import { shortWaitMsMax, type Turn, type TurnRunner } from '../state/turn.ts'
import type { EngineOptions } from './engine-options.ts'

/**
 * One reconcile of one key: read the object, run the user's function once, write what changed, settle. Everything it decides
 * by is in the object; the wake-ups that led here are not looked at, but to tell a timer that came too early.
 */
export function createReconcileKey(controller: Controller, engine: EngineOptions): TurnRunner {
  const { store, catalog, clock } = engine
  const commit = createCommit(engine)
  const observe = createRunObserver(controller, engine)
  const gate = createGate(controller)
  const pace = createSharedPace(controller, engine)
  const advise = createAdvice(controller.name, { ...engine, nowMs: () => clock.nowMs() })
  const adviseOn = createRunAdvice(controller, advise)
  const isOwn = isOfKind(controller.kind)

  return pace === undefined ? (turn, signal) => reconcileKey({ turn, signal }) : inPace(pace)

  function inPace({ enter }: SharedPace): TurnRunner {
    return async (turn, signal) => {
      const pass = enter()
      try {
        await reconcileKey({ turn, signal, pass })
      } finally {
        pass.leave()
      }
    }
  }

  async function reconcileKey(given: Given): Promise<void> {
    const { turn, signal, pass } = given
    // Of a controller for another kind that had the name, and the queue, before.
    if (!isOwn(turn.key)) return turn.settle()
    const kind = await catalog.byKind(controller.kind.group, controller.kind.kind)
    const stored = await store.get(turn.key)
    if (stored === undefined) return turn.settle()
    if (kind === undefined) return unserved(turn)
    const waitMs = timeToGo(turn, stored, clock.nowMs())
    if (waitMs > shortWaitMsMax) return commit.later(stored, turn, clock.nowMs() + waitMs)
    if (waitMs > 0 && isTimer(turn) && hasMoved(stored)) return turn.settle()
    if (waitMs > 0) return commit.early(stored, turn, clock.nowMs() + waitMs)
    if (isPaused(stored.object)) return commit.paused(stored, turn, kind)
    const seesAll = controller.onRemoved === 'reconcile'
    if (isDeleting(stored.object) && !holdsFinalizer(stored) && !seesAll) return commit.resting(stored, turn)
    if (hasNotEnded(stored)) return commit.notEnded(stored, turn, { controller, showsStatus: showsStatus(kind) })
    const isPassed = pass?.isGiven(stored) ?? false
    const blocked = gate.postponement(stored, turn, { nowMs: clock.nowMs(), isPassed })
    const postponement = blocked ?? (pass && (await paced(stored, turn, pass)))
    if (postponement?.hotLoop !== undefined) advise('HotLoop', keyText(turn.key))
    if (postponement !== undefined)
      return commit.postponed(stored, turn, { postponement, facts: factsOf(stored, kind) })
    // What was read before the wait is old.
    if (pass !== undefined && (await waited(stored, pass, signal))) return reconcileKey(given)
    const ready = await begun(stored)
    return ready === undefined || pass?.isLate() === true ? reconcileKey(given) : run(ready, kind, given)
  }

  /** The limit of the whole controller. Where nobody can ask for its reservations just now, many others do. */
  async function paced(stored: StoredObject, turn: Turn, pass: Pass): Promise<Postponement | undefined> {
    try {
      const atMs = await pass.runAtMs(stored)
      return atMs - clock.nowMs() > patienceMs ? { waiting: 'RateLimited', untilMs: atMs, reservedMs: atMs } : undefined
    } catch (error) {
      if (!hasCode(error, 'THROTTLED')) throw error
      return { waiting: 'RateLimited', untilMs: clock.nowMs() + backoffMs(turn.receiveCount, engine.random.next()) }
    }
  }

  async function waited(stored: StoredObject, pass: Pass, signal: AbortSignal): Promise<boolean> {
    const waitMs = (await pass.runAtMs(stored)) - clock.nowMs()
    if (waitMs <= 0) return false
    await clock.sleep(waitMs, signal)
    if (signal.aborted) throw givenUp()
    return true
  }

  /** Its definition is newer than what this process knows of kinds, or gone with its objects: a few looks tell which. */
  function unserved(turn: Turn): Promise<void> {
    return turn.receiveCount < looksMax ? turn.hold(lookMs) : turn.settle()
  }

  /** Before anything outside is, the finalizer is there and the reservation is used. Undefined if the object changed just now. */
  async function begun(stored: StoredObject): Promise<StoredObject | undefined> {
    const next = withFinalizer(begunBy(stored))
    if (next === stored) return stored
    try {
      return await store.replace(next, ['engine'])
    } catch (error) {
      if (hasCode(error, 'VERSION_CONFLICT', 'NOT_FOUND')) return undefined
      throw error
    }
  }

  function withFinalizer(stored: StoredObject): StoredObject {
    const { finalizer } = controller
    if (finalizer === undefined || isDeleting(stored.object) || holdsFinalizer(stored)) return stored
    const { metadata } = stored.object
    const finalizers = [...(metadata.finalizers ?? []), finalizer]
    return { ...stored, object: { ...stored.object, metadata: { ...metadata, finalizers } } }
  }

  async function run(stored: StoredObject, kind: ServedKind, { turn, signal }: Given): Promise<void> {
    const seen = observe(stored, turn)
    const startMs = clock.nowMs()
    const phase = isDeleting(stored.object) && holdsFinalizer(stored) ? 'cleanup' : 'reconcile'
    const facts = factsOf(stored, kind)
    const { verdict, live, expectations, notes, overrun } = await runWithDeadline({
      controller,
      stored,
      engine: { ...engine, ...seen.engine },
      signal,
      phase,
    })
    if (phase === 'cleanup' && verdict.kind === 'done') {
      await commit.released(live, turn, controller.finalizer ?? '')
      return seen.ended(verdict)
    }
    const nowMs = clock.nowMs()
    adviseOn({ stored, verdict, ms: nowMs - startMs })
    const ended = { ...facts, expectations, notes }
    const againMs = verdict.kind === 'again' ? verdict.afterMs : undefined
    const after = (): ApiObject => conclude(stored, verdict, { ...ended, nowMs }).object
    const limits = gate.ended(stored, { againMs, after }, nowMs)
    const retryDelayMs = verdict.kind === 'failed' ? engine.retryBudget?.reserve(nowMs) : undefined
    const all = { ...ended, ...limits, retryDelayMs }
    await commit.verdict({ turn, controller, stored, live, verdict, facts: all, overrun })
    seen.ended(verdict)
  }

  function holdsFinalizer({ object }: StoredObject): boolean {
    return controller.finalizer !== undefined && (object.metadata.finalizers ?? []).includes(controller.finalizer)
  }

  function showsStatus({ hasStatus }: ServedKind): boolean {
    return hasStatus && controller.reportsStatus
  }

  function factsOf({ object, engine: before }: StoredObject, served: ServedKind): Omit<RunFacts, 'nowMs'> {
    return {
      chance: engine.random.next(),
      generation: object.metadata.generation,
      wakeAtMs: before.wakeAtMs,
      hasStatus: showsStatus(served),
      reporter: { manager: controller.name, schema: served.schema },
    }
  }
}

/** Longer than the catalog goes without another look for what it does not know. */
const lookMs = 2_000
const looksMax = 5

/** A wait for a reservation that is not worth letting go of the key. */
const patienceMs = 1_000

interface Given {
  readonly turn: Turn
  readonly signal: AbortSignal
  /** Left out where no limit is shared. */
  readonly pass?: Pass
}

/** None of them is a change, which may be debounced: that message is the only one of it. */
function isTimer({ wakeUps }: Turn): boolean {
  return wakeUps.every(({ origin }) => origin !== 'change')
}

/**
 * The object was changed since the run that asked for the timer. The change has a message of its own on its way, which would stand
 * behind the timer's for as long as that is held, and whoever sent it knew of no hold that it could have ended.
 */
function hasMoved({ object: { metadata }, engine: { generation = metadata.generation } }: StoredObject): boolean {
  return generation !== metadata.generation
}

/**
 * How long until the object is to run; 0: now, Infinity: not for this turn. It runs now after a change, and for a resync
 * unless it has a period of its own; a timer's message is a hint: the object knows when it wants to run. If one comes
 * back ahead of its hold, somebody woke it. A resync that is paced waits for no change that is not observed yet: its message stands behind.
 */
function timeToGo({ wakeUps }: Turn, { object, engine }: StoredObject, nowMs: number): number {
  const isHint = { change: false, resync: ownResyncMs(object) !== undefined, timer: true }
  const now = wakeUps.filter(({ origin }) => !isHint[origin])
  if (now.length === 0 && engine.hold !== undefined && engine.hold.untilMs > nowMs) return 0
  if (engine.change !== undefined && now.some(({ origin }) => origin === 'resync')) return 0
  const atMs = now.length > 0 ? Math.min(...now.map(({ notBeforeMs = 0 }) => notBeforeMs)) : dueAtMs(engine)
  return Math.max(0, (atMs ?? Infinity) - nowMs)
}
