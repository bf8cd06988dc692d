import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'
import { deliveryOf, type LoopDelivery } from '../../adapters/aws/sqs/sqs-message.ts'
import { backoffMs } from '../../engine/state/backoff.ts'
import { createControlLoops, type ControlLoop } from '../../engine/loops/control-loops.ts'
import { createFanOut, isFanOut } from '../../engine/wake/fan-out.ts'
import { createLoopMetrics } from '../../engine/insight/loop-metrics.ts'
import { shortWaitMsMax } from '../../engine/state/turn.ts'
import { processBatch } from '../../engine/loops/worker.ts'
import { OperatingError } from '../../model/errors.ts'
import { metrics } from '../../model/metrics.ts'
import { keyText } from '../../model/object-key.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Delivery } from '../../ports/work-queue.ts'
import { openEngineServices, type FunctionOptions } from './open.ts'
import { queueNameOf, type AwsQueues } from './queues.ts'
import type { QueueServices } from './services.ts'
import { createArrivals } from './arrivals.ts'
import { createBatchQueue } from '../../engine/loops/batch-queue.ts'
import { lazy } from '../../model/lazy.ts'
import { SlowTurns } from './slow-turns.ts'

/**
 * Runs the keys of one batch side by side, and says which messages are to stay in the queue. A failure of a run is none
 * of the batch: it is held for its backoff, or it is acknowledged and the object says when it runs next. What is left
 * over is a turn that could not be ended, because the store or the queue is away: it is held for a while, longer each
 * time, and counts as received.
 */
export type ReconcileBatch = (deliveries: readonly LoopDelivery[], timeMs: number) => Promise<readonly Delivery[]>

/** What is left of a function's time for writing down how its runs went. */
const reserveMs = 5_000

/**
 * What of it a reconcile function may still take to end once it was told that its time is over. After that the process
 * ends it, and does so ahead of its answer: behind it, Lambda may have given it the next batch already, whose messages
 * would be lost for as long as their visibility timeout.
 */
const overrunMs = 1_000

/** The function behind a work queue. */
export function createReconcile(
  options: FunctionOptions,
): (event: SQSEvent, timeMs: number) => Promise<SQSBatchResponse> {
  const open = lazy(() => createArrivedBatch({ ...openEngineServices(options), retire: () => retireProcess(options) }))
  return async ({ Records }, timeMs) => {
    const { clock } = options.boundary
    const untilMs = clock.nowMs() + timeMs
    const run = open()
    const all = Records.map((record) => ({ record, arrived: readArrived(record, options) }))
    const kept = new Set(
      await run(
        all.flatMap(({ arrived }) => arrived ?? []),
        untilMs - clock.nowMs(),
      ),
    )
    // What is not readable is kept: it goes the way of those that are given up.
    const left = all.filter(({ arrived }) => arrived === undefined || kept.has(arrived))
    return { batchItemFailures: left.map(({ record }) => ({ itemIdentifier: record.messageId })) }
  }
}

/** A message, and the queue that it came out of. */
export interface Arrived {
  readonly message: LoopDelivery
  readonly arn: string
}

/** As `ReconcileBatch`. What belongs into another queue is sent on, and what may not be run yet is held. */
export type ArrivedBatch = (arrived: readonly Arrived[], timeMs: number) => Promise<readonly Arrived[]>

export function createArrivedBatch(services: QueueServices & Pick<AwsQueues, 'receiveFrom'>): ArrivedBatch {
  const batch = createReconcileBatch(services)
  const take = createArrivals(services)
  return async (arrived, timeMs) => {
    const untilMs = services.clock.nowMs() + timeMs
    const all = await Promise.all(arrived.map(async (one) => ({ one, taken: await take(one.message, one.arn) })))
    const kept = new Set(
      await batch(
        all.flatMap(({ taken }) => (typeof taken === 'object' ? taken : [])),
        untilMs - services.clock.nowMs(),
      ),
    )
    const left = all.filter(({ taken }) => taken === 'keep' || (taken !== 'drop' && kept.has(taken.delivery)))
    return left.map(({ one }) => one)
  }
}

function readArrived(record: SQSRecord, options: FunctionOptions): Arrived | undefined {
  const message = readMessage(record, options.seeing.logger)
  if (message === undefined) return undefined
  observeWait(message, options)
  return { message, arn: record.eventSourceARN }
}

/** Nobody writes the numbers down behind the end of the process. */
function retireProcess({ boundary, seeing }: FunctionOptions): void {
  seeing.telemetry.flush()
  boundary.retire()
}

