import type { NoteStored } from './references.ts'
import { noteSlots, wakeSlots, type SweepOptions, type SweptController, type Watching } from './sweep.ts'
import { wheelSlots, type Slots } from '../../model/wheel.ts'
import type { Clock } from '../../ports/clock.ts'
import { goRound } from './wheel-round.ts'

/**
 * The first look of a loop at objects that were there before it was, or before it learned to watch something: nobody
 * has run them, or noted what they refer to. Some of it with each tick, as much whatever there is.
 */
export interface AwsIntroduction {
  /** How far it is after this tick. */
  advance(controller: SweptController, begun: Introduced, room: Room): Promise<Introduced>
}

/** What this tick may still wake. */
export interface Room extends Pick<SweepOptions, 'queueOf'> {
  readonly keysMax: number
  /** When the tick has to be over. */
  readonly untilMs: number
}

/** How far the objects of a loop have been looked at. */
export interface Introduced {
  /** The id of what the loop watches. */
  readonly watching?: string
  /** Slots of the wheel whose objects were asked what they refer to. */
  readonly noted: number
  /** Slots whose objects were woken. */
  readonly woken: number
}

export interface AwsIntroductionOptions extends Pick<SweepOptions, 'index'> {
  readonly noteStored: NoteStored
  readonly clock: Clock
}

/**
 * About so many keys in a tick, and no more when the time is up: asking one takes a read or two, and a write where it
 * was not noted.
 */
const keysPerTick = 5_000
const notingMs = 15_000

/** Of a loop that is new. */
export const notIntroduced: Introduced = { noted: 0, woken: 0 }

/** Of a loop that no object is older than. */
export function completeIntroduction({ watching }: SweptController): Introduced {
  return { ...(watching && { watching: watching.id }), noted: wheelSlots, woken: wheelSlots }
}

export function createAwsIntroduction(options: AwsIntroductionOptions): AwsIntroduction {
  const { clock } = options

  function some(
    from: number,
    { keysMax, untilMs }: Pick<Room, 'keysMax' | 'untilMs'>,
    visit: (slots: Slots) => Promise<number>,
  ): Promise<number> {
    const most = Math.min(keysMax, keysPerTick)
    return goRound(from, visit, (seen) => seen >= most || clock.nowMs() > untilMs)
  }

  function note({ kinds }: Watching, from: number, room: Room): Promise<number> {
    const untilMs = Math.min(room.untilMs, clock.nowMs() + notingMs)
    return some(from, { keysMax: keysPerTick, untilMs }, (slots) => noteSlots(options, kinds, slots))
  }

  /** The queue is sent to at the pace of those who run it. */
  function wake(controller: SweptController, from: number, room: Room): Promise<number> {
    const dedupId = `introduction ${controller.watching?.id ?? ''}`
    const swept = { index: options.index, queueOf: room.queueOf, controllers: [controller] }
    return some(from, room, (slots) => wakeSlots(swept, slots, { dedupId }))
  }

  return {
    advance: async (controller, begun, room) => {
      const { watching } = controller
      // Begins with the next tick: by then the relay is of this version, too, and notes what changes behind us.
      if (begun.watching !== watching?.id) return { ...notIntroduced, ...(watching && { watching: watching.id }) }
      // All is noted before any is run: who runs has seen the others as they are, and is woken by them from then on.
      if (watching !== undefined && begun.noted < wheelSlots)
        return { ...begun, noted: await note(watching, begun.noted, room) }
      return begun.woken < wheelSlots ? { ...begun, woken: await wake(controller, begun.woken, room) } : begun
    },
  }
}
