import type { ObjectKey } from '../model/object-key.ts'

/**
 * Hands out keys, never events: a wake-up says that something about a key may have changed, and the reconciler finds
 * out what by reading. The rules are those of SQS FIFO with one group per key; one queue per controller.
 *
 * Promises, checked by test/contract/work-queue.contract.ts on every adapter:
 * - One holder: while a delivery of a key is neither settled nor expired, no other wake-up of that key is handed out.
 * - No lost wake-up: what was sent while a key was taken or held is handed out after it.
 * - At least once: a delivery that is not settled comes again after its visibility timeout.
 * - Coalescing: waiting wake-ups of one key come in one batch (at most ten on SQS) or merged into one.
 *
 * Order between different keys is not promised; urgent ones go ahead of background ones where the adapter can.
 */
export interface WorkQueue {
  send(wakeUps: readonly WakeUp[]): Promise<void>

  /**
   * At most `max` deliveries; waits for the first one until the signal aborts, then gives none. At most `backgroundMax`
   * of them are from the background lane, where the adapter knows lanes.
   */
  receive(max: number, signal: AbortSignal, backgroundMax?: number): Promise<readonly Delivery[]>

  /** Done with: all deliveries of one key in one call, as the last act of their run. */
  settle(deliveries: readonly Delivery[]): Promise<void>

  /** Keeps the deliveries invisible for `ms` from now, then hands them out again. 0 hands them out at once. */
  hold(deliveries: readonly Delivery[], ms: number): Promise<void>

  /**
   * Whether anything but timers has come for the key since the deliveries were handed out. Only where the adapter can
   * tell: SQS cannot.
   */
  isWanted?(deliveries: readonly Delivery[]): Promise<boolean>

  /** Ends a hold by its handle. A handle that is stale or unknown does nothing. */
  wake(handle: string): Promise<void>

  /**
   * A delivery that was handed out so often is not to be held again for a wait: each hold brings it nearer to being
   * given up. Only where the queue counts.
   */
  readonly receivesMax?: number

  /**
   * Each wake-up is a delivery of its own, so that one that comes again brings nothing new. Otherwise they are merged,
   * and what comes again is in the background lane for as long as nothing urgent has come with it.
   */
  readonly keepsApart?: boolean
}

export interface WakeUp {
  readonly key: ObjectKey
  readonly origin: Origin
  /**
   * Tells wake-ups of one key apart, in at most 128 characters: the same text for the same key within five minutes is
   * sent once.
   */
  readonly dedupId: string
  /** resourceVersion of the change behind it, if there is one. */
  readonly resourceVersion?: string
  readonly lane: Lane
  /** For people: logs and the console. The reconcile function never sees it. */
  readonly reason: string
  /** Not to be handed out before this time: a timer found ahead of its time. */
  readonly notBeforeMs?: number
  /** For a queue that sets timers: when the object is to run. */
  readonly timerAtMs?: number
  /** Of a sweep that waits for its turn to come: whoever runs it says when it begins and ends (`in-hand.ts`). */
  readonly ticket?: string
}

/**
 * What an object's own waits are measured against: after a `change` it runs whatever it waits for; a `timer` is a hint
 * to look whether it is due; `resync` runs an object that has no period of its own.
 */
export type Origin = 'change' | 'resync' | 'timer'

/** A user's change goes ahead of resync, retries and fan-out. */
export type Lane = 'urgent' | 'background'

export interface Delivery {
  readonly wakeUp: WakeUp
  /** Names this receipt; a later receipt of the same wake-up has another. */
  readonly handle: string
  /** How often it was handed out, this time included. */
  readonly receiveCount: number
  /** When it was handed out for the first time, where the queue says so. */
  readonly firstReceivedAtMs?: number
}
