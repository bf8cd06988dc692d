import { keyText, type ObjectKey } from '../model/object-key.ts'
import type { Delivery, WakeUp, WorkQueue } from '../ports/work-queue.ts'

/**
 * One key's turn: all deliveries of it that came together. They are run once and dealt with together, as the last act,
 * because changing one of them lets the others of its group go (SQS FIFO).
 */
export interface Turn {
  readonly key: ObjectKey
  readonly wakeUps: readonly WakeUp[]
  /** How often this turn's oldest wake-up was handed out. */
  readonly receiveCount: number
  /** What ends a hold of this turn; it goes into the object, so that a change can wake it. */
  readonly handle: string
  /** Keeps the turn's wake-ups back for a short wait; 0 lets them come again at once. */
  hold(ms: number): Promise<void>
  /** A change waits behind this turn, as far as the queue can tell. */
  isWanted(): Promise<boolean>
  settle(): Promise<void>
}

/** The longest wait that a held message is the timer of; longer ones are the sweep's. */
export const shortWaitMsMax = 60_000

/** The turns in a batch, one per key, in order of first arrival. */
export function turnsOf(deliveries: readonly Delivery[], queue: WorkQueue): readonly Turn[] {
  return [...Map.groupBy(deliveries, ({ wakeUp }) => keyText(wakeUp.key)).values()].map((together) =>
    turnOf(together, queue),
  )
}

function turnOf(deliveries: readonly Delivery[], queue: WorkQueue): Turn {
  const [first] = deliveries as readonly [Delivery]
  return {
    key: first.wakeUp.key,
    wakeUps: deliveries.map(({ wakeUp }) => wakeUp),
    receiveCount: Math.max(...deliveries.map(({ receiveCount }) => receiveCount)),
    handle: first.handle,
    hold: (ms) => queue.hold(deliveries, ms),
    isWanted: async () => (await queue.isWanted?.(deliveries)) ?? false,
    settle: () => queue.settle(deliveries),
  }
}
