import type { ObjectKey } from '../../model/object-key.ts'
import { slotsBetween, type Slots } from '../../model/wheel.ts'
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

/** What a control loop refers to and maps. */
export interface Watching {
  /** Another one, as soon as any of its watches is another. */
  readonly id: string
  /** Whose objects say who refers to whom: its own, and those that are mapped. */
  readonly kinds: readonly KindName[]
}

/**
 * Wakes all objects due within `aheadMs`, how many; ahead of their time, they are held back for the rest by whoever
 * receives them.
 */
export async function sweepTimers(options: SweepOptions, nowMs: number, aheadMs: number): Promise<number> {
  let woken = 0
  for (const controller of options.controllers) {
    const timers = await options.index.due(controller.kind, nowMs + aheadMs, duePerSweep)
    await send(
      options,
      controller,
      timers.map((due) => timer(due, nowMs)),
    )
    woken += timers.length
  }
  return woken
}

/** Those behind come with the next sweeps: no kind keeps the others waiting, and no queue grows without end. */
export const duePerSweep = 1_000

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
    if (controller.resyncMs === 0) continue
    for (const { from, to } of slotsBetween(fromMs, toMs, controller.resyncMs)) {
      const keys = await options.index.onWheel(controller.kind, from, to)
      await send(
        options,
        controller,
        keys.map((key) => resync(key, fromMs)),
      )
      woken += keys.length
    }
  }
  return woken
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
    await send(
      options,
      controller,
      keys.map((key) => ({ key, origin: 'change', ...id, lane: 'background', reason: 'all objects are looked at' })),
    )
    woken += keys.length
  }
  return woken
}

/** Notes what the objects on these slots refer to; how many were looked at. */
export async function noteSlots(
  { index, noteStored }: { readonly index: ObjectIndex; readonly noteStored: NoteStored },
  kinds: readonly KindName[],
  { from, to }: Slots,
): Promise<number> {
  const keys = (await Promise.all(kinds.map((kind) => index.onWheel(kind, from, to)))).flat()
  const left = keys.values()
  const work = async (): Promise<void> => {
    for (const key of left) await noteStored(key)
  }
  await Promise.all(Array.from({ length: notesAtOnce }, work))
  return keys.length
}

const notesAtOnce = 20

async function send(
  { queueOf }: SweepOptions,
  { name, wakes }: SweptController,
  wakeUps: readonly WakeUp[],
): Promise<void> {
  if (wakeUps.length > 0)
    await queueOf({ name }).send(wakeUps.map((one) => ({ ...one, key: { ...one.key, ...wakes } })))
}
