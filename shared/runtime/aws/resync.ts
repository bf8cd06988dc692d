import { parseJson } from '../../model/parse-json.ts'
import {
  createControlLoops,
  createControlNotes,
  garbageSwept,
  sweptControllersOf,
  type ControlLoop,
} from '../../engine/loops/control-loops.ts'
import {
  listDue,
  listPassed,
  wakeDue,
  wakePassed,
  type DuePage,
  type SweepOptions,
  type SweptController,
} from '../../engine/wake/sweep.ts'
import {
  createAwsIntroduction,
  completeIntroduction,
  notIntroduced,
  type AwsIntroduction,
  type Introduced,
} from '../../engine/wake/aws-introduction.ts'
import { wholeShare, type Share } from '../../adapters/aws/dynamodb/dynamodb-keys.ts'
import type { Checkpoint } from '../../ports/checkpoint.ts'
import type { Clock } from '../../ports/clock.ts'
import type { QueueCapacity } from './queues.ts'
import { createSendPace, pacedQueue, type Haste, type SendPace } from './pacing.ts'
import type { QueueServices } from './services.ts'
import { openEngineServices, type FunctionOptions } from './open.ts'
import { installRoles } from '../../resources/bootstrap-roles.ts'
import { installBasics } from '../../engine/loops/install-basics.ts'

/**
 * The minute's tick: timers that fall due within the next minute, and the slots that the resync wheel has passed. What
 * is more than a handful is sent at the pace of those who run it, while the tick stays awake. What was missed is made
 * up for in slices, and what a queue has no room for waits for another tick. Two ticks at once, or one late, send the
 * same wake-ups under the same ids.
 */
export type Tick = () => Promise<void>

/** Where one function does not do: one of several that tick, each for its part of the partitions of every kind. */
export type TickShare = Share

export interface TickOptions extends QueueServices {
  /** About how many messages wait in a loop's queue. */
  readonly depthOf: (loop: { readonly name: string }) => Promise<number>
  readonly capacityOf: (loop: { readonly name: string }) => QueueCapacity
  /** Has the queues used that there are now. */
  readonly advanceQueues?: () => Promise<void>
  /** Default: everything. */
  readonly share?: Share
}

/** The function behind the schedule, which says whose turn it is. */
export function createResync(options: FunctionOptions): (share?: Share) => Promise<void> {
  const ticks = new Map<string, Tick>()
  return (share = wholeShare) => {
    const name = JSON.stringify([share.index, share.of])
    const tick = ticks.get(name) ?? createTick({ ...openEngineServices(options, share), share })
    ticks.set(name, tick)
    return tick()
  }
}

const minuteMs = 60_000
/** How many runs each of those who run at once may get of the background each second. */
const runsPerSecond = 10
/** Behind the work of so many seconds no more background work is put. */
const secondsBehindMax = 10
/** Then the next tick is near. */
const awakeMs = 45_000
/** So often the safety net is looked at. */
const netEveryMs = 5 * minuteMs
const netReachMs = 60 * minuteMs
/** The wheel is turned in steps as small as that where many objects are. */
const stepMsMin = 100
/** So much more than has passed since the last tick is turned at most, until what was missed is made up for. */
const catchUpMax = 5
/** An hour's slots at once, of garbage: looking costs, too. */
const garbageEveryMs = 60 * minuteMs