/**
 * How long a wake-up stood in the queue before anybody took it. What comes again has had its turn, or is held on
 * purpose.
 */
function observeWait({ loop, delivery, sentAtMs }: LoopDelivery, { boundary, seeing }: FunctionOptions): void {
  if (sentAtMs === undefined || delivery.receiveCount > 1) return
  const waited = seeing.telemetry.histogram(metrics.queueSeconds, { name: loop, controller: loop })
  waited(Math.max(0, boundary.clock.nowMs() - sentAtMs) / 1_000)
}

/**
 * Undefined for what is none of our messages: it goes the way of those that are given up, and is told of at its end.
 */
function readMessage(record: SQSRecord, logger: Logger): LoopDelivery | undefined {
  try {
    return deliveryOf(record)
  } catch (error) {
    logger.error('message not readable', { messageId: record.messageId, error: String(error) })
    return undefined
  }
}

export function createReconcileBatch(services: QueueServices): ReconcileBatch {
  const batch = new Batches(services)
  return (deliveries, timeMs) => batch.run(deliveries, timeMs)
}

class Batches {
  readonly #services: QueueServices
  readonly #loops: ReadonlyMap<string, ControlLoop>
  readonly #slow: SlowTurns
  /** A run goes on in this process though its time is over. */
  #mustRetire = false

  constructor(services: QueueServices) {
    this.#services = services
    this.#loops = new Map(createControlLoops(services).map((loop) => [loop.name, measure(loop, services)]))
    this.#slow = new SlowTurns({ ...services, queueNameOf: (name) => queueNameOf(services.capacityOf({ name })) })
  }

