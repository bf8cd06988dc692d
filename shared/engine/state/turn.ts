import { keyText, type ObjectKey } from '../../model/object-key.ts'
import type { Delivery, WakeUp, WorkQueue } from '../../ports/work-queue.ts'

/**
 * One key's turn: all deliveries of it that came together. They are run once and dealt with together, as the last act,
 * because changing one of them lets the others of its group go (SQS FIFO).
 */
export interface Turn {
  readonly key: ObjectKey
  readonly wakeUps: readonly WakeUp[]
  /** How often this turn's oldest wake-up was handed out. */
  readonly receiveCount: number
  /** It was handed out before, and nothing has come for its key since. */
  readonly isRepeated: boolean
  /** What ends a hold of this turn; it goes into the object, so that a change can wake it. */
  readonly handle: string
  /** Its message was held so often that the queue would soon give it up: a wait is to be left to the sweep. */
  readonly isNearReceiveLimit: boolean
  /** Ends the turn with a short wait; 0: none. If its message is lost, a timer or the resync makes up for it. */
  hold(ms: number): Promise<void>
  /** Lets the turn come again after a short wait that nothing but its message tells of: the turn is not over. */
  delay(ms: number): Promise<void>
  /** A change waits behind this turn, as far as the queue can tell. */
  isWanted(): Promise<boolean>
  settle(): Promise<void>
}

/** Runs a turn to its end; rejects only if the turn could not be ended, and then the queue hands it out again. */
export type TurnRunner = (turn: Turn, signal: AbortSignal) => Promise<void>

/** The longest wait that a held message is the timer of; longer ones are the sweep's. */
export const shortWaitMsMax = 60_000

/** The turns in a batch, one per key, in order of first arrival. */
export function turnsOf(deliveries: readonly Delivery[], queue: WorkQueue): readonly Turn[] {
  const byKey = new Map<string, Delivery[]>()
  for (const delivery of deliveries) {
    const key = keyText(delivery.wakeUp.key)
    const together = byKey.get(key)
    if (together === undefined) byKey.set(key, [delivery])
    else together.push(delivery)
  }
  return Array.from(byKey.values(), (together) => turnOf(together, queue))
}

function turnOf(deliveries: readonly Delivery[], queue: WorkQueue): Turn {
  const kept = strongest(deliveries)
  let rest = deliveries.filter((delivery) => delivery !== kept)
  // One message is the timer, and the others go: there is one handle to end the hold by, and behind a second message
  // that is hidden a change would wait although the first one has been woken.
  const hide = async (ms: number): Promise<void> => {
    await queue.hold([kept], ms)
    const others = rest
    rest = []
    if (others.length > 0) await queue.settle(others)
  }
  return {
    key: kept.wakeUp.key,
    wakeUps: deliveries.map(({ wakeUp }) => wakeUp),
    receiveCount: Math.max(...deliveries.map(({ receiveCount }) => receiveCount)),
    isRepeated: deliveries.every((delivery) => isRepeated(delivery, queue)),
    handle: kept.handle,
    isNearReceiveLimit: kept.receiveCount >= (queue.receivesMax ?? Infinity),
    hold: hide,
    delay: hide,
    isWanted: async () => (await queue.isWanted?.([kept])) ?? false,
    settle: () => queue.settle([kept, ...rest]),
  }
}

function isRepeated({ receiveCount, wakeUp: { lane } }: Delivery, { keepsApart = false }: WorkQueue): boolean {
  return receiveCount > 1 && (keepsApart || lane === 'background')
}

/**
 * What a hold keeps. A change rather than a timer, which would be looked at again and not run; of several the one that
 * has to wait least, and the least worn.
 */
function strongest(deliveries: readonly Delivery[]): Delivery {
  const rank = ({ wakeUp: { origin } }: Delivery): number => ['change', 'resync', 'timer'].indexOf(origin)
  const notBefore = ({ wakeUp: { notBeforeMs = 0 } }: Delivery): number => notBeforeMs
  const order = (one: Delivery, other: Delivery): number =>
    rank(one) - rank(other) || notBefore(one) - notBefore(other) || one.receiveCount - other.receiveCount
  return deliveries.reduce((kept, other) => (order(other, kept) < 0 ? other : kept))
}
