import { absentIfDamaged } from '../../model/damage.ts'
import { hasCode } from '../../model/errors.ts'
import { equal } from '../../model/json.ts'
import { keyText, type ObjectKey } from '../../model/object-key.ts'
import type { ApiObject } from '../../model/object.ts'
import type { StoredObject, Touched } from '../../model/stored-object.ts'
import type { WakeUp, WorkQueue } from '../../ports/work-queue.ts'
import { allControllers, controlLoopNames, type ControlLoopsOptions } from './control-loops.ts'
import type { Controller } from '../../reconciler/controller.ts'
import { fanOutName, withWish } from '../wake/fan-out.ts'
import { isOfKind } from '../../reconciler/kind.ts'
import { notEnded, slowBackoffMs, toStalledState } from '../state/stalled-state.ts'
import type { TurnFacts } from '../state/run-facts.ts'
import { recordKey } from '../state/removed-record.ts'
import { writeNewest } from '../turn/write-newest.ts'

/** A wake-up that the queue gave up: it was handed out too often, and no turn of it came to its end. */
export interface DeadMessage {
  /** Names the queue it was in. */
  readonly loop: string
  readonly wakeUp: WakeUp
}

/**
 * Takes in dead messages, so that none is a key forgotten: its object says that it is Stalled and why, there is an
 * event, and the next run is a timer in the object, a quarter of an hour away. Nothing happens for an object that is
 * gone, or damaged, which the log then says: what puts it back is a write, and wakes it. The same message once more
 * changes nothing while that timer runs. That of a fan-out becomes a late timer in the object; once more, it moves the
 * timer by a millisecond, since nobody knows whether the run that will strike out the timer has seen the change. A
 * wake-up of the engine's own loops, whose object has no timer of theirs, is sent again; that of a loop that is no more
 * is dropped, since it would come back for ever. Rejects if the store or the queue refuses; the message is then to come
 * again.
 */
export type DeadLetters = (message: DeadMessage) => Promise<void>

export interface DeadLettersOptions extends ControlLoopsOptions {
  readonly queueOf: (loop: { readonly name: string }) => WorkQueue
}

export function createDeadLetters(options: DeadLettersOptions): DeadLetters {
  const { store, catalog, clock, random, events, logger, queueOf } = options
  const controllers = new Map(allControllers(options).map((controller) => [controller.name, controller]))
  const loops = new Set(controlLoopNames(options))
  const fanOuts = new Set(options.controllers.map(fanOutName))

  return async ({ loop, wakeUp }) => {
    const controller = controllers.get(loop)
    if (controller !== undefined) return takeIn(controller, wakeUp.key)
    if (fanOuts.has(loop)) await change(wakeUp.key, withLateWakeUp)
    else if (loops.has(loop))
      await queueOf({ name: loop }).send([{ ...wakeUp, dedupId: random.uuid(), lane: 'background' }])
    else logger.warn('dead letter for an unknown control loop', { loop, name: wakeUp.key.name })
  }

  async function takeIn(controller: Controller, key: ObjectKey): Promise<void> {
    // Of a controller for another kind that had the name before.
    if (!isOfKind(controller.kind)(key)) return
    const kind = await catalog.byKind(key.group, key.kind)
    const showsStatus = controller.reportsStatus && kind?.hasStatus === true
    const stall = (shows: boolean) => (live: StoredObject, facts: Pick<TurnFacts, 'nowMs' | 'chance'>) =>
      toStalledState(live, { ...facts, showsStatus: shows })
    const written = await change(key, stall(showsStatus)).catch((error: unknown) => {
      if (!hasCode(error, 'TOO_LARGE')) throw error
      return change(key, stall(false))
    })
    if (controller.onRemoved === 'reconcile') await change(recordKey(key), stall(false))
    if (written !== undefined)
      await events.record(written, { type: 'Warning', ...notEnded, component: controller.name })
  }

  /** The object as it was written; undefined if it is gone or damaged, or nothing was to be written. */
  async function change(
    key: ObjectKey,
    next: (live: StoredObject, facts: Pick<TurnFacts, 'nowMs' | 'chance'>) => StoredObject,
  ): Promise<ApiObject | undefined> {
    const chance = random.next()
    const again = (live: StoredObject | undefined): StoredObject | undefined =>
      live && next(live, { nowMs: clock.nowMs(), chance })
    const newest = await absentIfDamaged(() => writeNewest(store, key, again, findTouchedParts))
    if (newest === undefined) logger.error('dead letter dropped: its object is damaged', { key: keyText(key) })
    return newest?.isWritten === true ? newest.stored?.object : undefined
  }
}

/** A status that is as it was is not written. */
function findTouchedParts(live: StoredObject, after: StoredObject): Touched {
  return equal(live.object.status, after.object.status) ? ['engine'] : ['status', 'engine']
}

/** What was to become a timer, as a late one. */
function withLateWakeUp(live: StoredObject, { nowMs, chance }: Pick<TurnFacts, 'nowMs' | 'chance'>): StoredObject {
  return withWish(live, nowMs + slowBackoffMs(chance))
}
