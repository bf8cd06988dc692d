import { isPaused, ownResyncMs } from '../model/control-annotations.ts'
import { hasCode } from '../model/errors.ts'
import { keyText } from '../model/object-key.ts'
import { isDeleting, type ApiObject } from '../model/object.ts'
import type { ServedKind } from '../model/served-kind.ts'
import { dueAtMs, type StoredObject } from '../model/stored-object.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { ObjectIndex } from '../ports/object-index.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import type { Random } from '../ports/random.ts'
import type { Telemetry } from '../ports/telemetry.ts'
import type { KindCatalog } from '../resources/kind-catalog.ts'
import type { Resources } from '../resources/resources.ts'
import { createAdvice } from './advice.ts'
import { createCommit } from './commit.ts'
import { conclude, type RunFacts } from './conclusion.ts'
import type { Controller } from './controller.ts'
import type { EventRecorder } from './event-recorder.ts'
import { createGate } from './gate.ts'
import { createRunAdvice } from './run-advice.ts'
import { runWithDeadline } from './run.ts'
import { createRunObserver } from './telemetry/run-observer.ts'
import type { OutsideCounts } from './telemetry/run-effects.ts'
import type { TokenBucket } from './token-bucket.ts'
import { shortWaitMsMax, type Turn } from './turn.ts'

/**
 * One reconcile of one key: read the object, run the user's function once, write what changed, settle. Everything it decides
 * by is in the object; the wake-ups that led here are not looked at, but to tell a timer that came too early.
 */
export interface EngineOptions {
  readonly store: ObjectStore
  readonly index: ObjectIndex
  readonly resources: Resources
  readonly catalog: KindCatalog
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly telemetry: Telemetry
  readonly events: EventRecorder
  /** What all controllers together may spend on retries. Default: no limit but each object's backoff. */
  readonly retryBudget?: TokenBucket
  /** Told of what a run does outside of this control plane; given for each run. */
  readonly outside?: OutsideCounts
}

/** Runs a turn to its end; rejects only if the turn could not be ended, and then the queue hands it out again. */
export type TurnRunner = (turn: Turn, signal: AbortSignal) => Promise<void>

export function createReconcileKey(controller: Controller, engine: EngineOptions): TurnRunner {
  const { store, catalog, clock } = engine
  const commit = createCommit(engine)
  const observe = createRunObserver(controller, engine)
  const gate = createGate(controller)
  const advise = createAdvice(controller.name, { ...engine, nowMs: () => clock.nowMs() })
  const adviseOn = createRunAdvice(controller, advise)

  return async function reconcileKey(turn, signal): Promise<void> {
    const kind = await catalog.byKind(controller.kind.group, controller.kind.kind)
    const stored = await store.get(turn.key)
    if (stored === undefined) return turn.settle()
    if (kind === undefined) return unserved(turn)
    const waitMs = timeToGo(turn, stored, clock.nowMs())
    if (waitMs > shortWaitMsMax) return turn.settle()
    if (waitMs > 0) return commit.early(stored, turn, clock.nowMs() + waitMs)
    if (isPaused(stored.object)) return commit.paused(stored, turn, kind)
    const seesAll = controller.onRemoved === 'reconcile'
    if (isDeleting(stored.object) && !holdsFinalizer(stored) && !seesAll) return commit.resting(stored, turn)
    const postponement = gate.postponement(stored, turn, clock.nowMs())
    if (postponement?.hotLoop !== undefined) advise('HotLoop', keyText(turn.key))
    if (postponement !== undefined)
      return commit.postponed(stored, turn, { postponement, facts: factsOf(stored, kind) })
    const ready = isDeleting(stored.object) ? stored : await withFinalizer(stored)
    return ready === undefined ? reconcileKey(turn, signal) : run(ready, kind, { turn, signal })
  }

  /** Its definition is newer than what this process knows of kinds, or gone with its objects: a few looks tell which. */
  function unserved(turn: Turn): Promise<void> {
    return turn.receiveCount < looksMax ? turn.hold(lookMs) : turn.settle()
  }

  /** The finalizer is there before anything outside is. Undefined if the object changed just now. */
  async function withFinalizer(stored: StoredObject): Promise<StoredObject | undefined> {
    const { finalizer } = controller
    if (finalizer === undefined || holdsFinalizer(stored)) return stored
    const { metadata } = stored.object
    const finalizers = [...(metadata.finalizers ?? []), finalizer]
    try {
      const object = { ...stored.object, metadata: { ...metadata, finalizers } }
      return await store.replace({ ...stored, object }, ['engine'])
    } catch (error) {
      if (hasCode(error, 'VERSION_CONFLICT', 'NOT_FOUND')) return undefined
      throw error
    }
  }

  async function run(stored: StoredObject, kind: ServedKind, { turn, signal }: Run): Promise<void> {
    const seen = observe(stored, turn)
    const startMs = clock.nowMs()
    const phase = isDeleting(stored.object) && holdsFinalizer(stored) ? 'cleanup' : 'reconcile'
    const facts = factsOf(stored, kind)
    const { verdict, live, expectations, notes, overrun } = await runWithDeadline({
      controller,
      stored,
      engine: seen.engine,
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

  function factsOf({ object, engine: before }: StoredObject, served: ServedKind): Omit<RunFacts, 'nowMs'> {
    return {
      chance: engine.random.next(),
      generation: object.metadata.generation,
      wakeAtMs: before.wakeAtMs,
      hasStatus: served.hasStatus && controller.reportsStatus,
      reporter: { manager: controller.name, schema: served.schema },
    }
  }
}

/** Longer than the catalog goes without another look for what it does not know. */
const lookMs = 2_000
const looksMax = 5

interface Run {
  readonly turn: Turn
  readonly signal: AbortSignal
}

/**
 * How long until the object is to run; 0: now, Infinity: not for this turn. It runs now after a change, and for a resync
 * unless it has a period of its own; a timer's message is a hint: the object knows when it wants to run. If one comes
 * back ahead of its hold, somebody woke it.
 */
function timeToGo({ wakeUps }: Turn, { object, engine }: StoredObject, nowMs: number): number {
  const isHint = { change: false, resync: ownResyncMs(object) !== undefined, timer: true }
  const now = wakeUps.filter(({ origin }) => !isHint[origin])
  if (now.length === 0 && engine.hold !== undefined && engine.hold.untilMs > nowMs) return 0
  const atMs = now.length > 0 ? Math.min(...now.map(({ notBeforeMs = 0 }) => notBeforeMs)) : dueAtMs(engine)
  return Math.max(0, (atMs ?? Infinity) - nowMs)
}
