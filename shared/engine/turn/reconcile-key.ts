import { OperatingError } from '../../model/errors.ts'
import { reconcileRequestAnnotation } from '../../model/control-annotations.ts'
import { keyText } from '../../model/object-key.ts'
import { isDeleting } from '../../model/object.ts'
import { isOvertakenWrite } from '../../model/on-newest.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import type { Controller } from '../../reconciler/controller.ts'
import { isOfKind } from '../../reconciler/kind.ts'
import { verdictOf, type Verdict } from '../../reconciler/verdict.ts'
import { freshKindsMs } from '../../resources/kind-catalog.ts'
import { createAdvice, type Advise } from '../insight/advice.ts'
import { joinSecretPaths } from '../insight/remembered-secrets.ts'
import { createRunAdvice, type AdviseOnRun } from '../insight/run-advice.ts'
import { createRunObserver, type RunObserver } from '../insight/run-observer.ts'
import { createLimits, type Entry, type Limits } from '../limits/limits.ts'
import { reserveRetry } from '../limits/retry-budget.ts'
import { admit, isHeldBy } from '../state/admission.ts'
import { findSpecFaults } from '../state/as-read.ts'
import { toBegunState } from '../state/begun-state.ts'
import { nextState } from '../state/next-state.ts'
import type { RunFacts } from '../state/run-facts.ts'
import type { Turn, TurnRunner } from '../state/turn.ts'
import { commit, cannotBeStored } from './commit.ts'
import { afterCleanup, afterPostponement, afterRun, withoutRun, type TurnBasis } from './endings.ts'
import type { EngineOptions } from './engine-options.ts'
import { runInTime, type RunResult } from './run.ts'
import { withRunSpan } from './run-span.ts'
import { RunTimes } from './run-times.ts'

/** A control loop as its turns use it. */
interface Loop {
  readonly controller: Controller
  readonly engine: EngineOptions
  readonly limits: Limits
  readonly times: RunTimes
  readonly observe: RunObserver
  readonly advise: Advise
  readonly adviseOnRun: AdviseOnRun
}

/**
 * Turns of the keys of one controller: admit, run, next state, commit. Everything that is decided here depends on the
 * object; the wake-ups that led here only tell a timer that came too early.
 */
export function createReconcileKey(controller: Controller, engine: EngineOptions): TurnRunner {
  const advise = createAdvice(controller.name, { ...engine, nowMs: () => engine.clock.nowMs() })
  const loop: Loop = {
    controller,
    engine,
    limits: createLimits(controller, engine),
    times: new RunTimes(controller.timeoutMs, engine.clock),
    observe: createRunObserver(controller, engine),
    advise,
    adviseOnRun: createRunAdvice(controller, advise),
  }
  const isOwn = isOfKind(controller.kind)
  // The queue may hold keys of a controller for another kind, which had this name before.
  return (turn, signal) => (isOwn(turn.key) ? reconcileKey(loop, turn, signal) : turn.settle())
}

async function reconcileKey(loop: Loop, turn: Turn, signal: AbortSignal): Promise<void> {
  const entry = loop.limits.enter()
  try {
    for (let looks = 1; !(await take(loop, turn, { entry, signal })); looks++)
      if (looks === looksMax) throw neverStill()
  } finally {
    entry.shared?.leave()
  }
}

interface Entered {
  readonly entry: Entry
  readonly signal: AbortSignal
}

/** Whether the turn is over. If not, what was read is old: the object is looked at anew. */
async function take(loop: Loop, turn: Turn, { entry, signal }: Entered): Promise<boolean> {
  const { controller, engine } = loop
  const { group, kind: kindName } = controller.kind
  let kind = await engine.catalog.byKind(group, kindName)
  const stored = await engine.store.get(turn.key)
  let faults = stored && findFaults(loop, stored, kind)
  if (stored !== undefined && faults !== undefined && controller.kind.definition === undefined) {
    // What is known of a kind that others define may be older than the object.
    kind = await engine.catalog.byKind(group, kindName, freshKindsMs)
    faults = findFaults(loop, stored, kind)
  }
  const admission = admit({ controller, kind, stored, faults, turn, nowMs: engine.clock.nowMs() })
  if (admission.kind === 'retry') return isOver(turn.delay(admission.afterMs))
  if (admission.kind === 'drop' || stored === undefined || kind === undefined) return isOver(turn.settle())
  const basis = { turn, stored, kind, controller, facts: factsOf(loop, stored, kind) }
  if (admission.kind !== 'run') return isOver(commit(withoutRun(admission, basis), engine))
  const { shared } = entry
  const postponement = entry.postpone(stored, turn) ?? (shared && (await shared.postpone(stored, turn)))
  if (postponement?.kind === 'HotLoop') loop.advise('HotLoop', keyText(turn.key))
  if (postponement !== undefined) return isOver(commit(afterPostponement(postponement, basis), engine))
  if (shared !== undefined && (await shared.wait(stored, signal))) return false
  const begun = toBegunState(stored, controller)
  const written = begun === stored ? stored : await writeBegun(engine, begun)
  if (written === undefined || shared?.isLate() === true) return false
  const runBasis = written === stored ? basis : { ...basis, stored: written }
  await (engine.tracing === undefined
    ? run(loop, runBasis, signal)
    : withRunSpan(engine.tracing, written, controller.name, () => run(loop, runBasis, signal)))
  return true
}

