import {
  allControllers,
  createControlLoops,
  createControlNotes,
  garbageSwept,
  sweptControllersOf,
  type ControlLoop,
} from '../../engine/loops/control-loops.ts'
import { listDue, sweptNameOf, wakeDue, type DuePage, type SweptController } from '../../engine/wake/sweep.ts'
import {
  createAwsIntroduction,
  completeIntroduction,
  notIntroduced,
  type AwsIntroduction,
} from '../../engine/wake/aws-introduction.ts'
import { wholeShare, type Share } from '../../adapters/aws/dynamodb/dynamodb-keys.ts'
import { queueNameOf } from './queues.ts'
import { createSendPace, pacedQueue, type PacedQueue, type SendPace, type Sending } from './pacing.ts'
import { openSendLine, type SendLine } from './send-line.ts'
import { workersOf, type KnownQueue } from './send-window.ts'
import type { Rank } from '../../ports/in-hand.ts'
import type { DueTimer, ObjectIndex } from '../../ports/object-index.ts'
import type { QueueServices } from './services.ts'
import { saveProgress, type Loaded, type SavedProgress, type SweepProgress } from './tick-progress.ts'
import { minuteMs, turnOf, turnWheel, type Sender, type Swept, type WheelPlace, type WheelTurn } from './wheel-turn.ts'
import { openEngineServices, type FunctionOptions } from './open.ts'
import { installRoles } from '../../resources/bootstrap-roles.ts'
import { installBasics } from '../../engine/loops/install-basics.ts'
import { netAfterMs } from '../../model/engine-state.ts'
import { createTellUnmet, type TellUnmet } from './unmet-changes.ts'
import { adviseOnSpecs } from '../../engine/insight/run-advice.ts'

/**
 * The minute's tick: timers that fall due within the next minute, and the slots that the resync wheel has passed. What
 * is more than a handful is sent at the pace of those who run it, while the tick stays awake. What was missed is made
 * up for in slices, and what a queue has no room for waits for another tick. Two ticks at once, or one late, send the
 * same wake-ups under the same ids. One of which a part fails does the rest, and rejects then: an alarm counts that.
 */
export type Tick = () => Promise<void>

/** Where one function does not do: one of several that tick, each for its part of the partitions of every kind. */
export type TickShare = Share

export interface TickOptions extends QueueServices {
  /** About how many messages wait in a loop's queue. */
  readonly depthOf: (loop: { readonly name: string }) => Promise<number>
  /** Has the queues used that there are now. */
  readonly advanceQueues?: () => Promise<void>
  /** Default: everything. */
  readonly share?: Share
  /** Of every partition, where `index` is one of a share: what is new is introduced by one of the ticks. */
  readonly wholeIndex?: Pick<ObjectIndex, 'onWheel'>
}

/** The function behind the schedule, which says whose turn it is. */
export function createResync(options: FunctionOptions): (share?: Share) => Promise<void> {
  const ticks = new Map<string, Tick>()
  return (share = wholeShare) => {
    const name = JSON.stringify([share.index, share.of])
    const tick = ticks.get(name) ?? openTick(options, share)
    ticks.set(name, tick)
    return tick()
  }
}

function openTick(options: FunctionOptions, share: Share): Tick {
  const services = openEngineServices(options, share)
  const isWhole = share.of === wholeShare.of
  return createTick({ ...services, share, wholeIndex: (isWhole ? services : openEngineServices(options)).index })
}

/** How many runs each of those who run at once may get of the background each second, where turns are quick. */
const runsPerSecond = 10
/** Behind the work of so many seconds no more background work is put. */
const secondsBehindMax = 10
/** Then the next tick is near. */
const awakeMs = 45_000
/** So often the safety net is looked at. */
const netEveryMs = 5 * minuteMs
const netReachMs = 60 * minuteMs
/** So far back a look goes over what was looked at, for the second and the third time. */
const netAgainMs = 2 * netEveryMs
/** An hour's slots at once, of garbage: looking costs, too. */
const garbageEveryMs = 60 * minuteMs

export function createTick(options: TickOptions): Tick {
  const ticker = new Ticker(options)
  return () => ticker.run()
}

class Ticker {
  readonly #options: TickOptions
  readonly #loops: readonly ControlLoop[]
  readonly #share: Share
  readonly #saved: SavedProgress
  readonly #introduction: AwsIntroduction
  readonly #tellUnmet: TellUnmet
  #installed: Promise<void> | undefined

