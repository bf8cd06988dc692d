import { hasCode } from '../../model/errors.ts'
import { equal } from '../../model/json.ts'
import { keyOf } from '../../model/object-key.ts'
import { isDeleting } from '../../model/object.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import { dueAtMs, wakesItself, type EngineState, type StoredObject, type Touched } from '../../model/stored-object.ts'
import { touchedBy } from '../../resources/transitions.ts'
import { conclude, concludePaused, type Conclusion, type RunFacts } from '../state/conclusion.ts'
import type { Controller } from '../../reconciler/controller.ts'
import { notEnded, slowBackoffMs, stalled } from '../state/not-ended.ts'
import { postponed, type Postponement } from '../state/postponement.ts'
import type { EngineOptions } from './engine-options.ts'
import { shortWaitMsMax, type Turn } from '../state/turn.ts'
import { verdictOf, type Verdict } from '../../reconciler/verdict.ts'

/**
 * Ends turns: writes what a run changed, and only then lets go of the queue's messages. Nothing is written if nothing
 * changed. A write that another writer got ahead of is made again from the newest state, which may have moved on.
 *
 * Hold and wake: a short wait is one write and then a hidden message. The write carries status, wait and the message's handle, the
 * handle on condition that nothing has changed since the run began that wakes the object. So either the handle is recorded, and
 * whoever changes the object later finds it and wakes the key; or something had changed, and the message is let go at once. A wake
 * that comes before the message is hidden makes the handle stale, and hiding it does nothing. No order of events leaves a
 * change waiting. The write comes first: the next run sees the status, however short the wait. (docs/decisions/0009)
 */
export interface Commit {
  verdict(run: EndedRun): Promise<void>
  paused(stored: StoredObject, turn: Turn, kind: ServedKind): Promise<void>
  /** Clean-up is over: our finalizer goes, and with the last finalizer the object. */
  released(stored: StoredObject, turn: Turn, finalizer: string): Promise<void>
  /** Nothing to do any more: no timer stays behind. */
  resting(stored: StoredObject, turn: Turn): Promise<void>
  /** The object may not run now. */
  postponed(stored: StoredObject, turn: Turn, how: PostponedTurn): Promise<void>
  /** Its runs do not come to their end: it says so, and is tried again much later. */
  notEnded(stored: StoredObject, turn: Turn, how: NotEndedTurn): Promise<void>
  /** The turn is to wait for longer than a message is held: the sweep finds it, if the object has no earlier timer. */
  later(stored: StoredObject, turn: Turn, atMs: number): Promise<void>
  /** The object's timer is not due yet: the turn is held until then. */
  early(stored: StoredObject, turn: Turn, untilMs: number): Promise<void>
}

export interface EndedRun {
  readonly turn: Turn
  readonly controller: Controller
  /** The object as the run was given it. */
  readonly stored: StoredObject
  /** The newest state of it that the run knows. */
  readonly live: StoredObject
  readonly verdict: Verdict
  readonly facts: Omit<RunFacts, 'nowMs'>
  /** The end of a function that still runs though its time is over. Until then no other turn of the key begins. */
  readonly overrun: Promise<unknown> | undefined
}

export interface PostponedTurn {
  readonly postponement: Postponement
  readonly facts: Omit<RunFacts, 'nowMs'>
}

export interface NotEndedTurn {
  readonly controller: Pick<Controller, 'name'>
  /** Its kind keeps a status, and the controller reports it. */
  readonly showsStatus: boolean
}

interface Rest {
  readonly turn: Turn
  /** The object as the turn began with it. */
  readonly stored: StoredObject
  readonly live: StoredObject
  readonly untilMs: number
}

interface Recorded {
  readonly isRecorded: boolean
}

