import { keyText } from '../../../shared/model/object-key.ts'
import type { LoopDelivery } from '../../../shared/adapters/aws/sqs/sqs-message.ts'
import type { SeededRandom } from '../../../shared/testing/seeded-random.ts'
import type { WakeUp, WorkQueue } from '../../../shared/ports/work-queue.ts'
import { createFifoQueue } from '../../../shared/testing-aws/fifo-queue.ts'
import type { Climate } from '../climate.ts'
import { below, type World } from '../world.ts'

/**
 * SQS FIFO by the rules of `fifo-queue.ts`, with what a climate adds to them: groups in any order, messages that come
 * though they were deleted, low limits.
 */
export interface SimQueue {
  /** The queue as the wake-ups of one loop see it. */
  portOf(loop: string): WorkQueue
  receive(max: number): readonly LoopDelivery[]
  /** By handles: what an event source mapping does with all that its function did not report. */
  remove(handles: readonly string[]): void
  /** Resolves when a message could be received. */
  ready(): Promise<void>
  depth(): number
  /** How many wait, as SQS tells it. */
  waiting(): number
  /** It is deleted, with all that is in it. */
  purge(): void
}

export interface SimQueueOptions {
  readonly world: World
  readonly name: string
  /** How long a message is its receiver's. */
  readonly visibilityMs: () => number
  readonly climate: () => Pick<Climate, 'scanMax' | 'inFlightMax' | 'maxReceiveCount' | 'redeliver'>
  /** Where messages go that came too often. */
  readonly onDead: (loop: string, wakeUp: WakeUp) => void
}

export function createSimQueue({ world, name, visibilityMs, climate, onDead }: SimQueueOptions): SimQueue {
  const random = world.random.fork(`queue ${name}`)
  let stirred = Promise.withResolvers<void>()
  const queue = createFifoQueue<Sent>({
    name,
    nowMs: () => world.nowMs(),
    visibilityMs,
    maxReceiveCount: () => climate().maxReceiveCount,
    scanMax: () => climate().scanMax,
    inFlightMax: () => climate().inFlightMax,
    arrange: (groups) => inAnyOrder(groups, random),
    onDead: ({ body: { loop, wakeUp } }) => {
      world.fault('dead letter')
      onDead(loop, wakeUp)
    },
  })

  const stir = (): void => stirred.resolve()

  /** A message that was deleted may come once more all the same. */
  const remove = (handles: readonly string[]): void => {
    for (const handle of handles) {
      if (queue.inFlight(handle) === undefined) continue
      const { redeliver } = climate()
      if (redeliver > 0 && random.next() < redeliver) world.fault('redelivery')
      else queue.delete(handle)
    }
    stir()
  }

  const changeVisibility = (handle: string, ms: number): void => {
    if (queue.changeVisibility(handle, ms) === 'tooLong') throw new RangeError(`a message hidden for ${ms} ms more`)
  }

  return {
    portOf: (loop) => ({
      send: async (wakeUps) => {
        for (const wakeUp of wakeUps)
          queue.send({ group: `${loop} ${keyText(wakeUp.key)}`, dedupId: wakeUp.dedupId, body: { loop, wakeUp } })
        stir()
      },
      receive: async () => {
        throw new TypeError('a function is given its messages')
      },
      settle: async (deliveries) => remove(deliveries.map(({ handle }) => handle)),
      hold: async (deliveries, ms) => {
        for (const { handle } of deliveries) changeVisibility(handle, wholeSeconds(ms))
        stir()
      },
      wake: async (handle) => {
        changeVisibility(handle, 0)
        stir()
      },
    }),
    receive: (max) =>
      queue.receive(max).map(({ body: { loop, wakeUp }, handle, receiveCount, firstReceivedAtMs }) => ({
        loop,
        delivery: { wakeUp, handle, receiveCount, firstReceivedAtMs },
      })),
    remove,
    ready: async () => {
      for (;;) {
        const waitMs = queue.nextVisibleMs() - world.nowMs()
        if (waitMs <= 0) return
        stirred = Promise.withResolvers()
        const cancel = waitMs === Infinity ? undefined : world.after(waitMs, stir)
        await stirred.promise
        cancel?.()
      }
    },
    depth: () => queue.depth(),
    waiting: () => queue.waiting(),
    purge: () => queue.purge(),
  }
}

interface Sent {
  readonly loop: string
  readonly wakeUp: WakeUp
}

function* inAnyOrder<Group>(groups: readonly Group[], random: SeededRandom): Iterable<Group> {
  const left = [...groups]
  while (left.length > 0) {
    const at = below(random, left.length)
    const last = left.pop() as Group
    if (at === left.length) yield last
    else {
      yield left[at] as Group
      left[at] = last
    }
  }
}

/** Visibility is told in whole seconds. */
function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1_000) * 1_000
}
