import { absentIfDamaged } from '../../../model/damage.ts'
import { keyOf, type ObjectKey } from '../../../model/object-key.ts'
import type { ApiObject } from '../../../model/object.ts'
import { dueAtMs } from '../../../model/engine-state.ts'
import type { StoredObject, Touched } from '../../../model/stored-object.ts'
import type { ObjectStore } from '../../../ports/object-store.ts'
import type { KindCatalog } from '../../../resources/kind-catalog.ts'
import type { Context } from '../../../reconciler/context.ts'
import type { Controller } from '../../../reconciler/controller.ts'
import { done, stop, withReport, type Outcome } from '../../../reconciler/outcome.ts'
import { createReconcileKey } from '../../turn/reconcile-key.ts'
import { isOutcome } from '../../turn/run.ts'
import { withWakeUpBy } from '../../turn/endings.ts'
import type { EngineOptions } from '../../turn/engine-options.ts'
import { asRead, findSpecFaults } from '../../state/as-read.ts'
import { specInvalid } from '../../state/refused-state.ts'
import type { Turn, TurnRunner } from '../../state/turn.ts'
import { writeNewest } from '../../turn/write-newest.ts'
import {
  isMarked,
  recordFinalizer,
  recordKey,
  recordKind,
  withHold,
  withoutMarks,
  withoutRemoved,
  type RemovedRecord,
} from '../../state/removed-record.ts'
import { createLastContext, forgetOwn } from './last-context.ts'

/**
 * Runs the keys of a controller that is also told of what was removed. A key stands for the object of that name and for
 * those that had the name before: their last runs go ahead of it, and it does not wait for them to succeed.
 */
export function createAllEventsRunner(controller: Controller, engine: EngineOptions): TurnRunner {
  const { store, clock, catalog } = engine
  const runPresent = createReconcileKey(controller, engine)
  const records = recordKind(controller.kind)
  const withRecords: KindCatalog = {
    ...catalog,
    byKind: async (group, kind) => (group === records.group ? records : catalog.byKind(group, kind)),
  }
  const { reserve } = engine
  const runRecord = createReconcileKey(createRemovedController(controller, engine), {
    ...engine,
    catalog: withRecords,
    // One limit for both.
    ...(reserve && { reserve: (_, ...how) => reserve(controller.name, ...how) }),
  })

  return async (turn, signal) => {
    const key = recordKey(turn.key)
    const record = await absentIfDamaged(() => store.get(key))
    if (record === undefined) return runPresent(turn, signal)
    const isAlone = (await store.get(turn.key)) === undefined
    if (!isAlone && !isDue(turn, record, clock.nowMs())) return runPresent(turn, signal)
    const opened = withHold(record)
    if (opened !== record) await store.replace(opened, touchedBy(record, opened))
    if (isAlone) return runRecord({ ...turn, key, hold: (ms) => holdUnlessMade(store, turn, ms) }, signal)
    if (isChange(turn)) await leaveWish(store, turn.key, clock.nowMs() + controller.timeoutMs)
    const part = firstPartOf(turn)
    await runRecord({ ...turn, key, ...part.turn }, signal)
    if (part.isEnded()) await runPresent(turn, signal)
  }
}

/** Holds a record. The relay found no hold to end for an object of the name that was made during the run. */
async function holdUnlessMade(store: ObjectStore, { key, hold }: Turn, ms: number): Promise<void> {
  await hold(ms)
  if (ms > 0 && (await absentIfDamaged(() => store.get(key))) !== undefined) await hold(0)
}

/** The store converts what it reads, and does not look into records. Only of what can be converted. */
function inPresentVersion({ kind: { conversion } }: Controller, object: ApiObject): ApiObject {
  return conversion === undefined ? object : conversion.convert(object, conversion.version)
}

/** The controller of the records: the clean-up that they wait for is the last run of each object. */
function createRemovedController(controller: Controller, { store }: EngineOptions): Controller {
  const { onRemoved: _, ...present } = controller
  const change = async (record: ApiObject, next: (live: StoredObject) => StoredObject): Promise<void> => {
    const nextOf = (live: StoredObject | undefined): StoredObject | undefined => live && next(live)
    await writeNewest(store, keyOf(record), nextOf, touchedBy)
  }
  /** Who was seen off is not run again, whatever becomes of the others: all of them may take longer than one run. */
  const cleanup = async (record: ApiObject, ctx: Context): Promise<Outcome> => {
    const { removed } = record as RemovedRecord
    for (const object of removed) {
      ctx.signal.throwIfAborted()
      const faults = findSpecFaults(controller.kind, object)
      if (faults !== undefined) throw withReport(stop(specInvalid, faults), { retryWithin: lookAgain })
      const last = inPresentVersion(controller, object)
      const lastContext = createLastContext(ctx, last, controller)
      const outcome = await controller.reconcile(asRead(controller.kind, last), lastContext)
      // What is no outcome is told as of any run.
      if (!isOutcome(outcome) || outcome.kind !== 'done') return outcome
      if (object === removed.at(-1)) break
      await change(record, (live) => withoutRemoved(live, record, object))
      forgetOwn(ctx, last)
    }
    if (isMarked(record)) await change(record, (live) => withoutMarks(live, record))
    return done()
  }
  return {
    ...present,
    name: `${controller.name}-removed`,
    kind: recordKind(controller.kind),
    finalizer: recordFinalizer,
    cleanup,
  }
}

function touchedBy(before: StoredObject, after: StoredObject): Touched {
  return after.engine === before.engine ? ['meta'] : ['meta', 'engine']
}

/** Nobody can correct what is gone; the next version of its reconciler may expect what it was. */
const lookAgain = '15m'

/**
 * The record's part of a turn that goes on with the object of that name; waits of the record are found by the sweep. If
 * its function runs on after its time, the turn does not go on: it comes again when the function has ended.
 */
function firstPartOf(turn: Turn): {
  readonly turn: Pick<Turn, 'hold' | 'delay' | 'isWanted' | 'isNearReceiveLimit' | 'settle'>
  isEnded(): boolean
} {
  let hasEnded = false
  let isLeft = false
  const end = async (): Promise<void> => {
    hasEnded = true
    if (isLeft) await turn.hold(0)
  }
  return {
    // No handle is recorded: whoever ended the record's wait by it would end the turn that goes on.
    turn: { hold: end, delay: end, isWanted: async () => false, isNearReceiveLimit: true, settle: end },
    isEnded: () => {
      isLeft = !hasEnded
      return hasEnded
    },
  }
}

/**
 * The object that is there now is to run by then. A turn counts as run with the time of its record, which may go on
 * after that: if the process ends meanwhile, nothing else says that the object has changed.
 */
async function leaveWish(store: ObjectStore, key: ObjectKey, atMs: number): Promise<void> {
  const wish = (live: StoredObject | undefined): StoredObject | undefined => live && withWakeUpBy(live, atMs)
  await writeNewest(store, key, wish, () => ['engine'])
}

function isChange({ wakeUps }: Turn): boolean {
  return wakeUps.some(({ origin }) => origin !== 'timer')
}

/**
 * Ahead of the object that is there now, the record has its first run, and one for what came to it since. After that it
 * goes by its own timers: a change of the object is not kept waiting by what fails. One that was stopped waits for
 * somebody to do something about it, as whoever made the new object did.
 */
function isDue(turn: Turn, record: StoredObject, nowMs: number): boolean {
  const { wait } = record.engine
  if (wait === undefined || wait.generation !== record.object.metadata.generation) return true
  return isChange(turn) ? wait.kind === 'Stopped' : (dueAtMs(record.engine) ?? Infinity) <= nowMs
}