  constructor(options: TickOptions) {
    this.#options = options
    this.#tellUnmet = createTellUnmet(
      allControllers(options).map(({ name }) => name),
      options.telemetry,
    )
    this.#loops = createControlLoops(options)
    this.#share = options.share ?? wholeShare
    this.#saved = saveProgress(this.#share, options.checkpoint)
    const { wholeIndex, index } = options
    this.#introduction = createAwsIntroduction({
      ...options,
      index: { ...index, ...wholeIndex },
      noteStored: createControlNotes(options),
    })
  }

  async run(): Promise<void> {
    const untilMs = this.#options.clock.nowMs() + awakeMs
    const before = await this.#beginProgress()
    const isFirst = this.#share.index === 0
    let failure = isFirst ? await this.#install() : undefined
    if (isFirst) failure = (await this.#advanceQueues()) ?? failure
    const nowMs = this.#options.clock.nowMs()
    const fail = (error: unknown): void => {
      this.#options.logger.error('sweep failed; the next tick repeats it', { error: String(error) })
      failure ??= error as Error
    }
    const time: TickTime = { nowMs, untilMs, ways: new Map(), known: before.queues, fail }
    const after = await Promise.all(
      (await this.#listSwept(nowMs)).map(async (controller) => {
        const name = sweptNameOf(controller)
        const begun = before.placeOf(controller)
        return [name, await tryPart(this.#sweep(controller, begun, time), begun, time)] as const
      }),
    )
    await this.#saved.save({ progress: after, queues: await knownOf(time) })
    if (failure !== undefined) throw failure
  }

  /**
   * Where each loop goes on. Nothing is kept of a loop that is there no more: it has not seen what happens until it is
   * back. A new loop begins here. The places are saved ahead of all else, since this tick may not come to its end, and
   * none may for hours. A later tick without a place would look back an hour only, and miss what was lost before.
   */
  async #beginProgress(): Promise<Begin> {
    const before = await this.#saved.load()
    const { progress: known = {}, queues = new Map() } = before ?? {}
    const nowMs = this.#options.clock.nowMs()
    const placeOf = (controller: Swept): SweepProgress => {
      // On a table that nothing has swept yet, no object is older than the loops: the stream tells of all.
      const introduced = before === undefined ? completeIntroduction(controller) : notIntroduced
      const place = known[sweptNameOf(controller)] ?? { turnedMs: nowMs, ...introduced }
      // An earlier version said 0 where it had not come to it.
      const isNetUnknown = controller.everyMs === minuteMs && (place.nettedMs ?? 0) === 0
      return isNetUnknown ? { ...place, nettedMs: nowMs - netReachMs + netAgainMs } : place
    }
    const progress = (await this.#listSwept(0)).map((one) => [sweptNameOf(one), placeOf(one)] as const)
    const isSaved =
      progress.length === Object.keys(known).length && progress.every(([name, one]) => known[name] === one)
    if (!isSaved) await this.#saved.save({ progress, queues: [...queues] })
    return { placeOf, queues }
  }

  /** Each minute begins with another one: where there is little room, it is not always for the same. */
  async #listSwept(nowMs: number): Promise<readonly Swept[]> {
    const all = [
      ...sweptControllersOf(this.#loops).map((controller) => ({ ...controller, everyMs: minuteMs })),
      ...garbageSwept(await this.#options.catalog.listStored()).map((controller) => ({
        ...controller,
        everyMs: garbageEveryMs,
      })),
    ]
    const first = Math.floor(nowMs / minuteMs) % all.length
    return [...all.slice(first), ...all.slice(0, first)]
  }

  async #sweep(controller: Swept, begun: SweepProgress, time: TickTime): Promise<SweepProgress> {
    const { concurrency } = this.#options.capacityOf(controller)
    const way = await this.#wayTo(controller, time)
    if (way.line.waiting >= secondsBehindMax * runsPerSecond * concurrency)
      return { ...begun, toldMs: await this.#tellOld(begun, controller, time) }
    const turn = turnOf(begun, controller, time.nowMs)
    if (controller.everyMs > minuteMs) {
      const { within: _, ...others } = begun
      return { ...others, ...(await this.#turnWheel(turn, controller, way)) }
    }
    const due = await listDue(this.#options, controller, time.nowMs + minuteMs)
    const timers = this.#wakeTimers(due, controller, { ...time, ...way })
    const { nettedMs: handMs = time.nowMs } = begun
    const netting = this.#wakeNetted(handMs, controller, { ...time, ...way })
    const beside = this.#paceBeside(due, controller, way.pace)
    const turning =
      beside === undefined ? begun : this.#sweepWheel(turn, controller, { ...time, ...way, begun, pace: beside })
    const [progress, nettedMs] = await Promise.all([
      turning,
      tryPart(netting, handMs, time),
      tryPart(timers, undefined, time),
    ])
    this.#tellLate(controller, progress, time)
    return { ...progress, nettedMs }
  }

  /** Loops may share a queue: then they share its pace and its line. */
  #wayTo(controller: Swept, { untilMs, ways, known }: TickTime): Promise<Way> {
    const { depthOf, capacityOf, clock, inHand, random, logger } = this.#options
    const { queue, concurrency, queues = 1 } = capacityOf(controller)
    const opened = ways.get(queue)
    if (opened !== undefined) return opened
    const pace = createSendPace({ clock, perSecond: (runsPerSecond * concurrency) / this.#share.of, untilMs })
    const opening = openSendLine({
      clock,
      untilMs,
      queue: queueNameOf({ queue }),
      limits: { ...workersOf(concurrency, queues), share: this.#share },
      known: known.get(queueNameOf({ queue })),
      depth: () => depthOf(controller),
      inHand,
      newId: () => random.uuid().slice(0, 8),
      logger,
    })
    const way = opening.then((line) => ({ line, pace }))
    ways.set(queue, way)
    return way
  }

  /**
   * Those whose change got lost on its way; up to when they were looked for. Each is woken three times, in case that
   * its message is lost, too. Behind a longer time without ticks each of them looks at an hour of it.
   */
  async #wakeNetted(handMs: number, controller: Swept, { nowMs, ...way }: TickTime & Way) {
    // A clock may go back.
    if (Math.abs(nowMs - handMs) < netEveryMs) return handMs
    const fromMs = Math.min(handMs, nowMs) - netAgainMs
    const toMs = Math.min(nowMs, fromMs + netReachMs)
    const lost = await this.#options.listNetted(controller.kind, fromMs, toMs)
    this.#tellOldest(lost, controller, nowMs)
    const timers = lost.slice(0, way.pace.grant(lost.length))
    const sender = this.#senderOf(way, controller, 'timer')
    await wakeDue(sender, controller, { timers, nowMs })
    // Those that were run are not in it any more when the next tick looks.
    return timers.length < lost.length || sender.unsent > 0 ? handMs : toMs
  }

  /**
   * Nobody is woken behind a long queue. But it may be long because nobody runs what is in it: what has been there for
   * a quarter of an hour and no more than five minutes longer is told.
   */
  async #tellOld({ toldMs = 0 }: SweepProgress, controller: Swept, { nowMs }: TickTime): Promise<number> {
    if (controller.everyMs > minuteMs || Math.abs(nowMs - toldMs) < netEveryMs) return toldMs
    const toMs = nowMs - 2 * netEveryMs
    this.#tellOldest(await this.#options.listNetted(controller.kind, toMs - netEveryMs, toMs), controller, nowMs)
    return nowMs
  }

  #tellOldest([oldest]: readonly DueTimer[], { name }: Swept, nowMs: number): void {
    if (oldest !== undefined) this.#tellUnmet(name, nowMs - oldest.dueAtMs + netAfterMs)
  }

  /** All that are due, or those that there is room for. The others are due still when the next tick comes. */
  async #wakeTimers(first: DuePage, controller: Swept, { nowMs, ...way }: TickTime & Way): Promise<void> {
    let page = first
    const sender = this.#senderOf(way, controller, 'timer')
    for (;;) {
      const timers = page.timers.slice(0, way.pace.grant(page.timers.length))
      await wakeDue(sender, controller, { timers, nowMs })
      if (page.nextMs === undefined || timers.length < page.timers.length || sender.unsent > 0) return
      page = await listDue(this.#options, controller, nowMs + minuteMs, page.nextMs)
    }
  }

  async #sweepWheel(turn: WheelTurn, controller: Swept, { begun, ...way }: TickTime & Way & Begun) {
    const { turnedMs, within, ...introduced } = begun
    const stood: WheelPlace = { turnedMs, ...(within && { within }) }
    const place = await tryPart(this.#turnWheel(turn, controller, way), stood, way)
    if (this.#share.index > 0) return { ...introduced, ...place }
    const sender = this.#senderOf(way, controller, 'sweep')
    const { left: keysMax, untilMs } = way.pace
    const room = { queueOf: sender.queueOf, keysMax, untilMs, unsent: () => sender.unsent }
    return { ...place, ...(await tryPart(this.#introduction.advance(controller, introduced, room), introduced, way)) }
  }

  #turnWheel(turn: WheelTurn, controller: Swept, way: Way): ReturnType<typeof turnWheel> {
    const sender = (isLast: boolean): Sender => this.#senderOf(way, controller, 'sweep', isLast ? 'evenly' : 'soon')
    return turnWheel(turn, controller, { index: this.#options.index, pace: way.pace, sender })
  }

  /**
   * What the rate limit of a controller leaves of the next minute; nothing if it is full. More would stand before
   * users' changes: the line goes by the order of asking.
   */
  #paceBeside({ timers, nextMs }: DuePage, { name }: SweptController, within: SendPace): SendPace | undefined {
    const limit = this.#loops.find((loop) => loop.name === name)?.controllerLimit
    if (limit === undefined) return within
    const perSecond = nextMs === undefined ? limit.perSecond / this.#share.of - timers.length / 60 : 0
    if (perSecond <= 0) return undefined
    const { clock } = this.#options
    const { untilMs } = within
    return createSendPace({ clock, perSecond, untilMs, roomUntilMs: untilMs - awakeMs + minuteMs, within })
  }

  #senderOf(way: Way, { name: loop }: Swept, rank: Rank, haste: Sending['haste'] = 'soon'): Sender {
    const { queueOf, clock } = this.#options
    let last: PacedQueue | undefined
    return {
      queueOf: (one) => (last = pacedQueue(queueOf(one), { clock, ...way, asker: { rank, loop }, haste })),
      get unsent() {
        return last?.unsent ?? 0
      },
    }
  }

  /** Where each tick gets through a part only, objects are looked at less often than their period says. */
  #tellLate({ name, kind, resyncMs }: Swept, { turnedMs, within }: SweepProgress, { nowMs }: TickTime): void {
    const lateMs = nowMs - turnedMs - resyncMs
    if (resyncMs === 0 || lateMs < minuteMs || within === undefined) return
    this.#options.logger.warn('resyncs take longer than their period: raise the concurrency, or the period', {
      controller: name,
      kind: kind.kind,
      resyncSeconds: resyncMs / 1_000,
      lateSeconds: Math.round(lateMs / 1_000),
    })
  }

  /** Which error keeps a kind of this version from being there. It keeps no other, and the next tick tries again. */
  async #install(): Promise<Error | undefined> {
    this.#installed ??= install(this.#options)
    try {
      await this.#installed
    } catch (error) {
      this.#installed = undefined
      return error as Error
    }
    return undefined
  }

  /** Where the plan stays as it is, wake-ups go by it. */
  async #advanceQueues(): Promise<Error | undefined> {
    try {
      await this.#options.advanceQueues?.()
    } catch (error) {
      this.#options.logger.error('the plan of queues was not looked at; the next tick does', { error: String(error) })
      return error as Error
    }
    return undefined
  }
}

