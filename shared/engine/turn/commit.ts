import { hasCode, OperatingError } from '../../model/errors.ts'
import { proceed, type Eventual } from '../../model/eventual.ts'
import { keyOf } from '../../model/object-key.ts'
import { isOvertakenWrite, onNewest } from '../../model/on-newest.ts'
import { touches, type StoredObject, type Touched } from '../../model/stored-object.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Controller } from '../../reconciler/controller.ts'
import type { EventRecorder, RecordedEvent } from '../insight/event-recorder.ts'
import { refersToMore } from '../state/new-references.ts'
import type { Turn } from '../state/turn.ts'
import { isOvertaken, writeOf, type Release } from '../state/writes.ts'

/** How a turn ends: what is written into its object, and what becomes of its messages. */
export interface Ending {
  readonly turn: Turn
  /** The object as the turn began with it. */
  readonly begun: StoredObject
  readonly controller: Pick<Controller, 'kind' | 'references'>
  /** The newest state of the object that the turn knows. Left out: as it began. */
  readonly live?: StoredObject
  /** The next state of the object. Pure: it is asked again for a newer state after a conflict. */
  readonly next: (live: StoredObject, showsStatus: boolean) => StoredObject
  /** The kind keeps a status, and the controller reports it. */
  readonly showsStatus: boolean
  /** What the status says must be stored. Otherwise an object that is full keeps the status that it has. */
  readonly isStatusVital: boolean
  readonly release: Release
  /** What people are told once it is written. */
  readonly event?: RecordedEvent | undefined
  /** The end of a function that still runs though its time is over. Until then no other turn of the key begins. */
  readonly overrun?: Promise<unknown> | undefined
}

export interface CommitPorts {
  readonly store: ObjectStore
  readonly clock: Clock
  readonly events: EventRecorder
  readonly logger: Logger
}

/**
 * Ends a turn: writes what changed, and only then releases the messages. Nothing is written if nothing changed. After a
 * conflict the write is made again from the newest state.
 *
 * Hold and wake: a short wait is one write and then a hidden message. The write carries status, wait and the message's
 * handle; the handle on condition that nothing has changed since the turn began that wakes the object. So either the
 * handle is recorded, and a later change finds it and wakes the key; or something had changed, and the message is
 * released at once. A wake that comes before the message is hidden makes the handle stale, and hiding it does nothing.
 * No order of events leaves a change waiting. The write comes first: the next run sees the status, however short the
 * wait. (docs/decisions/0009)
 */
export async function commit(ending: Ending, ports: CommitPorts): Promise<void> {
  if (ending.overrun !== undefined) return commitAfter(ending.overrun, ending, ports)
  await release(ending, await writeAndReport(ending, ports), ports)
}

/**
 * A turn whose function goes on after its time holds the key until the function ends. Its slot is free until then. If
 * its end cannot be written, the turn rejects with OverrunError, and comes again then, or with the next process:
 * nothing in the object tells of it. An end that no object can hold is told to the caller, who has another.
 */
async function commitAfter(overrun: Promise<unknown>, ending: Ending, ports: CommitPorts): Promise<void> {
  const { turn } = ending
  const endWith = (end: () => Promise<void>): void =>
    void overrun.then(end).catch((error: unknown) => logUnended(turn, error, ports))
  try {
    await writeAndReport(ending, ports)
  } catch (error) {
    if (cannotBeStored(error)) throw error
    logUnended(turn, error, ports)
    endWith(() => turn.hold(0))
    throw new OverrunError('the end of a run could not be written, and its function still runs', { cause: error })
  }
  endWith(() => turn.settle())
}

/** What the run reports is no JSON, or more than an object may hold. */
export function cannotBeStored(error: unknown): boolean {
  return error instanceof TypeError || hasCode(error, 'TOO_LARGE')
}

/** The holder of the message leaves it as it is. The message comes again when the function has ended for certain. */
export class OverrunError extends Error {
  override readonly name = 'OverrunError'
}

export function logUnended(
  { key: { kind, namespace, name } }: Turn,
  error: unknown,
  { logger }: Pick<CommitPorts, 'logger'>,
): void {
  const about = { kind, namespace, name, error: String(error) }
  logger.error('turn not ended; it is redelivered after its visibility timeout', about)
}

function release(ending: Ending, written: StoredObject | undefined, ports: CommitPorts): Promise<void> {
  return ending.release.kind === 'hold'
    ? holdMessage(ending.turn, ending.release, written, ports)
    : ending.turn.settle()
}

