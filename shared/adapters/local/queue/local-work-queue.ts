import { keyText, type ObjectKey } from '../../../model/object-key.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Random } from '../../../ports/random.ts'
import type { WorkQueue } from '../../../ports/work-queue.ts'
import { createKeyGroups, type KeyGroups, type QueuedKey } from './key-groups.ts'
import { QueueTime } from './queue-time.ts'
import { createRecentIds } from './recent-ids.ts'

export interface LocalWorkQueueOptions {
  readonly clock: Clock
  readonly random: Random
  /** How long a delivery is its receiver's alone; longer than any run. */
  readonly visibilityMs: number
  /** Told how long each key that is handed out could have been handed out before. */
  readonly onHandOut?: (waitedMs: number) => void
}

export interface LocalWorkQueue extends Required<Omit<WorkQueue, 'receivesMax' | 'keepsApart'>> {
  /** How many keys could be handed out now; those with a time ahead, taken or held do not count. */
  depth(): number
  /** Keys as they stand in the queue; with `after`, those behind the one of this `order`. */
  list(after?: number): Iterable<QueuedKey>
  /** The same of one key; undefined if it is not in the queue. */
  find(key: ObjectKey): QueuedKey | undefined
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
  const time = new QueueTime(clock, groups)
  const recent = createRecentIds()
  const receivers: Receivers = { waiting: new Set(), timerMs: Infinity }
  let handedOut = 0

  /** Calls the waiting receivers if there is something for them, or if their timer has become too late. */
  const callReceivers = (): Promise<void> => {
    const { waiting, timerMs } = receivers
    if (waiting.size > 0 && (groups.depth() > 0 || (groups.nextDeadlineMs() ?? Infinity) < timerMs))
      for (const call of waiting) call()
    return done
  }

  const receive: WorkQueue['receive'] = async (max, signal, backgroundMax) => {
    if (handedOut >= handedOutMax) {
      handedOut = 0
      await giveWay()
    }
    while (!signal.aborted) {
      const deliveries = groups.take(max, time.now(), backgroundMax)
      handedOut += deliveries.length
      if (deliveries.length > 0) {
        time.watch()
        return deliveries
      }
      await nextEvent({ clock, groups, time, receivers }, signal)
    }
    return []
  }

  return {
    send: (wakeUps) => {
      const nowMs = time.now()
      for (const wakeUp of wakeUps) {
        const key = keyText(wakeUp.key)
        if (recent.admit(`${key} ${wakeUp.dedupId}`, nowMs)) groups.accept(key, wakeUp, nowMs)
      }
      return callReceivers()
    },
    receive,
    settle: (deliveries) => {
      for (const { handle } of deliveries) groups.settle(handle, time.now())
      return callReceivers()
    },
    hold: (deliveries, ms) => {
      for (const { handle } of deliveries) groups.hold(handle, ms, time.now())
      return callReceivers()
    },
    wake: (handle) => {
      groups.wake(handle, time.now())
      return callReceivers()
    },
    isWanted: async (deliveries) => deliveries.some(({ handle }) => groups.isWanted(handle, time.now())),
    depth: () => groups.depth(),
    list: (after) => groups.list(time.now(), after),
    find: (key) => groups.find(keyText(key), time.now()),
    longestWaitMs: () => Math.max(0, time.now() - groups.oldestReadyAtMs()),
  }
}

interface Receivers {
  /** Call those that wait. */
  readonly waiting: Set<() => void>
  /** When their timer ends. */
  timerMs: number
}

interface Waiting {
  readonly clock: Clock
  readonly groups: KeyGroups
  readonly time: QueueTime
  readonly receivers: Receivers
}

/** Resolves when there may be something to receive, or the signal aborts. */
function nextEvent({ clock, groups, time, receivers }: Waiting, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = new AbortController()
  const call = (): void => {
    receivers.waiting.delete(call)
    signal.removeEventListener('abort', call)
    // Without a reason, every abort makes an error with a stack.
    timer.abort('called')
    resolve()
  }
  receivers.waiting.add(call)
  signal.addEventListener('abort', call)
  const timerMs = (receivers.timerMs = groups.nextDeadlineMs() ?? Infinity)
  if (timerMs < Infinity) void clock.sleep(timerMs - time.now(), timer.signal).then(call)
  return promise
}

/** Deliveries between two turns of the event loop. */
const handedOutMax = 32

/** Runs that neither write nor wait never give way: without a pause, a long line would keep all requests out. */
function giveWay(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

const done = Promise.resolve()
