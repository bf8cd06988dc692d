import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Delivery, WorkQueue } from '../../ports/work-queue.ts'

/**
 * The queue as one invocation has it. The event source mapping deletes what the function does not report, so settling a
 * message takes no call: it is left out of the report. Only if other keys of the batch go on for long is it deleted at
 * once, or the next change of a key would wait for its slowest neighbour.
 */
export interface BatchQueue extends WorkQueue {
  /** Whether the message is done with. */
  isSettled(delivery: Delivery): boolean
  /** Resolves once it is said of all these messages what is to become of them; false if that takes too long. */
  awaitEnd(deliveries: readonly Delivery[], withinMs: number): Promise<boolean>
  /** The invocation is over: what is said from now on comes too late and is ignored. */
  close(): void
}

export interface BatchQueueOptions {
  readonly queue: WorkQueue
  readonly clock: Clock
  readonly logger: Logger
}

/** How long a settled message waits for its batch. */
const patienceMs = 1_000

/** The maximum receive count of the queues is 10: three are left for crashes. */
const receivesMax = 7

export function createBatchQueue({ queue, clock, logger }: BatchQueueOptions): BatchQueue {
  const closing = new AbortController()
  const settled = new Set<string>()
  const held = new Set<string>()
  let undeleted: readonly Delivery[] = []
  let said = Promise.withResolvers<void>()

  function note(deliveries: readonly Delivery[], ended: Set<string>): void {
    for (const { handle } of deliveries) ended.add(handle)
    said.resolve()
    said = Promise.withResolvers()
  }

  async function deleteEarly(): Promise<void> {
    for (;;) {
      await clock.sleep(patienceMs, closing.signal)
      if (closing.signal.aborted) return
      const some = undeleted
      undeleted = []
      if (some.length > 0) await queue.settle(some).catch(logNotDeleted)
    }
  }

  /** The mapping deletes them at the end. */
  function logNotDeleted(error: unknown): void {
    logger.warn('messages not deleted before the end of their batch', { error: String(error) })
  }

  void deleteEarly()
  return {
    ...queue,
    receivesMax,
    keepsApart: true,
    settle: async (deliveries) => {
      if (closing.signal.aborted) return
      note(deliveries, settled)
      undeleted = [...undeleted, ...deliveries]
    },
    hold: async (deliveries, ms) => {
      if (closing.signal.aborted) return
      await queue.hold(deliveries, ms)
      note(deliveries, held)
    },
    isSettled: ({ handle }) => settled.has(handle),
    awaitEnd: async (deliveries, withinMs) => {
      const over = new AbortController()
      const tooLate = clock.sleep(withinMs, over.signal).then(() => over.abort('over'))
      const isOpen = ({ handle }: Delivery): boolean => !settled.has(handle) && !held.has(handle)
      while (deliveries.some(isOpen) && !over.signal.aborted) await Promise.race([said.promise, tooLate])
      over.abort('over')
      return !deliveries.some(isOpen)
    },
    // Without a reason, every abort makes an error with a stack.
    close: () => closing.abort('closed'),
  }
}