interface Swept extends SweptController {
  /** How far the wheel is turned at once, as a rule. */
  readonly everyMs: number
}

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
  #installed: Promise<void> | undefined

  constructor(options: TickOptions) {
    this.#options = options
    this.#loops = createControlLoops(options)
    this.#share = options.share ?? wholeShare
    this.#saved = saveProgress(this.#share, options.checkpoint)
    this.#introduction = createAwsIntroduction({ ...options, noteStored: createControlNotes(options) })
  }

  async run(): Promise<void> {
    const isFirst = this.#share.index === 0
    const refused = isFirst ? await this.#install() : undefined
    if (isFirst) await this.#options.advanceQueues?.()
    const nowMs = this.#options.clock.nowMs()
    const before = await this.#saved.load()
    // On a table that nothing has swept yet, no object is older than the loops: the stream tells of all.
    const first = (controller: Swept): Progress => ({
      turnedMs: nowMs,
      ...(before === undefined ? completeIntroduction(controller) : notIntroduced),
    })
    const time: TickTime = { nowMs, paces: new Map() }
    const after = await Promise.all(
      (await this.#listSwept()).map(async (controller) => {
        const name = nameOf(controller)
        const begun = before?.[name] ?? first(controller)
        const ended = this.#sweep(controller, begun, time).catch((error: unknown) => {
          this.#options.logger.error('sweep failed; the next tick repeats it', { error: String(error) })
          return begun
        })
        return [name, await ended] as const
      }),
    )
    // Of loops that are there no more nothing is kept: what happens until they are back they have not seen.
    await this.#saved.save(after)
    if (refused !== undefined) throw refused
  }

  async #listSwept(): Promise<readonly Swept[]> {
    return [
      ...sweptControllersOf(this.#loops).map((controller) => ({ ...controller, everyMs: minuteMs })),
      ...garbageSwept(await this.#options.catalog.listStored()).map((controller) => ({
        ...controller,
        everyMs: garbageEveryMs,
      })),
    ]
  }

  async #sweep(controller: Swept, begun: Progress, time: TickTime): Promise<Progress> {
    const { depthOf, capacityOf } = this.#options
    const { queue, concurrency } = capacityOf(controller)
    const perSecond = runsPerSecond * concurrency
    if ((await depthOf(controller)) >= secondsBehindMax * perSecond) return begun
    const pace = paceIn(time, queue, perSecond / this.#share.of, this.#options.clock)
    const turn = turnOf(begun, controller, time.nowMs)
    if (controller.everyMs > minuteMs) return { ...begun, turnedMs: await this.#turnWheel(turn, controller, pace) }
    const due = await listDue(this.#options, controller, time.nowMs + minuteMs)
    const timers = this.#wakeTimers(due, controller, { ...time, pace })
    const netting = this.#wakeNetted(begun, controller, { ...time, pace })
    const beside = this.#paceBeside(due, controller, pace)
    const turning = beside === undefined ? begun : this.#sweepWheel(turn, controller, { begun, pace: beside })
    const [progress, nettedMs] = await Promise.all([turning, netting, timers])
    return { ...progress, nettedMs }
  }

  /**
   * Those whose change got lost on its way; up to when they were looked for. Each is woken three times, in case that
   * its message is lost, too; who is not found after an hour is left to the resync.
   */
  async #wakeNetted({ nettedMs: handMs = 0 }: Progress, controller: Swept, { nowMs, pace }: TickTime & Paced) {
    // A clock may go back.
    if (Math.abs(nowMs - handMs) < netEveryMs) return handMs
    const fromMs = Math.max(Math.min(handMs, nowMs) - 2 * netEveryMs, nowMs - netReachMs)
    const lost = await this.#options.listNetted(controller.kind, fromMs, nowMs)
    const timers = lost.slice(0, pace.grant(lost.length))
    await wakeDue(this.#at(pace, 'soon'), controller, { timers, nowMs })
    // Those that were run are not in it any more when the next tick looks.
    return timers.length < lost.length ? handMs : nowMs
  }

  /** All that are due, or those that there is room for. The others are due still when the next tick comes. */
  async #wakeTimers(first: DuePage, controller: Swept, { nowMs, pace }: TickTime & Paced): Promise<void> {
    let page = first
    for (;;) {
      const timers = page.timers.slice(0, pace.grant(page.timers.length))
      await wakeDue(this.#at(pace, 'soon'), controller, { timers, nowMs })
      if (page.nextMs === undefined || timers.length < page.timers.length) return
      page = await listDue(this.#options, controller, nowMs + minuteMs, page.nextMs)
    }
  }

  async #sweepWheel(turn: WheelTurn, controller: Swept, { begun, pace }: Paced & Begun): Promise<Progress> {
    const turnedMs = await this.#turnWheel(turn, controller, pace)
    if (this.#share.index > 0) return { ...begun, turnedMs }
    const { turnedMs: _, ...introduced } = begun
    const room = { ...this.#at(pace, 'soon'), keysMax: pace.left, untilMs: pace.untilMs }
    return { turnedMs, ...(await this.#introduction.advance(controller, introduced, room)) }
  }

  /** As far as there is room, a tick's part at a time or less; how far that is. */
  async #turnWheel({ fromMs, toMs }: WheelTurn, controller: Swept, pace: SendPace): Promise<number> {
    let turnedMs = fromMs
    let stepMs = controller.everyMs
    while (turnedMs < toMs && pace.left > 0) {
      const untilMs = Math.min(toMs, turnedMs + stepMs)
      const keys = await listPassed(this.#options, controller, { fromMs: turnedMs, toMs: untilMs })
      if (keys.length > pace.left && stepMs > stepMsMin) {
        stepMs = Math.max(stepMsMin, stepMs / 4)
        continue
      }
      pace.grant(keys.length)
      await wakePassed(this.#at(pace, untilMs < toMs ? 'soon' : 'evenly'), controller, { keys, fromMs: turnedMs })
      turnedMs = untilMs
    }
    return turnedMs
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

  #at(pace: SendPace, haste: Haste): Pick<SweepOptions, 'queueOf'> {
    const { queueOf, clock } = this.#options
    return { queueOf: (loop) => pacedQueue(queueOf(loop), pace, { clock, haste }) }
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
}

/** The roles are there though a kind is not. */
async function install(options: TickOptions): Promise<void> {
  const { resources, controllers } = options
  await installRoles(resources, controllers)
  await installBasics(options)
}

interface SavedProgress {
  load(): Promise<ProgressByName | undefined>
  save(all: readonly (readonly [name: string, progress: Progress])[]): Promise<void>
}

type ProgressByName = Readonly<Partial<Record<string, Progress>>>

/**
 * Each share has its own. One that is new, or was not there for a while, goes on about where the first one is: all of
 * them keep about the same pace.
 */
function saveProgress({ index }: Share, checkpoint: (name: string) => Checkpoint): SavedProgress {
  const first = checkpoint('resync')
  const own = index === 0 ? first : checkpoint(`resync#${index}`)

  const parse = (text: string | undefined): ProgressByName | undefined =>
    text === undefined ? undefined : parseProgress(text)

  const near = (ofFirst: Progress, ofOwn: Progress | undefined): Progress => {
    const turnedMs = Math.max(ofOwn?.turnedMs ?? 0, ofFirst.turnedMs - shareLagMs)
    return ofOwn === undefined ? { ...ofFirst, turnedMs } : { ...ofOwn, turnedMs }
  }

  return {
    load: async () => {
      if (index === 0) return parse(await first.load())
      const [ofFirst = {}, ofOwn = {}] = (await Promise.all([first.load(), own.load()])).map(parse)
      return mapRecord(ofFirst, (progress, name) => near(progress, ofOwn[name]))
    },
    save: (all) => own.save(progressText(all)),
  }
}

function mapRecord(all: ProgressByName, map: (progress: Progress, name: string) => Progress): ProgressByName {
  return Object.fromEntries(Object.entries(all).map(([name, one]) => [name, one && map(one, name)]))
}

/** A share that is further behind the first one was not there. */
const shareLagMs = 15 * minuteMs

/** Most loops stand where others do: each place is said once, so that the text stays within one unit of a write. */
function progressText(all: readonly (readonly [name: string, progress: Progress])[]): string {
  const byPlace = Map.groupBy(all, ([, progress]) => JSON.stringify(progress))
  return JSON.stringify([...byPlace.values()].map((same) => [same[0]?.[1], same.map(([name]) => name)]))
}

/** Earlier versions wrote the progress of each loop by its name. */
function parseProgress(text: string): ProgressByName {
  const parsed = parseJson(text) as Readonly<Record<string, Progress>> | readonly (readonly [Progress, string[]])[]
  if (!isPlaces(parsed)) return parsed
  return Object.fromEntries(parsed.flatMap(([progress, names]) => names.map((name) => [name, progress])))
}

function isPlaces(parsed: object): parsed is readonly (readonly [Progress, string[]])[] {
  return Array.isArray(parsed)
}

interface Progress extends Introduced {
  /** The wheel's hand. */
  readonly turnedMs: number
  /** Whose net wanted a run by then was woken. */
  readonly nettedMs?: number
}

interface WheelTurn {
  readonly fromMs: number
  readonly toMs: number
}

interface TickTime {
  readonly nowMs: number
  /** Of each queue: loops may share one. */
  readonly paces: Map<string, SendPace>
}

interface Paced {
  readonly pace: SendPace
}

interface Begun {
  readonly begun: Progress
}

function paceIn({ nowMs, paces }: TickTime, queue: string, perSecond: number, clock: Clock): SendPace {
  const known = paces.get(queue)
  if (known !== undefined) return known
  const pace = createSendPace({ clock, perSecond, untilMs: nowMs + awakeMs })
  paces.set(queue, pace)
  return pace
}

function nameOf({ name, kind: { group, kind } }: SweptController): string {
  return `${name} ${kind}.${group}`
}

/** Once round is enough, however long nothing turned the wheel; and a tick turns it only so far. */
function turnOf({ turnedMs }: Progress, { resyncMs, everyMs }: Swept, nowMs: number): WheelTurn {
  const fromMs = Math.max(turnedMs, nowMs - Math.max(resyncMs, everyMs))
  const isEarly = everyMs > minuteMs && nowMs - fromMs < everyMs
  return { fromMs, toMs: isEarly ? fromMs : Math.max(fromMs, Math.min(nowMs, fromMs + catchUpMax * everyMs)) }
}
