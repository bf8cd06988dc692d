import { findOddCondition } from '../../model/conditions.ts'
import { hasCode } from '../../model/errors.ts'
import { foreignPart } from '../../model/foreign-part.ts'
import { copyFrozen, copyJson, isObject, type JsonObject } from '../../model/json.ts'
import type { ApiObject } from '../../model/object.ts'
import { keyOf } from '../../model/object-key.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import type { Deadlines, Memory, NoteChanges } from '../../model/engine-state.ts'
import type { Controller } from '../../reconciler/controller.ts'
import { done, reportOf, type Outcome, type Report } from '../../reconciler/outcome.ts'
import { verdictOf, type Verdict } from '../../reconciler/verdict.ts'
import type { ObservedRun } from '../insight/run-observer.ts'
import { concealVerdict } from '../insight/conceal-verdict.ts'
import { findSecretPaths, secretInMemory } from '../insight/remembered-secrets.ts'
import { giveUpError } from '../state/give-up-error.ts'
import { asRead, findStatusFaults, knownStatus } from '../state/as-read.ts'
import { RunContext } from './run-context.ts'
import type { EngineOptions } from './engine-options.ts'
import { createRunMemory } from './run-memory.ts'
import type { RunTime } from './run-times.ts'

export interface RunOptions {
  readonly controller: Controller
  /** As it is served. */
  readonly kind: ServedKind
  readonly stored: StoredObject
  readonly engine: EngineOptions
  readonly seen: ObservedRun
  readonly time: RunTime
  readonly phase: 'reconcile' | 'cleanup'
}

export interface RunResult {
  readonly verdict: Verdict
  /** The newest state of the object that the run knows. */
  readonly live: StoredObject
  /** What is expected now that the run is over. */
  readonly expectations: Deadlines
  /** What it has changed of the notes and not kept yet. */
  readonly noteChanges: NoteChanges
  /** Where the notes, and what was done once, hold values of Secrets. */
  readonly secretPaths: Memory['secretPaths']
  /** The end of what still acts though the run is over: a function that takes too long, or calls nobody waited for. */
  readonly overrun: Promise<unknown> | undefined
}

/**
 * Runs the user's function once, for no longer than its time. A function that goes on after that is not waited for; its
 * context refuses every verb from then on, so that what it does late cannot be written. A signal that says
 * DEADLINE_EXCEEDED ends the run's time ahead of that. When the process stops for another reason, the run is given up:
 * that is no failure of the object's.
 */
export async function runInTime({
  kind,
  controller,
  stored,
  engine,
  seen,
  time,
  phase,
}: RunOptions): Promise<RunResult> {
  // Whoever changed the object in place would change what is written at the end.
  const object = copyFrozen(asRead(controller.kind, stored.object, kind))
  if (kind.isConfidential === true) seen.noteSecret(object)
  const remembered = secretInMemory(stored.engine.memory)
  if (remembered !== undefined) seen.noteSecret(remembered)
  const memory = createRunMemory(engine.store, stored)
  const context = new RunContext({ controller, object, stored, engine, seen, time, memory })
  const run = phase === 'cleanup' ? cleanupRunOf(controller) : controller.reconcile
  const running = verdictOn(run, { controller, kind, object, context, seen })
  const verdict = await firstOf(running, time)
  const endOfActing = (): Promise<unknown> | undefined => context.endOfActing()
  const overrun = verdict === undefined ? running.then(endOfActing, endOfActing) : endOfActing()
  if (overrun !== undefined) engine.overruns?.note(keyOf(stored.object), overrun)
  if (time.stop.aborted && !hasSucceeded(verdict) && !isOutOfTime(time.stop)) throw giveUpError()
  const [live, notes] = [memory.live(), context.notes.all()]
  const secretPaths = findSecretPaths({ ...live.engine.memory, notes }, seen.secrets)
  const known = { live, expectations: context.expected(), noteChanges: context.notes.changes(), secretPaths }
  return { verdict: verdict ?? tooLong(controller), ...known, overrun }
}

/** The verdict; undefined if the time was over first. */
function firstOf(running: Promise<Verdict>, time: RunTime): Promise<Verdict | void> {
  return new Promise<Verdict | void>((resolve, reject) => {
    running.then(resolve, reject)
    time.onOver(() => resolve())
  })
}