/** The roles are there though a kind is not. */
async function install(options: TickOptions): Promise<void> {
  const { resources, controllers } = options
  await installRoles(resources, controllers)
  await installBasics(options)
  adviseOnSpecs(controllers, options)
}

/** Where a tick goes on. */
interface Begin {
  readonly placeOf: (controller: Swept) => SweepProgress
  readonly queues: Loaded['queues']
}

interface TickTime {
  readonly nowMs: number
  /** Then the tick has to be over, however late it began to sweep: its function has ten seconds more. */
  readonly untilMs: number
  /** By the queue. */
  readonly ways: Map<string, Promise<Way>>
  /** What earlier ticks saw of the queues. */
  readonly known: ReadonlyMap<string, KnownQueue>
  /** Takes note of a part that failed. */
  readonly fail: (error: unknown) => void
}

/** How far a part got. One that fails is told, stays where it was, and takes nothing from the other parts. */
async function tryPart<Progress>(
  part: Promise<Progress>,
  before: Progress,
  { fail }: Pick<TickTime, 'fail'>,
): Promise<Progress> {
  try {
    return await part
  } catch (error) {
    fail(error)
    return before
  }
}

/** Into a queue: how fast, and in whose order. */
interface Way {
  readonly pace: SendPace
  readonly line: SendLine
}

interface Begun {
  readonly begun: SweepProgress
}

/** What is to be remembered of the queues that there are. */
async function knownOf({ ways, known }: TickTime): Promise<readonly (readonly [string, KnownQueue])[]> {
  const all = [...ways].map(async ([queue, way]) => {
    const name = queueNameOf({ queue })
    const [opened] = await Promise.allSettled([way])
    const seen = (opened.status === 'fulfilled' ? opened.value.line.known() : undefined) ?? known.get(name)
    return seen === undefined ? [] : [[name, seen] as const]
  })
  return (await Promise.all(all)).flat()
}
