import { hasCode } from '../model/errors.ts'
import type { ChangeFeed } from '../ports/change-feed.ts'
import type { Checkpoint } from '../ports/checkpoint.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { ObjectIndex } from '../ports/object-index.ts'
import type { WorkQueue } from '../ports/work-queue.ts'
import { createControlLoops, createControlRelay, type ControlLoopsOptions } from '../engine/control-loops.ts'
import type { Relay } from '../engine/relay.ts'
import { sweepTimers, sweepWheel, type SweepOptions } from '../engine/sweep.ts'
import { work, type WorkerSignals } from '../engine/worker.ts'
import { createRelayProgress, type RelayProgress } from './relay-progress.ts'

/** The engine in one process: what the stream, the queues, the schedule and the functions are on AWS. */
export interface LocalEngineOptions extends ControlLoopsOptions {
  readonly feed: ChangeFeed
  /** A queue whose deliveries are their receiver's alone for this long. */
  readonly createQueue: (name: string, visibilityMs: number) => WorkQueue
  /** How far the relay got. */
  readonly relayed: Checkpoint
  /** When the wheel was last turned. */
  readonly turned: Checkpoint
  readonly index: ObjectIndex
  readonly clock: Clock
  readonly logger: Logger
  /** Between two looks for due timers; they run on time all the same, since each look goes one tick ahead. */
  readonly tickMs: number
}

/** Runs until told to stop; resolves when the last run has ended and the checkpoint is saved. */
export async function runLocalEngine(options: LocalEngineOptions, signals: WorkerSignals): Promise<void> {
  const { clock, logger } = options
  const from = (await options.relayed.load()) ?? '0'
  const progress = createRelayProgress(from)
  const loops = createControlLoops(options)
  const queues = new Map(
    loops.map(({ name, timeoutMs }) => [
      name,
      progress.noting(name, options.createQueue(name, visibilityTimes * timeoutMs)),
    ]),
  )
  const queueOf = ({ name }: { readonly name: string }): WorkQueue => queues.get(name) as WorkQueue
  const relay = createControlRelay(options, queueOf)
  const swept: SweepOptions = {
    index: options.index,
    queueOf,
    controllers: loops.flatMap(({ kind, ...loop }) => (kind === undefined ? [] : [{ ...loop, kind }])),
  }

  await Promise.all([
    followFeed({ ...options, relay, progress, from, sweep: swept }, signals.stop),
    tick({ ...options, progress, sweep: swept }, signals.stop),
    ...loops.map((loop) =>
      work(
        {
          queue: queueOf(loop),
          run: progress.ending(loop.name, loop.run),
          clock,
          logger,
          concurrency: loop.concurrency,
        },
        signals,
      ),
    ),
  ])
  await options.relayed.save(progress.safe())
}

interface Following extends Pick<LocalEngineOptions, 'feed' | 'logger' | 'clock'> {
  readonly relay: Relay
  readonly progress: RelayProgress
  readonly from: string
  readonly sweep: SweepOptions
}

/** Relays changes, from where the last process was safe. */
async function followFeed(options: Following, signal: AbortSignal): Promise<void> {
  let after = options.from
  while (!signal.aborted) {
    try {
      for await (const batch of options.feed.follow({ after, signal })) {
        await options.relay(batch.changes)
        after = batch.resourceVersion
        options.progress.relayed(after)
      }
    } catch (error) {
      if (hasCode(error, 'EXPIRED')) after = await wakeEverything(options)
      else await logAndWait(options, error, signal)
    }
  }
}

/** The feed does not reach back to where we were: level-triggered, we can look at everything instead. */
async function wakeEverything({ feed, sweep, clock }: Following): Promise<string> {
  const latest = await feed.latest()
  const now = clock.nowMs()
  await sweepWheel(sweep, now - longestMs, now)
  return latest
}

/** As on AWS: a delivery comes again only when its run is over for certain. */
const visibilityTimes = 6

/** Longer than any period, so that every slot is passed. */
const longestMs = 365 * 24 * 3_600_000

async function logAndWait({ logger, clock }: Following, error: unknown, signal: AbortSignal): Promise<void> {
  logger.error('relay failed; it goes on from where it was', {
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
  })
  await clock.sleep(1_000, signal)
}

type Ticking = Pick<LocalEngineOptions, 'clock' | 'logger' | 'tickMs' | 'turned' | 'relayed'> & {
  readonly progress: RelayProgress
  readonly sweep: SweepOptions
}

/** Looks for due timers and turns the wheel; now and then saves how far everything got. */
async function tick(options: Ticking, signal: AbortSignal): Promise<void> {
  const { clock, logger, tickMs } = options
  const saved = { relayed: options.progress.safe(), turnedMs: Number((await options.turned.load()) ?? clock.nowMs()) }
  let turnedMs = saved.turnedMs
  while (!signal.aborted) {
    const nowMs = clock.nowMs()
    try {
      await sweepTimers(options.sweep, nowMs + tickMs)
      await sweepWheel(options.sweep, turnedMs, nowMs)
      turnedMs = nowMs
      await saveProgress(options, saved, turnedMs)
    } catch (error) {
      logger.error('tick failed; the next one makes up for it', { error: String(error) })
    }
    await clock.sleep(tickMs, signal)
  }
}

/** An idle process writes nothing but, once a minute, where the wheel stands. */
async function saveProgress(
  { progress, relayed, turned }: Ticking,
  saved: { relayed: string; turnedMs: number },
  turnedMs: number,
): Promise<void> {
  const safe = progress.safe()
  if (safe !== saved.relayed) await relayed.save((saved.relayed = safe))
  if (turnedMs - saved.turnedMs >= 60_000) await turned.save(String((saved.turnedMs = turnedMs)))
}