async function holdMessage(
  turn: Turn,
  how: Extract<Release, { readonly kind: 'hold' }>,
  written: StoredObject | undefined,
  { clock, logger }: CommitPorts,
): Promise<void> {
  const isRecorded = !how.isWakeable || written?.engine.hold?.handle === turn.handle
  // Where nothing could end the hold, the turn comes again at once.
  const waitMs = isRecorded ? Math.max(0, how.untilMs - clock.nowMs()) : 0
  const hide = (): Promise<void> => (how.isOpen === true ? turn.delay(waitMs) : turn.hold(waitMs))
  if (!how.isTimed) await hide()
  else if (!(await tryHiding(hide, turn, logger))) return turn.settle()
  if (isRecorded && how.isWakeable && (await turn.isWanted())) await turn.hold(0)
}

/**
 * A queue that does not hide the message is not asked again: the object has the time, and the sweep wakes it. Were the
 * message to come again ahead of that time, it would look as if a change had ended its hold.
 */
async function tryHiding(hide: () => Promise<void>, { key }: Turn, logger: Logger): Promise<boolean> {
  try {
    await hide()
    return true
  } catch (error) {
    const { kind, namespace, name } = key
    logger.warn('message not hidden; the timer of its object is swept', { kind, namespace, name, error: String(error) })
    return false
  }
}

async function writeAndReport(ending: Ending, ports: CommitPorts): Promise<StoredObject | undefined> {
  try {
    const written = isAsWanted(ending) ? ending.live : await write(ending, ending.showsStatus, ports)
    await report(ending, ports)
    return written
  } catch (error) {
    if (!hasCode(error, 'TOO_LARGE') || !ending.showsStatus || ending.isStatusVital) throw error
    return writeWithoutStatus(ending, ports)
  }
}

/** Whether that is over: false if people are to be told, and may be later. */
async function report({ begun, event }: Ending, { events }: CommitPorts): Promise<boolean> {
  return event === undefined || (await events.record(begun.object, event))
}

/**
 * An object that is full has no room for conditions. The engine's own fields say why it waits, and to people the event
 * alone does: it goes first, and the turn comes again if it may be recorded then.
 */
async function writeWithoutStatus(ending: Ending, ports: CommitPorts): Promise<StoredObject | undefined> {
  if (await report(ending, ports)) return write(ending, false, ports)
  throw new OperatingError('UNAVAILABLE', 'the object has no room for its status, and no event can say so yet')
}

/** Nothing is to be written, as after most runs. */
function isAsWanted({ begun, live = begun, next, showsStatus, release: { kind } }: Ending): boolean {
  return kind !== 'hold' && writeOf(live, next(live, showsStatus)).kind === 'none'
}

/** The state as it is written. Undefined if the object is gone, or another one has its name. */
function write(ending: Ending, showsStatus: boolean, { store }: CommitPorts): Promise<StoredObject | undefined> {
  const { begun } = ending
  const attempt = (live: StoredObject | undefined): Attempted => {
    if (live?.object.metadata.uid !== begun.object.metadata.uid) return undefined
    return writeOnce(live, withHandle(ending.next(live, showsStatus), live, ending), { store, ending })
  }
  return onNewest(
    (tries) => (tries === 1 ? attempt(ending.live ?? begun) : proceed(store.get(keyOf(begun.object)), attempt)),
    { isConflict: isOvertakenWrite },
  )
}

type Attempted = Eventual<StoredObject | undefined>

function writeOnce(
  live: StoredObject,
  next: StoredObject,
  { store, ending }: Pick<CommitPorts, 'store'> & { readonly ending: Ending },
): Attempted {
  const choice = writeOf(live, next)
  switch (choice.kind) {
    case 'none':
      return live
    case 'remove':
      return store.remove(next)
    case 'replace':
      return store.replace(next, [...choice.touched, ...requestsOf({ live, next, touched: choice.touched }, ending)])
  }
}

/** Parts that ask the relay for something. The relay reads them together with the write. */
function requestsOf(
  { live, next, touched }: { readonly live: StoredObject; readonly next: StoredObject; readonly touched: Touched },
  { controller, release: { kind } }: Ending,
): Touched {
  const isNews = touches(touched, 'status') && refersToMore(controller, { before: live.object, after: next.object })
  return [...(isNews ? (['references'] as const) : []), ...(kind === 'settleWithTimer' ? (['timer'] as const) : [])]
}

/** The state with the handle of its wait, if a change could end it and none has come yet. */
function withHandle(next: StoredObject, live: StoredObject, { turn, begun, release: how }: Ending): StoredObject {
  if (how.kind !== 'hold' || !how.isWakeable || isOvertaken(begun, live)) return next
  const hold = { handle: turn.handle, untilMs: how.untilMs, receives: turn.receiveCount }
  return { object: next.object, engine: { ...next.engine, hold } }
}
