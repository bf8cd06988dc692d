import { isAway } from '../../model/errors.ts'
import type { ObjectKey } from '../../model/object-key.ts'
import { slotsBetween, type Slots } from '../../model/wheel.ts'
import type { Logger } from '../../ports/logger.ts'
import type { DueTimer, KindName, ObjectIndex } from '../../ports/object-index.ts'
import type { WakeUp, WorkQueue } from '../../ports/work-queue.ts'
import type { NoteStored } from './references.ts'

/**
 * The tick: wakes the objects whose timers are due, and those whose slot the resync wheel has passed. Both only look
 * things up and send wake-ups; what is due is written in the objects, so a missed tick is made up for by the next.
 */
export interface SweepOptions {
  readonly index: ObjectIndex
  readonly queueOf: (controller: { readonly name: string }) => WorkQueue
  /** The controllers by the kind they are for. */
  readonly controllers: readonly SweptController[]
}

export interface SweptController {
  readonly name: string
  readonly kind: { readonly group: string; readonly kind: string }
  /** 0: never. */
  readonly resyncMs: number
  /** The kind of the keys to wake instead, of the same names. */
  readonly wakes?: KindName
  /** What it is woken by beside its own objects; absent if by nothing. */
  readonly watching?: Watching
}

/** Tells a controller from one of its name for another kind. */
export function sweptNameOf({ name, kind }: SweptController): string {
  return `${name} ${kind.kind}.${kind.group}`
}

/** What a control loop refers to and maps. */
export interface Watching {
  /** Another one, as soon as any of its watches is another. */
  readonly id: string
  /** Whose objects say who refers to whom: its own, and those that are mapped. */
  readonly kinds: readonly KindName[]
}

/**
 * Wakes all objects due within `aheadMs`; ahead of their time, they are held back for the rest by whoever receives
 * them. A page of each controller: those behind come with the next sweeps.
 */
export async function sweepTimers(options: SweepOptions, nowMs: number, aheadMs: number): Promise<void> {
  for (const controller of options.controllers) {
    const { timers } = await listDue(options, controller, nowMs + aheadMs)
    await wakeDue(options, controller, { timers, nowMs })
  }
}

export interface DuePage {
  readonly timers: readonly DueTimer[]
  /** Where the next page begins, if there is one. */
  readonly nextMs?: number
}

/** What is due until then, the earliest first, a page of it. */
export async function listDue(
  { index }: Pick<SweepOptions, 'index'>,
  { kind }: SweptController,
  untilMs: number,
  fromMs = 0,
): Promise<DuePage> {
  const timers = await index.due(kind, untilMs, timersPerPage, fromMs)
  if (timers.length < timersPerPage) return { timers }
  const { dueAtMs: lastMs } = timers.at(-1) as DueTimer
  // The next page has all of the last millisecond. Of more than a page the rest is late.
  const earlier = timers.filter(({ dueAtMs }) => dueAtMs < lastMs)
  return earlier.length > 0 ? { timers: earlier, nextMs: lastMs } : { timers, nextMs: lastMs + 1 }
}

/** How many are in memory. */
const timersPerPage = 1_000

export async function wakeDue(
  options: Pick<SweepOptions, 'queueOf'>,
  controller: SweptController,
  { timers, nowMs }: { readonly timers: readonly DueTimer[]; readonly nowMs: number },
): Promise<void> {
  await send(
    options,
    controller,
    timers.map((due) => timer(due, nowMs)),
  )
}

/**
 * Once more when it is late: a change may have used up the message that was sent ahead of its time, and left the timer
 * as it was.
 */
function timer({ key, dueAtMs }: DueTimer, nowMs: number): WakeUp {
  const dedupId = `${dueAtMs < nowMs ? 'late' : 'timer'}:${dueAtMs}`
  return { key, origin: 'timer', dedupId, lane: 'background', reason: 'its timer was due', notBeforeMs: dueAtMs }
}

/**
 * Wakes the objects whose slot the wheel's hand passed from one time to another, each at most once per period; how
 * many.
 */
export async function sweepWheel(options: SweepOptions, fromMs: number, toMs: number): Promise<number> {
  let woken = 0
  for (const controller of options.controllers) {
    const keys = await listPassed(options, controller, { fromMs, toMs })
    await wakePassed(options, controller, { keys, fromMs })
    woken += keys.length
  }
  return woken
}

/** The objects whose slot the hand passed. */
export async function listPassed(
  { index }: Pick<SweepOptions, 'index'>,
  { kind, resyncMs }: SweptController,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<readonly ObjectKey[]> {
  if (resyncMs === 0) return []
  const slots = slotsBetween(fromMs, toMs, resyncMs)
  return (await Promise.all(slots.map(({ from, to }) => index.onWheel(kind, from, to)))).flat()
}

export async function wakePassed(
  options: Pick<SweepOptions, 'queueOf'>,
  controller: SweptController,
  { keys, fromMs }: { readonly keys: readonly ObjectKey[]; readonly fromMs: number },
): Promise<void> {
  await send(
    options,
    controller,
    keys.map((key) => resync(key, fromMs)),
  )
}

function resync(key: ObjectKey, fromMs: number): WakeUp {
  const dedupId = `resync:${fromMs}`
  return { key, origin: 'resync', dedupId, lane: 'background', reason: 'resync', notBeforeMs: fromMs }
}

/** Wakes every object on these slots of the wheel; how many. Of one `dedupId`, each is woken once. */
export async function wakeSlots(
  options: SweepOptions,
  { from, to }: Slots,
  id: Pick<WakeUp, 'dedupId' | 'resourceVersion'>,
): Promise<number> {
  let woken = 0
  for (const controller of options.controllers) {
    const keys = await options.index.onWheel(controller.kind, from, to)
    await wakeKeys(options, controller, { keys, ...id })
    woken += keys.length
  }
  return woken
}

/** The same of these objects. */
export async function wakeKeys(
  options: Pick<SweepOptions, 'queueOf'>,
  controller: SweptController,
  { keys, ...id }: Pick<WakeUp, 'dedupId' | 'resourceVersion'> & { readonly keys: readonly ObjectKey[] },
): Promise<void> {
  await send(
    options,
    controller,
    keys.map((key) => ({ key, origin: 'change', ...id, lane: 'background', reason: 'all objects are looked at' })),
  )
}

export interface NoteOptions {
  readonly index: ObjectIndex
  readonly noteStored: NoteStored
  readonly logger: Logger
}

/**
 * Notes what the objects on these slots refer to; how many were looked at. One that fails by itself is passed over: the
 * relay notes it with its next change.
 */
export async function noteSlots(
  { index, noteStored, logger }: NoteOptions,
  kinds: readonly KindName[],
  { from, to }: Slots,
): Promise<number> {
  const keys = (await Promise.all(kinds.map((kind) => index.onWheel(kind, from, to)))).flat()
  const left = keys.values()
  const work = async (): Promise<void> => {
    for (const key of left) {
      try {
        await noteStored(key)
      } catch (error) {
        if (isAway(error)) throw error
        logger.error('its references are not noted', { ...key, error: String(error) })
      }
    }
  }
  await Promise.all(Array.from({ length: notesAtOnce }, work))
  return keys.length
}

const notesAtOnce = 20

async function send(
  { queueOf }: Pick<SweepOptions, 'queueOf'>,
  { name, wakes }: SweptController,
  wakeUps: readonly WakeUp[],
): Promise<void> {
  if (wakeUps.length > 0)
    await queueOf({ name }).send(wakeUps.map((one) => ({ ...one, key: { ...one.key, ...wakes } })))
}
