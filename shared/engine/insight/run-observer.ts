import { isConverged } from '../../model/convergence.ts'
import type { JsonObject } from '../../model/json.ts'
import { metrics } from '../../model/metrics.ts'
import { isDeleting, type ApiObject } from '../../model/object.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Random } from '../../ports/random.ts'
import type { RunHistory } from '../../ports/run-history.ts'
import type { Telemetry } from '../../ports/telemetry.ts'
import type { Resources } from '../../resources/resources.ts'
import { backoffMsMax } from '../state/backoff.ts'
import type { Controller } from '../../reconciler/controller.ts'
import { isRepeatedError } from '../state/repeated-errors.ts'
import type { Turn } from '../state/turn.ts'
import { observes, type Verdict } from '../../reconciler/verdict.ts'
import { bringsNoChange, causesOf, isUnprompted } from './run-causes.ts'
import { noEffects, noteEffects, outsideCounts, type OutsideCounts, type RunEffects } from './run-effects.ts'
import { pastRunOf } from './past-run.ts'
import { RunLog } from './run-log.ts'
import { RunLogger } from './run-logger.ts'
import { createRunMetrics } from './run-metrics.ts'
import { SecretValues } from './secret-values.ts'
import { createUnconverged } from './unconverged.ts'

/**
 * Sees runs for people: their log lines carry the run's identity, what they read and write is counted, and at the end
 * it is said why they ran and how it went. Nothing of it reaches the reconcile function, and nothing is decided by it.
 */
export type RunObserver = (stored: StoredObject, turn: Turn) => ObservedRun

export interface RunObserverOptions {
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly telemetry: Telemetry
  readonly resources: Resources
  /** Keeps the last runs of each object. Left out, nobody does. */
  readonly history?: RunHistory
}

/** One run as it is observed. What it uses in place of the engine's own is made when the run asks for it. */
export interface ObservedRun {
  readonly logger: Logger
  readonly resources: Resources
  readonly outside: OutsideCounts
  /** Of the Secrets that the run has met; undefined for the many runs that meet none. */
  readonly secrets: SecretValues | undefined
  /** What the run says from now on is told without the values of this Secret, or of what is to become one. */
  noteSecret(secret: JsonObject): void
  /** The run is over, and what it changed is written. */
  end(verdict: Verdict): void
}

export function createRunObserver(controller: Controller, engine: RunObserverOptions): RunObserver {
  const observer: Observer = {
    controller,
    engine,
    count: createRunMetrics(controller.name, engine.telemetry),
    unconverged: observeUnconverged(controller, engine),
  }
  return (stored, turn) => new Observation(observer, stored, turn)
}

/** What observes all runs of a controller. */
interface Observer {
  readonly controller: Controller
  readonly engine: RunObserverOptions
  readonly count: ReturnType<typeof createRunMetrics>
  readonly unconverged: ReturnType<typeof observeUnconverged>
}

class Observation implements ObservedRun {
  readonly #observer: Observer
  readonly #stored: StoredObject
  readonly #turn: Turn
  readonly #startMs: number
  readonly #effects = noEffects()
  #logger: Logger | undefined
  #resources: Resources | undefined
  #secrets: SecretValues | undefined
  #log: RunLog | undefined

