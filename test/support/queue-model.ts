import type { Clock } from '../../shared/ports/clock.ts'
import type { QueueDepth } from '../../shared/runtime/aws/send-window.ts'

/**
 * A FIFO queue and the function behind it, in virtual time: so many invocations at once, each with a batch that ends
 * with its slowest turn. An idle invocation takes whatever there is, one message, too.
 */
export interface QueueModel {
  send(messages: number, of: 'sweep' | 'timer' | 'user'): void
  /** As it was so long ago as the counts lag. */
  look(): QueueDepth
  /** How long users' messages waited until their turn began, those that still wait with their time so far. */
  userWaitsMs(): readonly number[]
  /** Turns that have ended. */
  done(of: 'sweep' | 'timer' | 'user'): number
  /** How many of sweeps and timers were in the queue or run at the most. */
  readonly mostAtOnce: number
}

export interface QueueModelOptions {
  readonly clock: Clock
  readonly invocations: number
  readonly batchSize: number
  readonly turnMs: () => number
  readonly lagMs?: number
  /** Messages that are hidden until a time, by others. */
  readonly held?: () => number
}

interface Message {
  readonly of: 'sweep' | 'timer' | 'user'
  readonly sentMs: number
}

/** From the queue to the function. */
const handOverMs = 20

export function createQueueModel({
  clock,
  invocations,
  batchSize,
  turnMs,
  lagMs = 0,
  held = () => 0,
}: QueueModelOptions): QueueModel {
  const waiting: Message[] = []
  const ended: Message[] = []
  const waitsMs: number[] = []
  let seen: { readonly atMs: number; readonly depth: QueueDepth }[] = []
  let idle = invocations
  let taken = 0
  let ofTick = 0
  let mostAtOnce = 0

  function note(): void {
    const atMs = clock.nowMs()
    seen.push({ atMs, depth: { waiting: waiting.length, taken: taken + held() } })
    const from = seen.findLastIndex((one) => one.atMs <= atMs - lagMs)
    if (from > 0) seen = seen.slice(from)
  }

  function handOver(): void {
    while (idle > 0 && waiting.length > 0) {
      idle--
      const batch = waiting.splice(0, batchSize)
      taken += batch.length
      void run(batch)
    }
    note()
  }

  async function run(batch: readonly Message[]): Promise<void> {
    await clock.sleep(handOverMs)
    for (const { of, sentMs } of batch) if (of === 'user') waitsMs.push(clock.nowMs() - sentMs)
    await clock.sleep(Math.max(...batch.map(turnMs)))
    taken -= batch.length
    ofTick -= batch.filter(({ of }) => of !== 'user').length
    idle++
    ended.push(...batch)
    handOver()
  }

  note()
  return {
    send: (messages, of) => {
      // One after the other, as the queue may make them visible: nobody can rely on one batch.
      for (let i = 0; i < messages; i++) {
        waiting.push({ of, sentMs: clock.nowMs() })
        if (of !== 'user') ofTick++
        mostAtOnce = Math.max(mostAtOnce, ofTick)
        handOver()
      }
    },
    look: () => {
      note()
      const { depth } = seen.findLast(({ atMs }) => atMs <= clock.nowMs() - lagMs) ?? {
        depth: { waiting: 0, taken: 0 },
      }
      return depth
    },
    userWaitsMs: () => [
      ...waitsMs,
      ...waiting.filter(({ of }) => of === 'user').map(({ sentMs }) => clock.nowMs() - sentMs),
    ],
    done: (of) => ended.filter((one) => one.of === of).length,
    get mostAtOnce() {
      return mostAtOnce
    },
  }
}
