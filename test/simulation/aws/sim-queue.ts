import { keyText } from '../../../shared/model/object-key.ts'
import type { LoopDelivery } from '../../../shared/adapters/aws/sqs/sqs-message.ts'
import type { WakeUp, WorkQueue } from '../../../shared/ports/work-queue.ts'
import type { Climate } from '../climate.ts'
import { below, type World } from '../world.ts'

/**
 * SQS FIFO, by what AWS does and not by what one would like: order per group and not exclusion, visibility per message,
 * handles that go stale, ids remembered for five minutes, at least once, a message that comes too often goes to the
 * dead-letter queue, groups are looked for among the first messages only. See decision 12.
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

interface Message {
  readonly loop: string
  readonly group: string
  readonly order: number
  readonly wakeUp: WakeUp
  visibleAtMs: number
  handle: string
  receiveCount: number
  firstReceivedAtMs: number
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
  const groups = new Map<string, Message[]>()
  const byHandle = new Map<string, Message>()
  const recentIds = new Map<string, number>()
  let made = 0
  let stirred = Promise.withResolvers<void>()

  const stir = (): void => stirred.resolve()

  const isRepeated = (group: string, dedupId: string): boolean => {
    const id = `${group} ${dedupId}`
    const sentAtMs = recentIds.get(id)
    if (sentAtMs !== undefined && world.nowMs() - sentAtMs < dedupMs) return true
    recentIds.set(id, world.nowMs())
    return false
  }

  /** By the latest handle of a message that is still invisible; a stale handle finds nothing. */
  const invisible = (handle: string): Message | undefined => {
    const message = byHandle.get(handle)
    return message !== undefined && message.visibleAtMs > world.nowMs() ? message : undefined
  }

  const send = (loop: string, wakeUp: WakeUp): void => {
    const group = `${loop} ${keyText(wakeUp.key)}`
    if (isRepeated(group, wakeUp.dedupId)) return
    const message = {
      loop,
      group,
      order: made++,
      wakeUp,
      visibleAtMs: world.nowMs(),
      handle: '',
      receiveCount: 0,
      firstReceivedAtMs: 0,
    }
    const messages = groups.get(group)
    if (messages === undefined) groups.set(group, [message])
    else messages.push(message)
  }

  const drop = (message: Message): void => {
    byHandle.delete(message.handle)
    const left = (groups.get(message.group) ?? []).filter((other) => other !== message)
    if (left.length === 0) groups.delete(message.group)
    else groups.set(message.group, left)
  }

  /** A message that was deleted may come once more all the same. */
  const remove = (handles: readonly string[]): void => {
    for (const handle of handles) {
      const message = invisible(handle)
      if (message === undefined) continue
      const { redeliver } = climate()
      if (redeliver > 0 && random.next() < redeliver) world.fault('redelivery')
      else drop(message)
    }
    stir()
  }

  const take = (group: readonly Message[], max: number): LoopDelivery[] => {
    const taken: LoopDelivery[] = []
    for (const message of group.slice()) {
      if (message.visibleAtMs > world.nowMs() || taken.length === max) break
      if (message.receiveCount >= climate().maxReceiveCount) {
        world.fault('dead letter')
        drop(message)
        onDead(message.loop, message.wakeUp)
        continue
      }
      byHandle.delete(message.handle)
      message.visibleAtMs = world.nowMs() + visibilityMs()
      message.handle = `${name}-${world.nowMs()}-${made++}`
      if (message.receiveCount++ === 0) message.firstReceivedAtMs = world.nowMs()
      byHandle.set(message.handle, message)
      const { loop, wakeUp, handle, receiveCount, firstReceivedAtMs } = message
      taken.push({ loop, delivery: { wakeUp, handle, receiveCount, firstReceivedAtMs } })
    }
    return taken
  }

  /** A group's head decides: what stands behind an invisible message waits with it. */
  const available = (): Message[][] => {
    const { scanMax } = climate()
    const heads = [...groups.values()].filter(([head]) => (head?.visibleAtMs ?? Infinity) <= world.nowMs())
    if (depthOf(groups) <= scanMax) return heads
    const seen = new Set(
      [...groups.values()]
        .flat()
        .sort((a, b) => a.order - b.order)
        .slice(0, scanMax)
        .map(({ group }) => group),
    )
    return heads.filter(([head]) => head !== undefined && seen.has(head.group))
  }

  const mayTake = (): number => {
    const { inFlightMax } = climate()
    if (inFlightMax > groups.size * 10) return Infinity
    return inFlightMax - [...byHandle.values()].filter(({ visibleAtMs }) => visibleAtMs > world.nowMs()).length
  }

  const nextAtMs = (): number => {
    let nextMs = Infinity
    for (const [head] of groups.values()) nextMs = Math.min(nextMs, head?.visibleAtMs ?? Infinity)
    return nextMs
  }

  return {
    portOf: (loop) => ({
      send: async (wakeUps) => {
        for (const wakeUp of wakeUps) send(loop, wakeUp)
        stir()
      },
      receive: async () => {
        throw new TypeError('a function is given its messages')
      },
      settle: async (deliveries) => remove(deliveries.map(({ handle }) => handle)),
      hold: async (deliveries, ms) => {
        for (const { handle } of deliveries) {
          const message = invisible(handle)
          if (message !== undefined) message.visibleAtMs = world.nowMs() + wholeSeconds(ms)
        }
        stir()
      },
      wake: async (handle) => {
        const message = invisible(handle)
        if (message !== undefined) message.visibleAtMs = world.nowMs()
        stir()
      },
    }),
    receive: (max) => {
      const taken: LoopDelivery[] = []
      const most = Math.min(max, mayTake())
      const ready = available()
      while (ready.length > 0 && taken.length < most) {
        const at = below(random, ready.length)
        taken.push(...take(ready[at] ?? [], most - taken.length))
        ready[at] = ready.at(-1) ?? []
        ready.pop()
      }
      return taken
    },
    remove,
    ready: async () => {
      for (;;) {
        const waitMs = nextAtMs() - world.nowMs()
        if (waitMs <= 0) return
        stirred = Promise.withResolvers()
        const cancel = waitMs === Infinity ? undefined : world.after(waitMs, stir)
        await stirred.promise
        cancel?.()
      }
    },
    depth: () => depthOf(groups),
    waiting: () => [...groups.values()].flat().filter(({ visibleAtMs }) => visibleAtMs <= world.nowMs()).length,
    purge: () => {
      groups.clear()
      byHandle.clear()
      recentIds.clear()
    },
  }
}

const dedupMs = 300_000

function depthOf(groups: ReadonlyMap<string, readonly Message[]>): number {
  let sum = 0
  for (const messages of groups.values()) sum += messages.length
  return sum
}

/** Visibility is told in whole seconds. */
function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1_000) * 1_000
}
