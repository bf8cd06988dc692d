import { pausedAnnotation } from '../model/control-annotations.ts'
import { hasCode } from '../model/errors.ts'
import { isDeleting } from '../model/object.ts'
import type { ServedKind } from '../model/served-kind.ts'
import type { EngineState, StoredObject } from '../model/stored-object.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { ObjectIndex } from '../ports/object-index.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import type { Random } from '../ports/random.ts'
import type { KindCatalog } from '../resources/kind-catalog.ts'
import type { Resources } from '../resources/resources.ts'
import { createCommit } from './commit.ts'
import type { RunFacts } from './conclusion.ts'
import type { Controller } from './controller.ts'
import type { EventRecorder } from './event-recorder.ts'
import { runWithDeadline } from './run.ts'
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
  readonly events: EventRecorder
}

/** Runs a turn to its end; rejects only if the turn could not be ended, and then the queue hands it out again. */
export type TurnRunner = (turn: Turn, signal: AbortSignal) => Promise<void>

export function createReconcileKey(controller: Controller, engine: EngineOptions): TurnRunner {
  const { store, catalog, clock } = engine
  const commit = createCommit(engine)

  return async function reconcileKey(turn, signal) {
    const kind = await catalog.byKind(controller.kind.group, controller.kind.kind)
    const stored = await store.get(turn.key)
    if (kind === undefined || stored === undefined) return turn.settle()
    const early = timeToGo(turn, stored.engine, clock.nowMs())
    if (early !== undefined) return early > 0 && early <= shortWaitMsMax ? void (await turn.hold(early)) : turn.settle()
    if (isPaused(stored)) return commit.paused(stored, turn, kind)
    if (!isDeleting(stored.object)) return prepareAndReconcile(stored, kind, { turn, signal })
    if (holdsFinalizer(stored)) return cleanUp(stored, kind, { turn, signal })
    return commit.resting(stored, turn)
  }

  /** The finalizer is there before anything outside is. If the object changed just now, the turn comes again at once. */
  async function prepareAndReconcile(stored: StoredObject, kind: ServedKind, run: Run): Promise<void> {
    const ready =
      holdsFinalizer(stored) || controller.finalizer === undefined
        ? stored
        : await addFinalizer(stored, controller.finalizer)
    return ready === undefined ? run.turn.release() : reconcile(ready, kind, run)
  }

  async function addFinalizer(stored: StoredObject, finalizer: string): Promise<StoredObject | undefined> {
    const metadata = {
      ...stored.object.metadata,
      finalizers: [...(stored.object.metadata.finalizers ?? []), finalizer],
    }
    try {
      return await store.replace({ ...stored, object: { ...stored.object, metadata } }, ['engine'])
    } catch (error) {
      if (hasCode(error, 'VERSION_CONFLICT', 'NOT_FOUND')) return undefined
      throw error
    }
  }

  async function reconcile(stored: StoredObject, kind: ServedKind, run: Run): Promise<void> {
    const facts = factsOf(stored, kind)
    const verdict = await runWithDeadline({ controller, stored, engine, signal: run.signal, phase: 'reconcile' })
    await commit.verdict(stored, verdict, { ...run, facts, controller })
  }

  async function cleanUp(stored: StoredObject, kind: ServedKind, run: Run): Promise<void> {
    const facts = factsOf(stored, kind)
    const verdict = await runWithDeadline({ controller, stored, engine, signal: run.signal, phase: 'cleanup' })
    if (verdict.kind === 'done') return commit.released(stored, run.turn, controller.finalizer ?? '')
    await commit.verdict(stored, verdict, { ...run, facts, controller })
  }

  function holdsFinalizer({ object }: StoredObject): boolean {
    return controller.finalizer !== undefined && (object.metadata.finalizers ?? []).includes(controller.finalizer)
  }

  function factsOf({ object }: StoredObject, { hasStatus }: ServedKind): Omit<RunFacts, 'nowMs'> {
    return {
      chance: engine.random.next(),
      generation: object.metadata.generation,
      hasStatus: hasStatus && controller.reportsStatus,
    }
  }
}

interface Run {
  readonly turn: Turn
  readonly signal: AbortSignal
}

/**
 * For a turn of timers only: how long until the object's own timer is due, 0 if it has none any more. Undefined: run now.
 * The object knows when it wants to run; a timer's message is a hint.
 */
function timeToGo(turn: Turn, { nextRunAtMs }: EngineState, nowMs: number): number | undefined {
  if (!turn.wakeUps.every(({ notBeforeMs }) => notBeforeMs !== undefined)) return undefined
  if (nextRunAtMs === undefined) return 0
  return nextRunAtMs <= nowMs ? undefined : nextRunAtMs - nowMs
}

function isPaused({ object }: StoredObject): boolean {
  return object.metadata.annotations?.[pausedAnnotation] === 'true'
}