/** Why this object cannot be given to the reconciler. */
function findFaults(loop: Loop, { object }: StoredObject, kind: ServedKind | undefined): string | undefined {
  return findRefusal(loop) ?? findSpecFaults(loop.controller.kind, object, kind)
}

/** Why no object of the kind can be given to this reconciler: what is served is not its kind. */
function findRefusal({ controller: { kind }, engine: { refusals } }: Loop): string | undefined {
  return refusals?.get(`${kind.group}/${kind.kind}`)
}

/** The object as its run begins with it. Undefined if it changed just now. */
async function writeBegun({ store }: EngineOptions, begun: StoredObject): Promise<StoredObject | undefined> {
  try {
    return await store.replace(begun, ['engine'])
  } catch (error) {
    if (isOvertakenWrite(error)) return undefined
    throw error
  }
}

async function run(loop: Loop, basis: TurnBasis, signal: AbortSignal): Promise<Verdict> {
  const { controller, engine, times } = loop
  const { stored, turn, kind } = basis
  const seen = loop.observe(stored, turn)
  const startMs = engine.clock.nowMs()
  const phase = isDeleting(stored.object) && isHeldBy(controller.finalizer, stored.object) ? 'cleanup' : 'reconcile'
  const time = times.begin(signal)
  let ran: RunResult
  try {
    ran = await runInTime({ controller, kind, stored, engine, seen, time, phase })
  } finally {
    times.end(time)
  }
  if (seen.secrets?.hasMasked === true) loop.advise('SecretTold', keyText(turn.key))
  const isCleanedUp = phase === 'cleanup' && ran.verdict.kind === 'done'
  try {
    await (isCleanedUp ? commit(afterCleanup(ran.live, basis), engine) : conclude(loop, { ran, basis, startMs }))
  } catch (error) {
    // It has acted all the same, and comes again.
    seen.end(verdictOf(error))
    throw error
  }
  seen.end(ran.verdict)
  return ran.verdict
}

interface Ended {
  readonly ran: RunResult
  readonly basis: TurnBasis
  readonly startMs: number
}

/**
 * Writes how a run ended. If that cannot be written, the object says so instead, and keeps nothing new of what the run
 * has noted and expects: it has no room for that.
 */
async function conclude(loop: Loop, { ran, basis, startMs }: Ended): Promise<void> {
  const { engine } = loop
  const retryDelayMs = await reserveRetry(engine, basis.stored.engine, ran.verdict)
  const facts = runFacts(loop, { ran, basis, startMs, retryDelayMs })
  loop.adviseOnRun({ stored: basis.stored, verdict: ran.verdict, ms: facts.nowMs - startMs })
  try {
    await commit(afterRun(ran, ran.verdict, { basis, facts }), engine)
  } catch (error) {
    if (!cannotBeStored(error)) throw error
    const { expectations = {}, secretPaths } = ran.live.engine.memory ?? {}
    // The notes stay as they were, and what is secret in them.
    const allPaths = joinSecretPaths(secretPaths, facts.secretPaths)
    const kept = { expectations, noteChanges: {}, ...(allPaths.length > 0 && { secretPaths: allPaths }) }
    const refused = { basis, facts: { ...facts, ...kept } }
    await commit({ ...afterRun(ran, verdictOf(error), refused), isStatusVital: false }, engine)
  }
}

function runFacts(
  { controller, engine, limits }: Loop,
  { ran, basis, startMs, retryDelayMs }: Ended & Pick<RunFacts, 'retryDelayMs'>,
): RunFacts {
  const { stored, kind, facts } = basis
  const { verdict, expectations, noteChanges, secretPaths } = ran
  const nowMs = engine.clock.nowMs()
  const known = {
    nowMs,
    chance: facts.chance,
    generation: facts.generation,
    showsStatus: facts.showsStatus,
    begunMs: startMs,
    request: stored.object.metadata.annotations?.[reconcileRequestAnnotation],
    wakeAtMs: stored.engine.wakeAtMs,
    reporter: { manager: controller.name, schema: kind.schema },
    expectations,
    noteChanges,
    secretPaths,
    retryDelayMs,
  }
  const againMs = verdict.kind === 'again' ? verdict.afterMs : undefined
  const { window, probeAtMs } = limits.countEnded(
    stored,
    { againMs, after: () => nextState(stored, verdict, known).object },
    nowMs,
  )
  return window === undefined && probeAtMs === undefined ? known : { ...known, window, probeAtMs }
}

function factsOf({ controller, engine }: Loop, { object }: StoredObject, kind: ServedKind): TurnBasis['facts'] {
  return {
    nowMs: engine.clock.nowMs(),
    chance: engine.random.next(),
    generation: object.metadata.generation,
    showsStatus: kind.hasStatus && controller.reportsStatus,
  }
}

async function isOver(end: Promise<void>): Promise<true> {
  await end
  return true
}

const looksMax = 10

/** The queue brings the turn again. */
function neverStill(): OperatingError {
  return new OperatingError('VERSION_CONFLICT', `the object changed during ${looksMax} looks at it`)
}