  async run(all: readonly LoopDelivery[], timeMs: number): Promise<readonly Delivery[]> {
    const over = new AbortController()
    const ended = new AbortController()
    const untilMs = this.#services.clock.nowMs() + Math.max(0, timeMs - reserveMs)
    this.#slow.begin(untilMs + reserveMs)
    void this.#services.clock
      .sleep(untilMs - this.#services.clock.nowMs(), ended.signal)
      .then(() => over.abort(outOfTime))
    const suspects = await this.#suspectsIn(all)
    const others = all.filter((one) => !suspects.includes(one))
    const kept =
      suspects.length === 0
        ? await this.#runAll(all, over.signal)
        : [
            ...(await this.#runAndDelete(others, over.signal)),
            ...(await this.#runApart(suspects, { signal: over.signal, untilMs })),
          ]
    // Without a reason, every abort makes an error with a stack.
    ended.abort('ended')
    await this.#services.history?.flush()
    if (this.#mustRetire) {
      await this.#deleteDone(all, kept)
      this.#services.retire()
    }
    return kept
  }

  /** A queue may hold wake-ups of fan-outs whose controller this function does not know: it need not. */
  #runnerOf(name: string): ControlLoop['run'] | undefined {
    return this.#loops.get(name)?.run ?? (isFanOut(name) ? createFanOut(this.#services.store) : undefined)
  }

  async #runLoop(name: string, deliveries: readonly Delivery[], signal: AbortSignal): Promise<readonly Delivery[]> {
    const run = this.#runnerOf(name)
    if (run === undefined) return this.#keepUnknown(name, deliveries)
    const { clock, logger, queueOf } = this.#services
    const queue = createBatchQueue({ queue: queueOf({ name }), clock, logger })
    const watched = this.#slow.watch(name, run)
    const worker = { queue, run: watched, logger, concurrency: deliveries.length }
    const unended = await processBatch(deliveries, worker, signal)
    await Promise.all(unended.map((turn) => turn.hold(this.#awayMs(turn.receiveCount)).catch(this.#logNotHeld)))
    const failed = new Set(unended.flatMap(({ wakeUps }) => wakeUps))
    const others = deliveries.filter(({ wakeUp }) => !failed.has(wakeUp))
    if (!(await queue.awaitEnd(others, overrunMs))) this.#mustRetire = true
    queue.close()
    return deliveries.filter((delivery) => !queue.isSettled(delivery))
  }

  #awayMs(receiveCount: number): number {
    return Math.min(shortWaitMsMax, backoffMs(receiveCount, this.#services.random.next()))
  }

  #keepUnknown(name: string, deliveries: readonly Delivery[]): readonly Delivery[] {
    this.#services.logger.error('messages for a control loop that this function does not run', {
      loop: name,
      messages: deliveries.length,
    })
    return deliveries
  }

  async #runAll(all: readonly LoopDelivery[], signal: AbortSignal): Promise<readonly Delivery[]> {
    const byLoop = [...Map.groupBy(all, ({ loop }) => loop)]
    const kept = await Promise.all(byLoop.map(([name, some]) => this.#runLoop(name, some.map(deliveryIn), signal)))
    return kept.flat()
  }

  /**
   * What is late, and was not held when it was handed out before: a process that had it ended without a word. One key
   * may have done that, and would take the others of its batch with it again and again, since their visibility timeouts
   * end together. None, if one key is all there is.
   */
  async #suspectsIn(all: readonly LoopDelivery[]): Promise<readonly LoopDelivery[]> {
    if (new Set(all.map(groupOf)).size < 2) return []
    const late = all.filter((one) => isLate(one, this.#services.clock.nowMs()))
    const lost = await Promise.all(late.map(async (one) => ((await this.#wasHeld(one)) ? [] : [groupOf(one)])))
    const keys = new Set(lost.flat())
    return all.filter((one) => keys.has(groupOf(one)))
  }

  /** Then it is late because the queue is long. */
  async #wasHeld({ delivery: { wakeUp, receiveCount } }: LoopDelivery): Promise<boolean> {
    const reading = this.#services.store.get(wakeUp.key)
    const stored = await (reading instanceof Promise ? reading.catch(this.#logUnread) : reading)
    return (stored?.engine.hold?.receives ?? 0) + 1 >= receiveCount
  }

  /**
   * One after the other, by chance: whoever comes ahead of the one that ends the process is done with, in some round.
   */
  async #runApart(suspects: readonly LoopDelivery[], { signal, untilMs }: Time): Promise<readonly Delivery[]> {
    const kept: Delivery[] = []
    const keys = [...Map.groupBy(suspects, groupOf).values()].map((some) => ({
      some,
      chance: this.#services.random.next(),
    }))
    for (const { some } of keys.sort((a, b) => a.chance - b.chance)) {
      const { loop: name = '' } = some[0] ?? {}
      const isTimeLeft = untilMs - this.#services.clock.nowMs() >= (this.#loops.get(name)?.timeoutMs ?? 0)
      if (isTimeLeft) kept.push(...(await this.#runAndDelete(some, signal)))
      else kept.push(...(await this.#putOff(name, some.map(deliveryIn))))
    }
    return kept
  }

  /** Deleted at once: were the process to end before the batch does, nobody would learn that they are done with. */
  async #runAndDelete(some: readonly LoopDelivery[], signal: AbortSignal): Promise<readonly Delivery[]> {
    const kept = await this.#runAll(some, signal)
    await this.#deleteDone(some, kept)
    return kept
  }

  async #deleteDone(some: readonly LoopDelivery[], kept: readonly Delivery[]): Promise<void> {
    const done = some.filter(({ delivery }) => !kept.includes(delivery))
    for (const [name, all] of Map.groupBy(done, ({ loop }) => loop))
      await this.#services.queueOf({ name }).settle(all.map(deliveryIn)).catch(this.#logNotHeld)
  }

  async #putOff(name: string, deliveries: readonly Delivery[]): Promise<readonly Delivery[]> {
    await this.#services.queueOf({ name }).hold(deliveries, this.#awayMs(1)).catch(this.#logNotHeld)
    return deliveries
  }

  readonly #logNotHeld = (error: unknown): void => {
    this.#services.logger.warn('message not hidden; it is redelivered after its visibility timeout', {
      error: String(error),
    })
  }

  readonly #logUnread = (error: unknown): undefined => {
    this.#services.logger.warn('cannot read whether a late message was hidden; its key runs alone', {
      error: String(error),
    })
  }
}

interface Time {
  readonly signal: AbortSignal
  /** Runs have to end by then. */
  readonly untilMs: number
}

/** In the queue for longer than its holds can have taken; not if it comes for the first time, whatever clocks say. */
function isLate({ delivery: { receiveCount, firstReceivedAtMs = Infinity } }: LoopDelivery, nowMs: number): boolean {
  return receiveCount > 1 && nowMs - firstReceivedAtMs > receiveCount * shortWaitMsMax
}

function groupOf({ loop, delivery }: LoopDelivery): string {
  return `${loop} ${keyText(delivery.wakeUp.key)}`
}

function deliveryIn({ delivery }: LoopDelivery): Delivery {
  return delivery
}

const outOfTime = new OperatingError('DEADLINE_EXCEEDED', 'the time of the function is over')

function measure(loop: ControlLoop, { telemetry, clock }: QueueServices): ControlLoop {
  return { ...loop, run: createLoopMetrics({ ...loop, telemetry, clock }).runner(loop.run) }
}