  constructor(observer: Observer, stored: StoredObject, turn: Turn) {
    this.#observer = observer
    this.#stored = stored
    this.#turn = turn
    this.#startMs = observer.engine.clock.nowMs()
    observer.unconverged.began(stored, this.#startMs)
  }

  get logger(): Logger {
    const { engine, controller } = this.#observer
    return (this.#logger ??= new RunLogger(engine.logger, {
      identify: () => identity(controller, this.#stored, engine.random.uuid()),
      secrets: () => this.#secrets,
      ...(engine.history === undefined
        ? {}
        : { keep: (line) => (this.#log ??= new RunLog()).keep({ atMs: engine.clock.nowMs(), ...line }) }),
    }))
  }

  get resources(): Resources {
    const { engine, controller } = this.#observer
    return (this.#resources ??= noteEffects(engine.resources, {
      effects: this.#effects,
      manager: controller.name,
      wasConverged: isConverged(this.#stored),
      logger: this.logger,
    }))
  }

  get outside(): OutsideCounts {
    return outsideCounts(this.#effects)
  }

  get secrets(): SecretValues | undefined {
    return this.#secrets
  }

  noteSecret(secret: JsonObject): void {
    this.#secrets ??= new SecretValues(this.#stored.object)
    this.#secrets.note(secret)
  }

  end(verdict: Verdict): void {
    const stored = this.#stored
    const turn = this.#turn
    const effects = this.#effects
    const { engine, unconverged, count } = this.#observer
    const nowMs = engine.clock.nowMs()
    const ms = Math.max(0, nowMs - this.#startMs)
    const { change } = stored.engine
    const isObserved = change !== undefined && settles(stored.object, verdict)
    if (isObserved) unconverged.noteObserved(stored)
    else if (verdict.kind === 'retryAfter') unconverged.waits(stored, nowMs + verdict.afterMs)
    count({
      verdict,
      ms,
      effects,
      wasSteady: isUnprompted(turn, stored) && isConverged(stored),
      convergedMs: isObserved ? Math.max(0, nowMs - change.atMs) : undefined,
      isRepair: isObserved && nowMs - change.atMs >= lateMs && bringsNoChange(turn) && isAtRest(stored),
      isRepeated: isRepeatedError(stored, verdict),
    })
    if (engine.history !== undefined) this.#keep(engine.history, { verdict, ms, isObserved })
    log(this.logger, { turn, stored, verdict, ms, effects })
  }

  #keep(history: RunHistory, { verdict, ms, isObserved }: Pick<EndedRun, 'verdict' | 'ms'> & { isObserved: boolean }) {
    const stored = this.#stored
    const quiet = { atMs: this.#startMs, ms, causes: causesOf(this.#turn, stored) }
    const run = pastRunOf({ stored, verdict, effects: this.#effects, log: this.#log, isObserved, quiet })
    const { uid } = stored.object.metadata
    if (run === undefined) history.noteQuiet(uid, quiet)
    else history.note(uid, run)
  }
}

/** The age of the oldest change that a run has met and none has observed. */
function observeUnconverged({ name, timeoutMs }: Controller, { clock, telemetry }: RunObserverOptions) {
  const changes = createUnconverged()
  telemetry.read(metrics.oldestUnconverged, { controller: name }, () => {
    const oldestMs = changes.oldestMs(clock.nowMs())
    if (telemetry.isOneOfMany) changes.forget()
    return oldestMs / 1_000
  })
  return {
    began: ({ object, engine: { change } }: StoredObject, nowMs: number): void => {
      if (change === undefined) return
      const sinceMs = change.sinceMs ?? change.atMs
      changes.note(object.metadata.uid, { sinceMs, untilMs: nowMs + backoffMsMax + timeoutMs + graceMs })
    },
    waits: ({ object }: StoredObject, untilMs: number): void => changes.waits(object.metadata.uid, untilMs + graceMs),
    noteObserved: ({ object }: StoredObject): void => changes.noteObserved(object.metadata.uid),
  }
}

/** Whether the change that the object carries is dealt with. A deletion is when the object goes. */
function settles(object: ApiObject, verdict: Verdict): boolean {
  return isDeleting(object) ? verdict.kind === 'done' : observes(verdict)
}

/** A wake-up that has not come after this long does not come any more. */
const lateMs = 60_000

/** It waits for nothing but the resync, so that a change must have woken it. */
function isAtRest({ engine: { wait } }: StoredObject): boolean {
  return wait === undefined || wait.kind === 'Resync'
}

/** For queues and clocks, before an object that has been silent counts as gone. */
const graceMs = 60_000

function identity({ name: controller, kind: { kind } }: Controller, { object }: StoredObject, id: string): JsonObject {
  const { namespace = '', name } = object.metadata
  return { controller, kind, namespace, name, reconcileID: id }
}

interface EndedRun {
  readonly turn: Turn
  readonly stored: StoredObject
  readonly verdict: Verdict
  readonly ms: number
  readonly effects: RunEffects
}

function log(logger: Logger, { turn, stored, verdict, ms, effects: { reads, written } }: EndedRun): void {
  const fields = (): JsonObject => ({
    outcome: verdict.kind,
    durationMs: ms,
    reasons: [...causesOf(turn, stored)],
    reads,
    writes: written.created + written.updated + written.deleted,
  })
  if (verdict.kind === 'done') return logger.debug('reconciled', fields)
  if (verdict.kind === 'again') return logger.debug('reconciled', () => ({ ...fields(), afterMs: verdict.afterMs }))
  if (verdict.kind === 'failed' && verdict.quiet) return logger.debug('reconcile met a conflict', fields)
  const { stack } = { stack: undefined, ...verdict }
  logger.warn('reconcile did not succeed', {
    ...fields(),
    reason: reasonOf(verdict),
    error: verdict.message,
    ...(stack === undefined ? {} : { stack }),
  })
}

function reasonOf(verdict: Exclude<Verdict, { readonly kind: 'done' | 'again' }>): string {
  return verdict.kind === 'retryAfter' ? 'RetryAfter' : verdict.reason
}
