import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { Delivery, WorkQueue } from '../ports/work-queue.ts'
import { backoffMs } from './backoff.ts'
import type { TurnRunner } from './reconcile-key.ts'
import { turnsOf, type Turn } from './turn.ts'

export interface WorkerOptions {
  readonly queue: WorkQueue
  readonly run: TurnRunner
  readonly clock: Clock
  readonly logger: Logger
  /** How many keys run at once. */
  readonly concurrency: number
}

/** Takes keys off a queue and runs them until the signal aborts; resolves when the last run has ended. */
export async function work(options: WorkerOptions, signal: AbortSignal): Promise<void> {
  const { queue, concurrency } = options
  const running = new Set<Promise<void>>()
  while (!signal.aborted) {
    const deliveries = await queue.receive(Math.min(batchMax, concurrency - running.size), signal)
    for (const turn of turnsOf(deliveries, queue, options.clock)) {
      const run = takeTurn(turn, options, signal).finally(() => running.delete(run))
      running.add(run)
    }
    if (running.size >= concurrency) await Promise.race(running)
  }
  await Promise.all(running)
}

const batchMax = 10

/** Runs every key of a batch, side by side; the deliveries of those that could not be ended. Their messages are left as they are. */
export async function processBatch(deliveries: readonly Delivery[], options: WorkerOptions, signal: AbortSignal): Promise<readonly Turn[]> {
  const turns = turnsOf(deliveries, options.queue, options.clock)
  const ended = await Promise.all(turns.map((turn) => tryTurn(turn, options, signal)))
  return turns.filter((_, i) => !ended[i])
}

/** A turn that cannot be ended (the store is away) comes again, later each time; other keys go on. */
async function takeTurn(turn: Turn, options: WorkerOptions, signal: AbortSignal): Promise<void> {
  if (await tryTurn(turn, options, signal)) return
  try {
    await turn.hold(backoffMs(turn.receiveCount, 1))
  } catch (error) {
    options.logger.error('turn not held back; it comes again after its visibility timeout', { name: turn.key.name, error: String(error) })
  }
}

async function tryTurn(turn: Turn, { run, logger }: WorkerOptions, signal: AbortSignal): Promise<boolean> {
  try {
    await run(turn, signal)
    return true
  } catch (error) {
    const { kind, namespace, name } = turn.key
    logger.error('turn not ended', { kind, namespace, name, receiveCount: turn.receiveCount, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    return false
  }
}
