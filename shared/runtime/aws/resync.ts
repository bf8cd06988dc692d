import {
  createControlLoops,
  createControlNotes,
  garbageSwept,
  sweptControllersOf,
  type ControlLoop,
} from '../../engine/loops/control-loops.ts'
import { garbageCollectorName } from '../../engine/loops/garbage-collector.ts'
import { duePerSweep, sweepTimers, sweepWheel, type SweptController } from '../../engine/wake/sweep.ts'
import {
  createAwsIntroduction,
  completeIntroduction,
  notIntroduced,
  type AwsIntroduction,
  type Introduced,
  type Room,
} from '../../engine/wake/aws-introduction.ts'
import type { Checkpoint } from '../../ports/checkpoint.ts'
import { pace } from './pacing.ts'
import type { QueueServices } from './services.ts'
import { openEngineServices, type FunctionOptions } from './open.ts'
import { installBasics } from '../../engine/loops/install-basics.ts'
import { lazy } from './lazy.ts'

/**
 * The minute's tick: timers that fall due within the next minute, and the slots that the resync wheel has passed. It
 * does about the same each time: what was missed is made up for in slices, and what a queue has no room for waits for
 * another tick. Two ticks at once, or one late, send the same wake-ups under the same ids.
 */
export type Tick = () => Promise<void>

export interface TickOptions extends QueueServices {
  /** About how many messages wait in a loop's queue. */
  readonly depthOf: (loop: { readonly name: string }) => Promise<number>
}

/** The function behind the schedule. */
export function createResync(options: FunctionOptions): Tick {
  const tick = lazy(() => createTick(openEngineServices(options)))
  return () => tick()()
}

const minuteMs = 60_000
/** Behind so many messages no more background work is put. */
const depthMax = 1_000
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
  readonly #saved: Checkpoint
  readonly #introduction: AwsIntroduction
  #installed: Promise<void> | undefined

  constructor(options: TickOptions) {
    this.#options = options
    this.#loops = createControlLoops(options)
    this.#saved = options.checkpoint('resync')
    this.#introduction = createAwsIntroduction({ ...options, noteStored: createControlNotes(options) })
  }

  async run(): Promise<void> {
    const refused = await this.#install()
    const nowMs = this.#options.clock.nowMs()
    const text = await this.#saved.load()
    // On a table that nothing has swept yet, no object is older than the loops: the stream tells of all.
    const first = (controller: Swept): Progress => ({
      turnedMs: nowMs,
      ...(text === undefined ? completeIntroduction(controller) : notIntroduced),
    })
    const before = parseProgress(text ?? '[]')
    const after = await Promise.all(
      (await this.#listSwept()).map(async (controller) => {
        const name = nameOf(controller)
        const begun = before[name] ?? first(controller)
        const ended = this.#sweep(controller, begun, nowMs).catch((error: unknown) => {
          this.#options.logger.error('sweep failed; the next tick repeats it', { error: String(error) })
          return begun
        })
        return [name, await ended] as const
      }),
    )
    // Of loops that are there no more nothing is kept: what happens until they are back they have not seen.
    await this.#saved.save(progressText(after))
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

  async #sweep(controller: Swept, begun: Progress, nowMs: number): Promise<Progress> {
    const { index, queueOf, depthOf } = this.#options
    if ((await depthOf(controller)) >= depthMax) return begun
    const one = { index, queueOf, controllers: [controller] }
    const due = controller.name === garbageCollectorName ? 0 : await sweepTimers(one, nowMs, minuteMs)
    const room = this.#roomBeside(due, controller, nowMs)
    if (room.keysMax <= 0) return begun
    const wheel = await this.#turnWheel(turnOf(begun, controller, nowMs), controller, room)
    const { turnedMs: _, ...introduced } = begun
    const isGarbage = controller.name === garbageCollectorName
    const left = { ...room, keysMax: room.keysMax - wheel.woken }
    return {
      turnedMs: wheel.turnedMs,
      ...(isGarbage ? introduced : await this.#introduction.advance(controller, introduced, left)),
    }
  }

  /** As far as there is room, a tick's part at a time. */
  async #turnWheel(turn: WheelTurn, controller: Swept, room: Room): Promise<Turned> {
    const { index } = this.#options
    const one = { index, queueOf: room.queueOf, controllers: [controller] }
    let turnedMs = turn.fromMs
    let woken = 0
    while (turnedMs < turn.toMs && woken < room.keysMax) {
      const toMs = Math.min(turn.toMs, turnedMs + controller.everyMs)
      woken += await sweepWheel(one, turnedMs, toMs)
      turnedMs = toMs
    }
    return { turnedMs, woken }
  }

  /**
   * What the rate limit of a controller leaves of the next minute. More would stand before users' changes: the line
   * goes by the order of asking.
   */
  #roomBeside(due: number, { name }: SweptController, nowMs: number): Room {
    const { queueOf } = this.#options
    const limit = this.#loops.find((loop) => loop.name === name)?.controllerLimit
    if (limit === undefined) return { queueOf, keysMax: Infinity }
    const perSecond = due >= duePerSweep ? 0 : limit.perSecond - due / 60
    return { queueOf: pace(queueOf, { perSecond, nowMs }), keysMax: 60 * perSecond }
  }

  /** Which error keeps a kind of this version from being there. It keeps no other, and the next tick tries again. */
  async #install(): Promise<Error | undefined> {
    this.#installed ??= installBasics(this.#options)
    try {
      await this.#installed
    } catch (error) {
      this.#installed = undefined
      return error as Error
    }
    return undefined
  }
}

/** Most loops stand where others do: each place is said once, so that the text stays within one unit of a write. */
function progressText(all: readonly (readonly [name: string, progress: Progress])[]): string {
  const byPlace = Map.groupBy(all, ([, progress]) => JSON.stringify(progress))
  return JSON.stringify([...byPlace.values()].map((same) => [same[0]?.[1], same.map(([name]) => name)]))
}

/** Earlier versions wrote the progress of each loop by its name. */
function parseProgress(text: string): Readonly<Partial<Record<string, Progress>>> {
  const parsed = JSON.parse(text) as Readonly<Record<string, Progress>> | readonly (readonly [Progress, string[]])[]
  if (!isPlaces(parsed)) return parsed
  return Object.fromEntries(parsed.flatMap(([progress, names]) => names.map((name) => [name, progress])))
}

function isPlaces(parsed: object): parsed is readonly (readonly [Progress, string[]])[] {
  return Array.isArray(parsed)
}

interface Progress extends Introduced {
  /** The wheel's hand. */
  readonly turnedMs: number
}

interface WheelTurn {
  readonly fromMs: number
  readonly toMs: number
}

interface Turned {
  readonly turnedMs: number
  readonly woken: number
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