type Ran = Pick<RunOptions, 'controller' | 'kind' | 'seen'> & {
  readonly object: ApiObject
  readonly context: RunContext
}

async function verdictOn(run: Controller['reconcile'], ran: Ran): Promise<Verdict> {
  const { object, context, seen } = ran
  try {
    const outcome: unknown = await run(object, context)
    const verb = context.findForgotten()
    if (!isOutcome(outcome)) throw new TypeError('a reconciler returns done(…) or again(…), or throws')
    if (verb !== undefined) throw new TypeError(`the run ended while ctx.${verb} was under way: an await is missing`)
    return concealVerdict(storable(outcome, outcome, ran), seen.secrets)
  } catch (error) {
    const verdict = verdictOf(error, (text) => seen.secrets?.mask(text) ?? text)
    return concealVerdict(storable(verdict, reportOf(error), ran), seen.secrets)
  }
}

/** The clean-up. One that waits must not say done: what is still outside would be forgotten. */
function cleanupRunOf({ cleanup }: Controller): Controller['reconcile'] {
  return async (object, context) => {
    const outcome = cleanup === undefined ? done() : await cleanup(object, context)
    const { ready = true } = isOutcome(outcome) && outcome.kind === 'done' ? outcome : {}
    if (ready === true) return outcome
    const why = `${ready.reason}: ${ready.message}`
    throw new TypeError(`a clean-up that waits (${why}) returns again(…); done() means that nothing is left`)
  }
}

/**
 * The verdict, with a status that its author does not hold on to, and that has the fields of its kind; or a failure
 * that says which part of it cannot be stored, since JSON would lose that part without a word, or is not what the kind
 * says of its status.
 */
function storable(
  verdict: Verdict,
  { status, conditions }: Pick<Report, 'status' | 'conditions'> = {},
  { controller, kind, object, seen }: Pick<Ran, 'controller' | 'kind' | 'object' | 'seen'>,
): Verdict {
  const foreign = foreignPart(status ?? null, 'status') ?? foreignPart(conditions ?? null, 'conditions')
  if (foreign !== undefined) return notStorable(verdict, `cannot be stored: ${foreign}`)
  const odd = conditions && findOddCondition(conditions)
  if (odd !== undefined) return notStorable(verdict, `is no condition: ${odd}`)
  if (status === undefined) return verdict
  const { value: own, unknown } = knownStatus(controller.kind, copyJson(status), kind)
  if (unknown.length > 0) seen.logger.debug('the kind has no such fields in its status', { leftOut: [...unknown] })
  const faults = findStatusFaults(controller.kind, { status: own, old: object.status }, kind)
  return faults === undefined ? withStatus(verdict, own) : notStorable(verdict, `does not fit ${kind.kind}: ${faults}`)
}

function notStorable(verdict: Verdict, why: string): Verdict {
  const failure = 'message' in verdict ? `${verdict.message}; ` : ''
  return verdictOf(new TypeError(`${failure}what is reported ${why}`))
}

function withStatus(verdict: Verdict, status: JsonObject): Verdict {
  if (verdict.kind === 'done' || verdict.kind === 'again') return { ...verdict, status }
  return { ...verdict, report: { ...verdict.report, status } }
}

export function isOutcome(value: unknown): value is Outcome {
  if (!isObject(value)) return false
  const { kind, afterMs, resyncAfterMs = 0 } = value
  return kind === 'again' ? isTime(afterMs) : kind === 'done' && isTime(resyncAfterMs)
}

/** Of one that is made by hand it may be none. */
function isTime(ms: unknown): boolean {
  return typeof ms === 'number' && ms >= 0 && ms < Infinity
}

function hasSucceeded(verdict: Verdict | void): boolean {
  return verdict?.kind === 'done' || verdict?.kind === 'again'
}

/** Whoever runs the engine has no more time for the run, but time enough to write how it ended. */
function isOutOfTime({ reason }: AbortSignal): boolean {
  return hasCode(reason, 'DEADLINE_EXCEEDED')
}

function tooLong({ name, timeoutMs }: Controller): Verdict {
  const message = `${name} was aborted: it ran for longer than ${timeoutMs / 1000} s`
  return { kind: 'failed', reason: 'DeadlineExceeded', message, quiet: false }
}
