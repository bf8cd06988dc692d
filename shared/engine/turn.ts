import { keyText, type ObjectKey } from '../model/object-key.ts'
import type { Hold } from '../model/stored-object.ts'
import type { Clock } from '../ports/clock.ts'
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
  /** Keeps the turn's wake-ups back for a short wait; what it returns goes into the object, so that a change can wake them. */
  hold(ms: number): Promise<Hold>
  /** Gives the turn up: its wake-ups come again at once. */
  release(): Promise<void>
  settle(): Promise<void>
}

/** The longest wait that a held message is the timer of; longer ones are the sweep's. */
export const shortWaitMsMax = 60_000

/** The turns in a batch, one per key, in order of first arrival. */
export function turnsOf(deliveries: readonly Delivery[], queue: WorkQueue, clock: Clock): readonly Turn[] {
  return [...Map.groupBy(deliveries, ({ wakeUp }) => keyText(wakeUp.key)).values()].map((together) =>
    turnOf(together, queue, clock),
  )
}

function turnOf(deliveries: readonly Delivery[], queue: WorkQueue, clock: Clock): Turn {
  const [first] = deliveries as readonly [Delivery]
  return {
    key: first.wakeUp.key,
    wakeUps: deliveries.map(({ wakeUp }) => wakeUp),
    receiveCount: Math.max(...deliveries.map(({ receiveCount }) => receiveCount)),
    hold: async (ms) => {
      const untilMs = clock.nowMs() + ms
      await queue.hold(deliveries, ms)
      return { handle: first.handle, untilMs }
    },
    release: () => queue.hold(deliveries, 0),
    settle: () => queue.settle(deliveries),
  }
}
