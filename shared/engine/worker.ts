import type { Logger } from '../ports/logger.ts'
import type { Delivery, WorkQueue } from '../ports/work-queue.ts'
import { backoffMs } from './backoff.ts'
import { unlimited, type Pace } from './pace.ts'
import type { TurnRunner } from './reconcile-key.ts'
import { turnsOf, type Turn } from './turn.ts'

export interface WorkerOptions {
  readonly queue: WorkQueue
  readonly run: TurnRunner
  readonly logger: Logger
  /** How many keys run at once. */
  readonly concurrency: number
  /** How fast keys are taken. */
  readonly pace?: Pace
}

export interface WorkerSignals {
  /** Take no more keys. */
  readonly stop: AbortSignal
  /** Give up the runs there are. */
  readonly abandon: AbortSignal
}

/** Takes keys off a queue and runs them until told to stop; resolves when the last run has ended. */
export async function work(options: WorkerOptions, { stop, abandon }: WorkerSignals): Promise<void> {
  const { queue, concurrency, pace = unlimited } = options
  let running = 0
  let freed = Promise.withResolvers<void>()
  const run = async (turn: Turn): Promise<void> => {
    running++
    await takeTurn(turn, options, abandon)
    running--
    freed.resolve()
  }
  const untilOneEnds = async (): Promise<void> => {
    freed = Promise.withResolvers()
    await freed.promise
  }

  while (!stop.aborted) {
    const max = Math.min(batchMax, concurrency - running, await pace.allowed(stop))
    const turns = max > 0 ? turnsOf(await queue.receive(max, stop), queue) : []
    pace.taken(turns.length)
    for (const turn of turns) void run(turn)
    if (running >= concurrency) await untilOneEnds()
  }
  while (running > 0) await untilOneEnds()
}

const batchMax = 10

/** Runs every key of a batch, side by side; the deliveries of those that could not be ended. Their messages are left as they are. */
export async function processBatch(
  deliveries: readonly Delivery[],
  options: WorkerOptions,
  signal: AbortSignal,
): Promise<readonly Turn[]> {
  const turns = turnsOf(deliveries, options.queue)
  const ended = await Promise.all(turns.map((turn) => tryTurn(turn, options, signal)))
  return turns.filter((_, i) => !ended[i])
}

/** Short, since nobody can write into the object how to end the hold. */
const awayMsMax = 10_000

/** A turn that cannot be ended (the store is away) comes again, later each time; other keys go on. */
async function takeTurn(turn: Turn, options: WorkerOptions, signal: AbortSignal): Promise<void> {
  if ((await tryTurn(turn, options, signal)) || signal.aborted) return
  try {
    await turn.hold(Math.min(awayMsMax, backoffMs(turn.receiveCount, 1)))
  } catch (error) {
    options.logger.error('turn not held back; it comes again after its visibility timeout', {
      name: turn.key.name,
      error: String(error),
    })
  }
}

async function tryTurn(turn: Turn, { run, logger }: WorkerOptions, signal: AbortSignal): Promise<boolean> {
  try {
    await run(turn, signal)
    return true
  } catch (error) {
    const { kind, namespace, name } = turn.key
    if (signal.aborted) return false
    logger.error('turn not ended', {
      kind,
      namespace,
      name,
      receiveCount: turn.receiveCount,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    })
    return false
  }
}
