import { parseJson } from '../../model/parse-json.ts'
import { hasCode } from '../../model/errors.ts'
import type { ChangeFeed } from '../../ports/change-feed.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { KindName, ObjectIndex } from '../../ports/object-index.ts'
import type { Telemetry } from '../../ports/telemetry.ts'
import type { WakeUp, WorkQueue } from '../../ports/work-queue.ts'
import {
  createControlLoops,
  createControlNotes,
  createControlRelay,
  garbageSwept,
  sweptControllersOf,
  type ControlLoop,
  type ControlLoopsOptions,
} from './control-loops.ts'
import { createPace, unlimited } from '../limits/pace.ts'
import type { HoldBack } from './give-up.ts'
import type { NoteStored } from '../wake/references.ts'
import type { Relay } from '../wake/relay.ts'
import { createLoopMetrics } from '../insight/loop-metrics.ts'
import { adviseOnSpecs } from '../insight/run-advice.ts'
import { sweepTimers, sweptNameOf, type SweepOptions, type SweptController } from '../wake/sweep.ts'
import { work, type WorkerSignals } from './worker.ts'
import { createIntroduction, createLocalWheel, type Introduction } from '../wake/local-wheel.ts'
import { createProgress, type Progress } from '../wake/progress.ts'
import { createSaving, type Checkpoints, type Saving } from '../wake/saving.ts'

/** The engine in one process: what the stream, the queues, the schedule and the functions are on AWS. */
export interface LocalEngineOptions extends ControlLoopsOptions, Checkpoints {
  readonly feed: ChangeFeed
  /** A queue whose deliveries are their receiver's alone for this long. */
  readonly createQueue: (name: string, visibilityMs: number) => WorkQueue
  readonly index: ObjectIndex
  /** Whether a timer of this kind can be due by then. Left out, each can. */
  readonly canBeDue?: (kind: KindName, untilMs: number) => boolean
  readonly clock: Clock
  readonly logger: Logger
  readonly telemetry: Telemetry
  /** Between two looks for due timers; they run on time all the same, since each look goes one tick ahead. */
  readonly tickMs: number
  /** Holds back what was given up. Left out, nothing was. */
  readonly holdBack?: HoldBack
}

/** Runs until told to stop; resolves when the last run has ended and the checkpoints are saved, or cannot be. */
export async function runLocalEngine(options: LocalEngineOptions, signals: WorkerSignals): Promise<void> {
  const { clock, logger, holdBack = (_, run) => run } = options
  const loops = createControlLoops(options).map((loop) => measure(loop, options))
  adviseOnSpecs(options.controllers, options)
  const from = (await options.relayed.load()) ?? '0'
  const turnedMs = Number((await options.turned.load()) ?? clock.nowMs())
  const changes = createProgress({ from: BigInt(from), positionOf: changePosition })
  const turns = createProgress({ from: BigInt(turnedMs), positionOf: turnPosition })
  const queues = new Map(
    loops.map(({ name, timeoutMs, counted }) => {
      const queue = counted(options.createQueue(name, visibilityTimes * timeoutMs))
      return [name, turns.noteSends(name, changes.noteSends(name, queue))]
    }),
  )
  const queueOf = ({ name }: { readonly name: string }): WorkQueue => queues.get(name) as WorkQueue
  const swept: SweepOptions = {
    index: options.index,
    queueOf,
    controllers: sweptControllersOf(loops),
  }
  const relay = createControlRelay(options, queueOf)
  const noteStored = createControlNotes(options)
  const engine = { ...options, from, turnedMs, changes, turns, swept, relay, noteStored }
  const saving = createSaving(engine)

  await Promise.all([
    followFeed(engine, signals.stop),
    tick({ ...engine, saving }, signals.stop),
    ...loops.map(({ name, run, concurrency, controllerLimit }) =>
      work(
        {
          queue: queueOf({ name }),
          run: turns.noteEnds(name, changes.noteEnds(name, holdBack(name, run))),
          logger,
          concurrency,
          pace: controllerLimit === undefined ? unlimited : createPace(controllerLimit, clock),
        },
        signals,
      ),
    ),
  ])
  await saving.saveAll().catch((error: unknown) => {
    logger.error('progress of the engine not saved; the next start repeats some work', { error: String(error) })
  })
}

function measure(loop: ControlLoop, { telemetry, clock }: LocalEngineOptions) {
  const { runner, queue } = createLoopMetrics({ ...loop, telemetry, clock })
  return { ...loop, run: runner(loop.run), counted: queue }
}

function changePosition({ resourceVersion }: WakeUp): bigint | undefined {
  return resourceVersion === undefined ? undefined : BigInt(resourceVersion)
}

/** A turn of the wheel that is not over is made again from its beginning. */
function turnPosition({ origin, notBeforeMs }: WakeUp): bigint | undefined {
  return origin === 'resync' && notBeforeMs !== undefined ? BigInt(notBeforeMs) + 1n : undefined
}

