import type { Turn } from '../../shared/engine/state/turn.ts'
import type { Clock } from '../../shared/ports/clock.ts'
import type { InHand } from '../../shared/ports/in-hand.ts'
import type { Random } from '../../shared/ports/random.ts'
import type { WakeUp } from '../../shared/ports/work-queue.ts'
import { SlowTurns } from '../../shared/runtime/aws/slow-turns.ts'

/**
 * A FIFO queue and the function behind it, in virtual time: so many invocations at once, each with a batch that ends
 * with its slowest turn. An idle invocation takes whatever there is, one message, too. Functions say of their turns
 * what they say on AWS.
 */
export interface QueueModel {
  send(messages: number, of: Kind, tickets?: readonly string[]): void
  /** How many wait, as it was so long ago as the counts lag. */
  depth(): number
  /** How long users' messages waited until their turn began, those that still wait with their time so far. */
  userWaitsMs(): readonly number[]
  /** Turns that have ended. */
  done(of: Kind): number
  /** How many of sweeps and timers were in the queue or run at the most. */
  readonly mostAtOnce: number
}

type Kind = 'sweep' | 'timer' | 'user'

export interface QueueModelOptions {
  readonly clock: Clock
  readonly random: Random
  readonly inHand: InHand
  readonly queue: string
  readonly loop: string
  readonly invocations: number
  readonly batchSize: number
  readonly turnMs: (of: Kind) => number
  readonly lagMs?: number
  /** So long the first batch of each invocation takes to begin. */
  readonly coldMs?: number
  /** So long a message stands behind a held one of its object. */
  readonly heldMs?: (of: Kind) => number
}

interface Message {
  readonly of: Kind
  readonly sentMs: number
  readonly ticket?: string | undefined
  readonly fromMs: number
}

/** From the queue to the function. */
const handOverMs = 20
/** A function ends so long after it began at the latest. */
const functionMs = 75_000

export function createQueueModel(options: QueueModelOptions): QueueModel {
  const { clock, invocations, batchSize, turnMs, lagMs = 0, coldMs = 0, heldMs = () => 0 } = options
  let waiting: Message[] = []
  const ended: Message[] = []
  const waitsMs: number[] = []
  const processes = Array.from({ length: invocations }, () => openProcess(options))
  const isCold = new Set(processes)
  let seen: { readonly atMs: number; readonly depth: number }[] = []
  let ofTick = 0
  let mostAtOnce = 0

  function note(): void {
    const atMs = clock.nowMs()
    seen.push({ atMs, depth: waiting.length })
    const from = seen.findLastIndex((one) => one.atMs <= atMs - lagMs)
    if (from > 0) seen = seen.slice(from)
  }

  function handOver(): void {
    for (;;) {
      const ready = waiting.filter(({ fromMs }) => fromMs <= clock.nowMs()).slice(0, batchSize)
      const process = ready.length > 0 ? processes.pop() : undefined
      if (process === undefined) break
      waiting = waiting.filter((one) => !ready.includes(one))
      void run(ready, process)
    }
    note()
  }

  async function run(batch: readonly Message[], process: SlowTurns): Promise<void> {
    await clock.sleep(handOverMs + (isCold.delete(process) ? coldMs : 0))
    process.begin(clock.nowMs() + functionMs)
    for (const { of, sentMs } of batch) if (of === 'user') waitsMs.push(clock.nowMs() - sentMs)
    await Promise.all(batch.map((one) => runTurn(one, process, () => clock.sleep(turnMs(one.of)), options.loop)))
    ofTick -= batch.filter(({ of }) => of !== 'user').length
    processes.push(process)
    ended.push(...batch)
    handOver()
  }

  note()
  return {
    send: (messages, of, tickets = []) => {
      // One after the other, as the queue may make them visible: nobody can rely on one batch.
      for (let i = 0; i < messages; i++) {
        const nowMs = clock.nowMs()
        const fromMs = nowMs + heldMs(of)
        waiting.push({ of, sentMs: nowMs, ticket: tickets[i], fromMs })
        if (of !== 'user') ofTick++
        mostAtOnce = Math.max(mostAtOnce, ofTick)
        if (fromMs > nowMs) void clock.sleep(fromMs - nowMs).then(handOver)
        handOver()
      }
    },
    depth: () => {
      note()
      return seen.findLast(({ atMs }) => atMs <= clock.nowMs() - lagMs)?.depth ?? 0
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

const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, with: () => logger }

function openProcess({ clock, random, inHand, queue }: QueueModelOptions): SlowTurns {
  return new SlowTurns({ clock, random, inHand, logger, queueNameOf: () => queue })
}

function runTurn({ of, ticket }: Message, process: SlowTurns, run: () => Promise<void>, loop: string): Promise<void> {
  const key = { group: '', kind: '', namespace: '', name: '' }
  const origin = ({ sweep: 'resync', timer: 'timer', user: 'change' } as const)[of]
  const lane = of === 'user' ? 'urgent' : 'background'
  const wakeUp: WakeUp = { key, origin, lane, dedupId: '', reason: '', ...(ticket !== undefined && { ticket }) }
  const turn = { key, wakeUps: [wakeUp] } as unknown as Turn
  return process.watch(loop, run)(turn, new AbortController().signal)
}