export function createCommit({ store, clock, random, events, logger }: EngineOptions): Commit {
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

  async function verdict(run: EndedRun): Promise<void> {
    try {
      await endRun(run)
    } catch (error) {
      if (!isUnwritable(error)) throw error
      await fitting(run.facts, (facts) => endRun({ ...run, verdict: verdictOf(error), facts }))
    }
  }

  /** An object that is full has no room for conditions. The engine's own fields say why it waits. */
  async function fitting<Facts extends Pick<RunFacts, 'hasStatus'>>(
    facts: Facts,
    end: (facts: Facts) => Promise<void>,
  ): Promise<void> {
    try {
      await end(facts)
    } catch (error) {
      if (!hasCode(error, 'TOO_LARGE') || !facts.hasStatus) throw error
      await end({ ...facts, hasStatus: false })
    }
  }

  async function endRun(run: EndedRun): Promise<void> {
    const { turn, controller, stored, live: first, verdict: how, overrun } = run
    const facts: RunFacts = { ...run.facts, nowMs: clock.nowMs() }
    const next = (live: StoredObject): Conclusion => conclude(live, how, facts)
    const untilMs = shortWaitEnd(next(stored).engine, facts.nowMs)
    if (untilMs === undefined || turn.isWorn || overrun !== undefined) {
      const tell = async (): Promise<void> => {
        const timer: Touched = untilMs !== undefined && overrun === undefined ? ['timer'] : []
        await write(first, (live) => changed(live, next(live), timer))
        await report(stored, how, controller)
      }
      if (overrun !== undefined) return endAfter(overrun, turn, tell)
      await tell()
      return turn.settle()
    }
    const isRecorded = await recordHold({ turn, stored, live: first, untilMs }, next)
    await report(stored, how, controller)
    await hide({ turn, untilMs, isRecorded })
  }

  /**
   * A turn whose function goes on after its time holds the key until the function ends, whether or not it can be written how it
   * ended: if not, the turn comes again then. Its slot is free meanwhile.
   */
  async function endAfter(overrun: Promise<unknown>, turn: Turn, tell: () => Promise<void>): Promise<void> {
    let end = (): Promise<void> => turn.settle()
    try {
      await tell()
    } catch (error) {
      notReleased(turn, error)
      end = () => turn.hold(0)
    }
    void overrun.then(() => end()).catch((error: unknown) => notReleased(turn, error))
  }

  /** Writes the wait, and if it may, how to end it. Whether that is recorded. */
  async function recordHold(
    { turn, stored, live: first, untilMs }: Rest,
    next: (live: StoredObject) => Conclusion,
  ): Promise<boolean> {
    const hold = { handle: turn.handle, untilMs, receives: turn.receiveCount }
    const after = await write(first, (live) => {
      const { object, engine } = next(live)
      return changed(live, { object, engine: isOvertaken(stored, live) ? engine : { ...engine, hold } })
    })
    return after?.engine.hold?.handle === turn.handle
  }

  /** Begins the wait, or lets the turn come again at once: nobody could end it. */
  async function hide({ turn, untilMs, isRecorded }: Pick<Rest, 'turn' | 'untilMs'> & Recorded): Promise<void> {
    await turn.hold(isRecorded ? Math.max(0, untilMs - clock.nowMs()) : 0)
    if (isRecorded && (await turn.isWanted())) await turn.hold(0)
  }

  function notReleased({ key: { kind, namespace, name } }: Turn, error: unknown): void {
    logger.error('turn not ended; it comes again after its visibility timeout', {
      kind,
      namespace,
      name,
      error: String(error),
    })
  }

  async function report({ object }: StoredObject, how: Verdict, { name }: Controller): Promise<void> {
    if (how.kind === 'done' || how.kind === 'again' || (how.kind === 'failed' && how.quiet)) return
    const reason = how.kind === 'retryAfter' ? 'RetryAfter' : how.reason
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
      await fitting(facts, async (given) => {
        await write(stored, (live) => changed(live, concludePaused(live, given)))
      })
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
    postponed: async (stored, turn, { postponement, facts }) => {
      const nowMs = clock.nowMs()
      const isShort = postponement.waiting === 'RateLimited' && postponement.untilMs - nowMs <= shortWaitMsMax
      const timer: Touched = isShort && turn.isWorn ? ['timer'] : []
      await fitting({ ...facts, nowMs }, async (given) => {
        await write(stored, (live) => changed(live, postponed(live, postponement, given), timer))
      })
      // No handle is recorded: whoever wakes the key could not make it run sooner.
      await (isShort && !turn.isWorn ? turn.hold(Math.max(0, postponement.untilMs - nowMs)) : turn.settle())
    },
    notEnded: async (stored, turn, { controller, showsStatus }) => {
      const nowMs = clock.nowMs()
      const retryAtMs = nowMs + slowBackoffMs(random.next())
      await fitting({ hasStatus: showsStatus }, async ({ hasStatus }) => {
        await write(stored, (live) => changed(live, stalled(live, { nowMs, retryAtMs, showsStatus: hasStatus })))
      })
      await events.record(stored.object, { type: 'Warning', ...notEnded, component: controller.name })
      await turn.settle()
    },
    later: async (stored, turn, atMs) => {
      await write(stored, (live) => {
        const isKnown = (dueAtMs(live.engine) ?? Infinity) <= atMs
        return isKnown ? { stored: live } : changed(live, { ...live, engine: { ...live.engine, wakeAtMs: atMs } })
      })
      await turn.settle()
    },
    early: async (stored, turn, untilMs) => {
      // Whoever wakes it could not make it run sooner.
      const isLimited = stored.engine.waiting === 'RateLimited'
      const isRecorded = isLimited || (await recordHold({ turn, stored, live: stored, untilMs }, (live) => live))
      await hide({ turn, untilMs, isRecorded })
    },
  }
}

const triesMax = 10

/** What the run said is no JSON, or more than an object may hold: the object says so instead. */
function isUnwritable(error: unknown): boolean {
  return error instanceof TypeError || hasCode(error, 'TOO_LARGE')
}

interface Next {
  readonly stored: StoredObject
  /** Undefined: nothing to write. */
  readonly action?: Touched | 'remove'
}

function changed(live: StoredObject, { object, engine }: Conclusion, timer: Touched = []): Next {
  const stored = { object, engine }
  const touched: Touched = [
    ...(equal(live.object.status, object.status) ? [] : (['status'] as const)),
    ...(equal(live.engine, engine) ? [] : (['engine'] as const)),
  ]
  return touched.length === 0 ? { stored } : { stored, action: [...touched, ...timer] }
}

function withoutFinalizer(live: StoredObject, finalizer: string): Next {
  const { finalizers = [], ...metadata } = live.object.metadata
  if (!finalizers.includes(finalizer)) return { stored: live }
  const left = finalizers.filter((name) => name !== finalizer)
  const object = { ...live.object, metadata: left.length === 0 ? metadata : { ...metadata, finalizers: left } }
  if (left.length === 0 && isDeleting(object)) return { stored: { object, engine: {} }, action: 'remove' }
  // Somebody else holds it, who may have wished for a run.
  const { wakeAtMs } = live.engine
  return { stored: { object, engine: wakeAtMs === undefined ? {} : { wakeAtMs } }, action: ['meta'] }
}

/** Until when the message itself is held: for the waits that the sweep is too coarse for. */
function shortWaitEnd(engine: EngineState, nowMs: number): number | undefined {
  const untilMs = dueAtMs(engine)
  return untilMs !== undefined && untilMs - nowMs <= shortWaitMsMax ? untilMs : undefined
}

/** Something that wakes the object has changed since the run began. */
function isOvertaken(begun: StoredObject, live: StoredObject): boolean {
  return wakesItself(touchedBy(begun.object, live.object))
}