interface Running extends LocalEngineOptions {
  readonly from: string
  readonly turnedMs: number
  readonly changes: Progress
  readonly turns: Progress
  readonly swept: SweepOptions
  readonly relay: Relay
  readonly noteStored: NoteStored
}

/** Relays changes, from where the last process was safe. */
async function followFeed(engine: Running, signal: AbortSignal): Promise<void> {
  const { feed, relay, changes } = engine
  const looks: Promise<void>[] = []
  let looking = 0
  let after: string | undefined = engine.from
  /** Who ends before everything has been looked at begins again where it began. */
  const notePassed = (): void => {
    if (looking === 0 && after !== undefined) changes.notePassed(BigInt(after))
  }
  const look = async (from: string): Promise<void> => {
    looking++
    await lookAtAll(engine, from, signal)
    // Not all was looked at: what goes on until the end passes nothing.
    if (signal.aborted) return
    looking--
    notePassed()
  }
  while (!signal.aborted) {
    try {
      if (after === undefined) looks.push(look((after = await feed.latest())))
      for await (const batch of feed.follow({ after, signal })) {
        await relay(batch.changes)
        after = batch.resourceVersion
        notePassed()
      }
    } catch (error) {
      if (hasCode(error, 'EXPIRED')) after = undefined
      else await logAndWait(engine, error, signal)
    }
  }
  await Promise.all(looks)
}

/**
 * The feed does not reach back to where we were: level-triggered, we can look at everything instead, while it goes on
 * from where it is. Wakes every object there is, a little at a time, and those that may have lost their owners.
 */
async function lookAtAll(engine: Running, resourceVersion: string, signal: AbortSignal): Promise<void> {
  let introduction: Introduction | undefined
  for (let isOver = false; !isOver && !signal.aborted;) {
    try {
      introduction ??= createIntroduction({ ...engine, swept: await withGarbage(engine), resourceVersion })
      isOver = await introduction.advance()
      if (!isOver) await engine.clock.sleep(engine.tickMs, signal)
    } catch (error) {
      await logAndWait(engine, error, signal)
    }
  }
}

async function withGarbage({ swept, catalog }: Running): Promise<SweepOptions> {
  return { ...swept, controllers: [...swept.controllers, ...garbageSwept(await catalog.listStored())] }
}

/** As on AWS: a delivery comes again only when its run is over for certain. */
const visibilityTimes = 6

async function logAndWait({ logger, clock }: Running, error: unknown, signal: AbortSignal): Promise<void> {
  logger.error('relay failed; it continues from the same position', {
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
  })
  await clock.sleep(1_000, signal)
}

/** Looks for due timers and turns the wheel; now and then saves how far everything got. */
async function tick(engine: Running & { readonly saving: Saving }, signal: AbortSignal): Promise<void> {
  const { clock, logger, tickMs, turns, swept, saving, canBeDue } = engine
  const wheel = createLocalWheel({ ...engine, fromMs: engine.turnedMs })
  let introduce = (): Promise<void> => beginIntroduction(engine).then((next) => (introduce = next)())
  const logFailure = (error: unknown): void =>
    logger.error('tick failed; the next tick repeats it', { error: String(error) })
  while (!signal.aborted) {
    const nowMs = clock.nowMs()
    // What cannot be introduced keeps no timer waiting.
    await introduce().catch(logFailure)
    try {
      const controllers = swept.controllers.filter(({ kind }) => canBeDue?.(kind, nowMs + tickMs) ?? true)
      await sweepTimers({ ...swept, controllers }, nowMs, tickMs)
      const woken = wheel.isDue(nowMs) ? await wheel.turn(nowMs, (await withGarbage(engine)).controllers) : 0
      turns.notePassed(BigInt(wheel.findTurnedMs()))
      await saving.save(nowMs, woken > 0)
    } catch (error) {
      logFailure(error)
    }
    await clock.sleep(tickMs, signal)
  }
}

/**
 * Loops that were not there before look at every object of their kinds: nobody has run them. So do those that learned
 * to watch something: nobody has noted who refers to it. What is to be called at each tick.
 */
async function beginIntroduction(engine: Running & { readonly saving: Saving }): Promise<() => Promise<void>> {
  const { introduced, feed, swept, saving } = engine
  const known = parseJson((await introduced.load()) ?? '[]') as readonly string[]
  const names = swept.controllers.map(nameWithWatches)
  const fresh = swept.controllers.filter((controller) => !known.includes(nameWithWatches(controller)))
  const kept = known.filter((name) => names.includes(name))
  saving.begin(kept.length < known.length ? kept : undefined)
  if (fresh.length === 0) return async () => {}
  let isOver = false
  const resourceVersion = await feed.latest()
  const introduction = createIntroduction({ ...engine, swept: { ...swept, controllers: fresh }, resourceVersion })
  return async () => {
    if (isOver || !(await introduction.advance())) return
    isOver = true
    saving.introduce(names, BigInt(resourceVersion))
  }
}

function nameWithWatches(controller: SweptController): string {
  const { watching } = controller
  return watching === undefined ? sweptNameOf(controller) : `${sweptNameOf(controller)} ${watching.id}`
}
