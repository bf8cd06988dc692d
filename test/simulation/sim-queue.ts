import { keyText } from '../../shared/model/object-key.ts'
import type { Delivery, WakeUp, WorkQueue } from '../../shared/ports/work-queue.ts'
import type { World } from './world.ts'

/**
 * SQS FIFO, by what AWS does and not by what one would like: order per group and not exclusion, visibility per message, handles
 * that go stale, ids remembered for five minutes, at least once. Source: shared/aws-facts.md A1–A5, A9, A10.
 */
interface Message {
  readonly wakeUp: WakeUp
  visibleAtMs: number
  handle: string
  receiveCount: number
}

export interface SimQueue extends WorkQueue {
  depth(): number
  /** Resolves when a message could be received. */
  ready(): Promise<void>
}

export interface SimQueueOptions {
  readonly world: World
  readonly name: string
  readonly visibilityMs: number
}

export function createSimQueue({ world, name, visibilityMs }: SimQueueOptions): SimQueue {
  const groups = new Map<string, Message[]>()
  const recentIds = new Map<string, number>()
  let receipts = 0
  let waiting: AbortController | undefined

  const stirred = (): void => waiting?.abort('stirred')

  /** A group's head decides: what stands behind an invisible message waits with it. */
  const readyAtMs = (): number => Math.min(...[...groups.values()].map(([head]) => head?.visibleAtMs ?? Infinity))

  const isRepeated = (group: string, dedupId: string): boolean => {
    const id = `${group} ${dedupId}`
    const sentAtMs = recentIds.get(id)
    if (sentAtMs !== undefined && world.nowMs() - sentAtMs < dedupMs) return true
    recentIds.set(id, world.nowMs())
    return false
  }

  /** By the latest handle of a message that is still invisible; a stale handle finds nothing. */
  const byHandle = (handle: string): Message | undefined => {
    for (const messages of groups.values()) {
      const found = messages.find((message) => message.handle === handle)
      if (found !== undefined) return found.visibleAtMs > world.nowMs() ? found : undefined
    }
    return undefined
  }

  const take = (messages: readonly Message[], max: number): Delivery[] => {
    const taken: Delivery[] = []
    for (const message of messages) {
      if (message.visibleAtMs > world.nowMs() || taken.length === max) break
      message.visibleAtMs = world.nowMs() + visibilityMs
      message.handle = `${name}-${++receipts}`
      message.receiveCount++
      taken.push({ wakeUp: message.wakeUp, handle: message.handle, receiveCount: message.receiveCount })
    }
    return taken
  }

  return {
    send: async (wakeUps) => {
      for (const wakeUp of wakeUps) {
        const group = keyText(wakeUp.key)
        if (isRepeated(group, wakeUp.dedupId)) continue
        const messages = groups.get(group) ?? []
        groups.set(group, [...messages, { wakeUp, visibleAtMs: world.nowMs(), handle: '', receiveCount: 0 }])
      }
      stirred()
    },
    receive: async (max) => {
      const taken: Delivery[] = []
      for (const messages of shuffled([...groups.values()], world)) {
        if (taken.length < max) taken.push(...take(messages, max - taken.length))
      }
      return taken
    },
    settle: async (deliveries) => {
      for (const { handle, wakeUp } of deliveries) {
        if (byHandle(handle) === undefined) continue
        const group = keyText(wakeUp.key)
        const left = (groups.get(group) ?? []).filter((message) => message.handle !== handle)
        if (left.length === 0) groups.delete(group)
        else groups.set(group, left)
      }
      stirred()
    },
    hold: async (deliveries, ms) => {
      for (const { handle } of deliveries) {
        const message = byHandle(handle)
        if (message !== undefined) message.visibleAtMs = world.nowMs() + wholeSeconds(ms)
      }
      stirred()
    },
    wake: async (handle) => {
      const message = byHandle(handle)
      if (message !== undefined) message.visibleAtMs = world.nowMs()
      stirred()
    },
    ready: async () => {
      while (readyAtMs() > world.nowMs()) {
        waiting = new AbortController()
        await world.sleep(Math.min(readyAtMs() - world.nowMs(), farMs), waiting.signal)
      }
    },
    depth: () => [...groups.values()].reduce((sum, messages) => sum + messages.length, 0),
  }
}

const dedupMs = 300_000
const farMs = 365 * 24 * 3_600_000

/** Visibility is told in whole seconds. */
function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1_000) * 1_000
}

function shuffled<Item>(items: Item[], world: World): Item[] {
  for (let i = items.length - 1; i > 0; i--) {
    const j = Math.floor(world.random.next() * (i + 1))
    ;[items[i], items[j]] = [items[j] as Item, items[i] as Item]
  }
  return items
}
