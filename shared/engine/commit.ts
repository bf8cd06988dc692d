import { hasCode } from '../model/errors.ts'
import { equal } from '../model/json.ts'
import { keyOf } from '../model/object-key.ts'
import { isDeleting } from '../model/object.ts'
import type { ServedKind } from '../model/served-kind.ts'
import type { StoredObject, Touched } from '../model/stored-object.ts'
import { conclude, concludePaused, type Conclusion, type RunFacts } from './conclusion.ts'
import type { Controller } from './controller.ts'
import type { EngineOptions } from './reconcile-key.ts'
import { shortWaitMsMax, type Turn } from './turn.ts'
import type { Verdict } from './verdict.ts'

/**
 * Ends turns: writes what a run changed, and only then lets go of the queue's messages. Nothing is written if nothing
 * changed. A write that another writer got ahead of is made again from the newest state, which may have moved on:
 *
 * - Hold and wake: a short wait first hides the message, then records its handle in the object, in the very write that would
 *   fail if the spec had moved. So either the wait is recorded, and whoever changes the spec next sees the handle and wakes
 *   it; or the spec had moved already, and the message is let go at once. No order of events leaves a change waiting.
 */
export interface Commit {
  verdict(stored: StoredObject, verdict: Verdict, end: RunEnd): Promise<void>
  paused(stored: StoredObject, turn: Turn, kind: ServedKind): Promise<void>
  /** Clean-up is over: our finalizer goes, and with the last finalizer the object. */
  released(stored: StoredObject, turn: Turn, finalizer: string): Promise<void>
  /** Nothing to do any more: no timer stays behind. */
  resting(stored: StoredObject, turn: Turn): Promise<void>
}

export interface RunEnd {
  readonly turn: Turn
  readonly controller: Controller
  readonly facts: Omit<RunFacts, 'nowMs'>
}

export function createCommit({ store, clock, events, logger }: EngineOptions): Commit {
  /** The state after `next`, tried on newer states until it is written. Undefined if the object is gone or another. */
  async function write(first: StoredObject, next: (live: StoredObject) => Next): Promise<StoredObject | undefined> {
    let live: StoredObject | undefined = first
    for (let tries = 1; live?.object.metadata.uid === first.object.metadata.uid; tries++) {
      const { stored, action } = next(live)
      if (action === undefined) return live
      try {
        return await (action === 'remove' ? store.remove(stored) : store.replace(stored, action))
      } catch (error) {
        if (!hasCode(error, 'VERSION_CONFLICT', 'NOT_FOUND') || tries === triesMax) throw error
        live = await store.get(keyOf(first.object))
      }
    }
    return undefined
  }

  async function verdict(stored: StoredObject, how: Verdict, { turn, controller, facts }: RunEnd): Promise<void> {
    const at: RunFacts = { ...facts, nowMs: clock.nowMs() }
    const waitMs = shortWait(conclude(stored, how, at), at)
    const hold = waitMs === undefined ? undefined : await turn.hold(waitMs)
    const after = await write(stored, (live) => {
      const conclusion = conclude(live, how, at)
      return changed(
        live,
        hold === undefined || isOvertaken(live, at)
          ? conclusion
          : { ...conclusion, engine: { ...conclusion.engine, hold } },
      )
    })
    await report(stored, how, controller)
    if (hold === undefined) return turn.settle()
    if (after === undefined || isOvertaken(after, at)) return turn.release()
  }

  async function report({ object }: StoredObject, how: Verdict, { name }: Controller): Promise<void> {
    if (how.kind === 'done' || how.kind === 'again' || (how.kind === 'failed' && how.quiet)) return
    const reason = how.kind === 'retryAfter' ? 'RetryAfter' : how.reason
    logger.warn('reconcile did not succeed', {
      controller: name,
      namespace: object.metadata.namespace ?? '',
      name: object.metadata.name,
      outcome: how.kind,
      reason,
      error: how.message,
    })
    await events.record(object, { type: 'Warning', reason, message: how.message, component: name })
  }

  return {
    verdict,
    paused: async (stored, turn, kind) => {
      const facts = {
        nowMs: clock.nowMs(),
        chance: 0,
        generation: stored.object.metadata.generation,
        hasStatus: kind.hasStatus,
      }
      await write(stored, (live) => changed(live, concludePaused(live, facts)))
      await turn.settle()
    },
    released: async (stored, turn, finalizer) => {
      await write(stored, (live) => withoutFinalizer(live, finalizer))
      await turn.settle()
    },
    resting: async (stored, turn) => {
      await write(stored, (live) => changed(live, { object: live.object, engine: {} }))
      await turn.settle()
    },
  }
}

const triesMax = 10

interface Next {
  readonly stored: StoredObject
  /** Undefined: nothing to write. */
  readonly action?: Touched | 'remove'
}

function changed(live: StoredObject, { object, engine }: Conclusion): Next {
  const stored = { object, engine }
  const touched: Touched = [
    ...(equal(live.object.status, object.status) ? [] : (['status'] as const)),
    ...(equal(live.engine, engine) ? [] : (['engine'] as const)),
  ]
  return touched.length === 0 ? { stored } : { stored, action: touched }
}

function withoutFinalizer(live: StoredObject, finalizer: string): Next {
  const { finalizers = [], ...metadata } = live.object.metadata
  if (!finalizers.includes(finalizer)) return { stored: live }
  const left = finalizers.filter((name) => name !== finalizer)
  const object = { ...live.object, metadata: left.length === 0 ? metadata : { ...metadata, finalizers: left } }
  return { stored: { object, engine: {} }, action: left.length === 0 && isDeleting(object) ? 'remove' : ['meta'] }
}

/** How long the message itself is held: the waits that the sweep is too coarse for. */
function shortWait({ engine }: Conclusion, { nowMs }: RunFacts): number | undefined {
  if (engine.nextRunAtMs === undefined) return undefined
  const waitMs = Math.max(0, engine.nextRunAtMs - nowMs)
  return waitMs <= shortWaitMsMax ? waitMs : undefined
}

function isOvertaken({ object }: StoredObject, { generation }: RunFacts): boolean {
  return object.metadata.generation !== generation
}
