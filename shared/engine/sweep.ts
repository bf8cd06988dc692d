import type { ObjectKey } from '../model/object-key.ts'
import { slotsBetween } from '../model/wheel.ts'
import type { ObjectIndex } from '../ports/object-index.ts'
import type { WakeUp, WorkQueue } from '../ports/work-queue.ts'

/**
 * The tick: wakes the objects whose timers are due, and those whose slot the resync wheel has passed. Both only look things
 * up and send wake-ups; what is due is written in the objects, so a missed tick is made up for by the next.
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
}

/** Wakes all objects due by `untilMs`; ahead of their time, they are held back for the rest by whoever receives them. */
export async function sweepTimers({ index, queueOf, controllers }: SweepOptions, untilMs: number): Promise<number> {
  const byKind = new Map(
    controllers.map((controller) => [`${controller.kind.group}/${controller.kind.kind}`, controller]),
  )
  const due = await index.due(untilMs, duePerSweep)
  for (const [kind, timers] of Map.groupBy(due, ({ key }) => `${key.group}/${key.kind}`)) {
    const controller = byKind.get(kind)
    if (controller !== undefined) await queueOf(controller).send(timers.map(({ key, dueAtMs }) => timer(key, dueAtMs)))
  }
  return due.length
}

const duePerSweep = 1_000

function timer(key: ObjectKey, dueAtMs: number): WakeUp {
  return { key, dedupId: `timer:${dueAtMs}`, lane: 'background', reason: 'its timer was due', notBeforeMs: dueAtMs }
}

/** Wakes the objects whose slot the wheel's hand passed from one time to another, each at most once per period. */
export async function sweepWheel(
  { index, queueOf, controllers }: SweepOptions,
  fromMs: number,
  toMs: number,
): Promise<void> {
  for (const { name, kind, resyncMs } of controllers) {
    if (resyncMs === 0) continue
    for (const { from, to } of slotsBetween(fromMs, toMs, resyncMs)) {
      const keys = await index.onWheel(kind, from, to)
      await queueOf({ name }).send(keys.map((key) => resync(key, toMs)))
    }
  }
}

function resync(key: ObjectKey, tickMs: number): WakeUp {
  return { key, dedupId: `resync:${tickMs}`, lane: 'background', reason: 'resync' }
}
