import { keyText } from '../../../model/object-key.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Random } from '../../../ports/random.ts'
import type { WorkQueue } from '../../../ports/work-queue.ts'
import { createKeyGroups } from './key-groups.ts'
import { createRecentIds } from './recent-ids.ts'

export interface LocalWorkQueueOptions {
  readonly clock: Clock
  readonly random: Random
  /** How long a delivery is its receiver's alone; longer than any run. */
  readonly visibilityMs: number
  /** Told how long each key that is handed out could have been handed out before. */
  readonly onHandOut?: (waitedMs: number) => void
}

export interface LocalWorkQueue extends Required<Omit<WorkQueue, 'receivesMax'>> {
  /** How many keys could be handed out now; those with a time ahead, taken or held do not count. */
  depth(): number
  /** For how long the one that waits longest of these has waited; 0 if there is none. */
  longestWaitMs(): number
}

/**
 * The WorkQueue in this process, by the rules of SQS FIFO. Waiting wake-ups of one key are merged into one, so a key
 * costs the same however often it is sent. A wake-up with a time ahead waits for it here, and an immediate one for the
 * same key ends that wait. What comes back after a hold or an expiry comes in the background lane; every tenth delivery
 * is a background one if any is ready, so that lane moves on whatever the other does. Nothing is durable: the engine
 * refills the queue from the store.
 *
 * Time passes when somebody receives: a waiting receiver has one timer, for the earliest deadline of all keys. While a
 * key is taken, a beat tells whether the process stands still.
 */
export function createLocalWorkQueue(options: LocalWorkQueueOptions): LocalWorkQueue {
  const { clock, random } = options
  const groups = createKeyGroups({ ...options, handlePrefix: random.uuid() })
  const recent = createRecentIds()
  const waiting = new Set<() => void>()
  let timerMs = Infinity
  let handedOut = 0

  const aheadMs = (): number => (clock.steadyMs === undefined ? 0 : clock.nowMs() - clock.steadyMs())
  let knownAheadMs = aheadMs()

  /** By then this process looks at the time again, if it does not stand still. */
  let beatDueMs = Infinity

  /**
   * A machine that slept, or whose clock was put right, must not end a turn whose run goes on; nor must a process that
   * stood still, whose runs stood still with it.
   */
  const now = (): number => {
    const jumpedMs = aheadMs() - knownAheadMs
    if (Math.abs(jumpedMs) > driftMsMax) {
      knownAheadMs += jumpedMs
      beatDueMs += jumpedMs
      groups.clockJumped(jumpedMs)
    }
    const nowMs = clock.nowMs()
    if (nowMs - beatDueMs > driftMsMax) {
      groups.clockJumped(nowMs - beatDueMs)
      beatDueMs = nowMs + beatMs
    }
    return nowMs
  }

  const beat = async (): Promise<void> => {
    while (groups.isAnyTaken()) {
      beatDueMs = now() + beatMs
      await clock.sleep(beatMs)
      now()
    }
    beatDueMs = Infinity
  }

  /** Calls the waiting receivers if there is something for them, or if their timer has become too late. */
  const callReceivers = (): Promise<void> => {
    if (waiting.size > 0 && (groups.depth() > 0 || (groups.nextDeadlineMs() ?? Infinity) < timerMs)) {
      for (const call of waiting) call()
    }
    return done
  }

  const nextEvent = (signal: AbortSignal): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = new AbortController()
    const call = (): void => {
      waiting.delete(call)
      signal.removeEventListener('abort', call)
      // Without a reason, every abort makes an error with a stack.
      timer.abort('called')
      resolve()
    }
    waiting.add(call)
    signal.addEventListener('abort', call)
    timerMs = groups.nextDeadlineMs() ?? Infinity
    if (timerMs < Infinity) void clock.sleep(timerMs - now(), timer.signal).then(call)
    return promise
  }

  /** Runs that neither write nor wait never give way: without a pause, a long line would keep all requests out. */
  const giveWay = (): Promise<void> => {
    handedOut = 0
    return new Promise((resolve) => setImmediate(resolve))
  }

  const receive: WorkQueue['receive'] = async (max, signal, backgroundMax) => {
    if (handedOut >= handedOutMax) await giveWay()
    while (!signal.aborted) {
      const deliveries = groups.take(max, now(), backgroundMax)
      handedOut += deliveries.length
      if (deliveries.length > 0 && beatDueMs === Infinity) void beat()
      if (deliveries.length > 0) return deliveries
      await nextEvent(signal)
    }
    return []
  }

  return {
    send: (wakeUps) => {
      const nowMs = now()
      for (const wakeUp of wakeUps) {
        const key = keyText(wakeUp.key)
        if (recent.admit(`${key} ${wakeUp.dedupId}`, nowMs)) groups.accept(key, wakeUp, nowMs)
      }
      return callReceivers()
    },
    receive,
    settle: (deliveries) => {
      for (const { handle } of deliveries) groups.settle(handle, now())
      return callReceivers()
    },
    hold: (deliveries, ms) => {
      for (const { handle } of deliveries) groups.hold(handle, ms, now())
      return callReceivers()
    },
    wake: (handle) => {
      groups.wake(handle, now())
      return callReceivers()
    },
    isWanted: async (deliveries) => deliveries.some(({ handle }) => groups.isWanted(handle, now())),
    depth: groups.depth,
    longestWaitMs: () => Math.max(0, now() - groups.oldestReadyAtMs()),
  }
}

/** Less is no jump. */
const driftMsMax = 1_000
/** While a key is taken, the time is looked at so often. */
const beatMs = 5_000
/** Deliveries between two turns of the event loop. */
const handedOutMax = 32

const done = Promise.resolve()
