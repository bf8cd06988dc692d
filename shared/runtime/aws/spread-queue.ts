import type { ObjectKey } from '../../model/object-key.ts'
import type { Delivery, WakeUp, WorkQueue } from '../../ports/work-queue.ts'

/**
 * Several queues as one: a wake-up goes into the queue of its key. A handle says which queue it is of; one without a
 * number is of the first, as it is where there is no other.
 */
export function spreadQueue(
  queues: readonly WorkQueue[],
  findQueues: (keys: readonly ObjectKey[]) => Promise<readonly number[]>,
): WorkQueue {
  const at = (queue: number): WorkQueue => {
    const found = queues[queue]
    if (found === undefined) throw new TypeError(`there are ${queues.length} queues, and none has the number ${queue}`)
    return found
  }

  async function toEach(
    deliveries: readonly Delivery[],
    act: (queue: WorkQueue, own: readonly Delivery[]) => Promise<void>,
  ): Promise<void> {
    const own = deliveries.map((delivery) => ({ ...readHandle(delivery.handle), delivery }))
    const byQueue = [...Map.groupBy(own, ({ queue }) => queue)]
    const acts = byQueue.map(([queue, some]) =>
      act(
        at(queue),
        some.map(({ delivery, handle }) => ({ ...delivery, handle })),
      ),
    )
    await Promise.all(acts)
  }

  return {
    send: async (wakeUps: readonly WakeUp[]) => {
      const homes = await findQueues(wakeUps.map(({ key }) => key))
      const byQueue = [...Map.groupBy(wakeUps.keys(), (i) => homes[i] ?? 0)]
      await Promise.all(byQueue.map(([home, some]) => at(home).send(some.map((i) => wakeUps[i] as WakeUp))))
    },
    receive: () => Promise.reject(new TypeError('the messages of several queues come by the event of the function')),
    settle: (deliveries) => toEach(deliveries, (queue, own) => queue.settle(own)),
    hold: (deliveries, ms) => toEach(deliveries, (queue, own) => queue.hold(own, ms)),
    wake: async (text) => {
      const { queue, handle } = readHandle(text)
      // Of a hold in a queue that is no more nobody waits for the end.
      await queues[queue]?.wake(handle)
    },
  }
}

/** As the handle of a message that came out of this queue. */
export function handleIn(queue: number, handle: string): string {
  return queue === 0 ? handle : `${queue}!${handle}`
}

/** SQS writes receipt handles without exclamation marks. */
function readHandle(text: string): { readonly queue: number; readonly handle: string } {
  const [, queue = '0', handle = text] = /^(\d+)!(.*)$/s.exec(text) ?? []
  return { queue: Number(queue), handle }
}
