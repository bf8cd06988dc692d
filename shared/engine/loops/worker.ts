import type { Logger } from '../../ports/logger.ts'
import type { Delivery, WorkQueue } from '../../ports/work-queue.ts'
import { backoffMs } from '../state/backoff.ts'
import { unlimited, type Pace } from '../limits/pace.ts'
import { turnsOf, type Turn, type TurnRunner } from '../state/turn.ts'
import { OverrunError } from '../turn/commit.ts'

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
  const backgroundMax = concurrency - reservedOf(concurrency)
  let running = 0
  let background = 0
  let signalEnd = (): void => {}
  const run = async (turn: Turn): Promise<void> => {
    const share = isBackground(turn) ? 1 : 0
    running++
    background += share
    await takeTurn(turn, options, abandon)
    running--
    background -= share
    signalEnd()
  }
  const untilOneEnds = (): Promise<void> =>
    new Promise((resolve) => {
      signalEnd = resolve
    })
  /** Without a slot for background work, waits for urgent work or until a run ends. */
  const receive = async (max: number): Promise<readonly Delivery[]> => {
    const free = backgroundMax - background
    if (free > 0) return queue.receive(max, stop, free)
    const wait = new AbortController()
    // Without a reason, every abort makes an error with a stack.
    const end = (): void => wait.abort('over')
    signalEnd = end
    stop.addEventListener('abort', end)
    if (stop.aborted) end()
    const received = await queue.receive(max, wait.signal, 0)
    stop.removeEventListener('abort', end)
    return received
  }

  while (!stop.aborted) {
    const max = Math.min(batchMax, concurrency - running, await pace.awaitAllowance(stop))
    const turns = max > 0 ? turnsOf(await receive(max), queue) : []
    pace.spend(turns.length)
    for (const turn of turns) void run(turn)
    if (running >= concurrency) await untilOneEnds()
  }
  while (running > 0) await untilOneEnds()
}

const batchMax = 10

/**
 * Slots that background work leaves free: a user's change finds one, however long the runs of a fan-out or a resync
 * take.
 */
function reservedOf(concurrency: number): number {
  return concurrency < 4 ? 0 : Math.ceil(concurrency / 10)
}

function isBackground({ wakeUps }: Turn): boolean {
  return wakeUps.every(({ lane }) => lane === 'background')
}

/**
 * Runs every key of a batch, side by side; the deliveries of those that could not be ended. Their messages are left as
 * they are.
 */
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
    options.logger.error('turn not hidden; it is redelivered after its visibility timeout', {
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
    if (error instanceof OverrunError) return true
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
