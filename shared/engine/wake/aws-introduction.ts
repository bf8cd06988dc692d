import { orderKeys } from './key-order.ts'
import {
  noteSlots,
  wakeKeys,
  type NoteOptions,
  type SweepOptions,
  type SweptController,
  type Watching,
} from './sweep.ts'
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
  /** How many of what was sent last there was no room for. */
  readonly unsent: () => number
}

/** How far the objects of a loop have been looked at. */
export interface Introduced {
  /** The id of what the loop watches. */
  readonly watching?: string
  /** Slots of the wheel whose objects were asked what they refer to. */
  readonly noted: number
  /** Slots whose objects were woken. */
  readonly woken: number
  /** Of the next slot, the objects up to this place were woken (`key-order.ts`). */
  readonly wokenTo?: string
  /** When it began. A queue drops a message that has the id of one of five minutes ago. */
  readonly sinceMs?: number
}

export interface AwsIntroductionOptions extends NoteOptions {
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

  function note({ kinds }: Watching, from: number, room: Room): Promise<number> {
    const untilMs = Math.min(room.untilMs, clock.nowMs() + notingMs)
    const visit = (slots: Slots): Promise<number> => noteSlots(options, kinds, slots)
    return goRound(from, visit, (seen) => seen >= keysPerTick || clock.nowMs() > untilMs)
  }

  /** The queue is sent to at the pace of those who run it. */
  async function wake(
    controller: SweptController,
    begun: Introduced & { readonly sinceMs: number },
    room: Room,
  ): Promise<Introduced> {
    const { wokenTo, ...others } = begun
    const dedupId = `introduction ${controller.watching?.id ?? ''} ${begun.sinceMs}`
    const most = Math.min(room.keysMax, keysPerTick)
    let cut: Pick<Introduced, 'woken' | 'wokenTo'> | undefined

    const visit = async ({ from, to }: Slots): Promise<number> => {
      const all = await options.index.onWheel(controller.kind, from, to)
      const { keys, placeAfter } = orderKeys(all, from === begun.woken ? wokenTo : undefined)
      await wakeKeys(room, controller, { keys, dedupId })
      const unsent = room.unsent()
      if (unsent > 0) {
        const place = to - from === 1 ? placeAfter(keys.length - unsent) : undefined
        cut = { woken: from, ...(place !== undefined && { wokenTo: place }) }
      }
      return keys.length
    }

    const isEnough = (seen: number): boolean => cut !== undefined || seen >= most || clock.nowMs() > room.untilMs
    const woken = await goRound(begun.woken, visit, isEnough)
    return { ...others, ...(cut ?? { woken }) }
  }

  return {
    advance: async (controller, known, room) => {
      const begun = { sinceMs: clock.nowMs(), ...known }
      const { watching } = controller
      // Begins with the next tick: by then the relay is of this version, too, and notes what changes behind us.
      if (begun.watching !== watching?.id) return { ...notIntroduced, ...(watching && { watching: watching.id }) }
      // All is noted before any is run: who runs has seen the others as they are, and is woken by them from then on.
      if (watching !== undefined && begun.noted < wheelSlots)
        return { ...begun, noted: await note(watching, begun.noted, room) }
      return begun.woken < wheelSlots ? wake(controller, begun, room) : known
    },
  }
}
