import {
  noteSlots,
  sweepWheel,
  sweptNameOf,
  wakeSlots,
  type NoteOptions,
  type SweepOptions,
  type SweptController,
} from './sweep.ts'
import { wheelSlots, type Slots } from '../../model/wheel.ts'
import type { Progress } from './progress.ts'
import { goRound } from './wheel-round.ts'

/**
 * Work that concerns every object of a kind, a little at a time: the resyncs that were missed while nobody turned the
 * wheel, and the first look of a loop that is new. So many keys in a tick, and none while as many have not run: a
 * process that starts over a million objects is ready at once, and no queue holds them all. Few objects are done with
 * in one tick.
 */
const keysPerTick = 1_000
/** Into how many slices the wheel is cut. */
const slices = 500
/** Between two turns of wheels that are not behind; less where a period is short. */
const restMsMax = 5_000
const restsMin = 20

export interface LocalWheel {
  /** Whether a turn is worth its work by now. */
  isDue(nowMs: number): boolean
  /** Wakes what is due by now for these, or as much of it as may be; how many. */
  turn(nowMs: number, controllers: readonly SweptController[]): Promise<number>
  /** No wheel is behind this. */
  findTurnedMs(): number
}

export interface LocalWheelOptions {
  readonly swept: Omit<SweepOptions, 'controllers'>
  /** Of the wake-ups that the wheel sends. */
  readonly turns: Pick<Progress, 'countPending'>
  /** Up to when the wheels were turned. */
  readonly fromMs: number
  readonly tickMs: number
}

/** The wheels of all controllers, each with a hand of its own: one that is behind keeps no other waiting. */
export function createLocalWheel({ swept, turns, fromMs: begunMs, tickMs }: LocalWheelOptions): LocalWheel {
  const hands = new Map<string, number>()
  /** Where the hand of a wheel begins that is new. */
  let turnedMs = begunMs
  let nextTurnMs = -Infinity

  async function turnOne(controller: SweptController, nowMs: number): Promise<number> {
    const { resyncMs, name } = controller
    const id = sweptNameOf(controller)
    const sliceMs = Math.max(5 * tickMs, Math.ceil(resyncMs / slices))
    // Once round is enough, however long it stood still.
    let handMs = Math.max(hands.get(id) ?? turnedMs, nowMs - resyncMs)
    hands.set(id, handMs)
    let woken = 0
    for (let isBehind = true; isBehind && woken < keysPerTick;) {
      isBehind = nowMs - handMs > sliceMs
      if (isBehind && turns.countPending(name) >= keysPerTick) break
      const toMs = isBehind ? handMs + sliceMs : nowMs
      woken += await sweepWheel({ ...swept, controllers: [controller] }, handMs, toMs)
      hands.set(id, (handMs = toMs))
    }
    return woken
  }

  return {
    // A clock may go back.
    isDue: (nowMs) => nowMs >= nextTurnMs || nowMs < turnedMs,
    turn: async (nowMs, controllers) => {
      let woken = 0
      for (const controller of controllers) woken += await turnOne(controller, nowMs)
      const ids = new Set(controllers.map(sweptNameOf))
      for (const id of hands.keys()) if (!ids.has(id)) hands.delete(id)
      turnedMs = nowMs
      const isBehind = [...hands.values()].some((handMs) => handMs < nowMs)
      const shortestMs = Math.min(...controllers.map(({ resyncMs }) => resyncMs || Infinity))
      nextTurnMs = isBehind ? nowMs : nowMs + Math.min(restMsMax, shortestMs / restsMin)
      return woken
    },
    findTurnedMs: () => Math.min(turnedMs, ...hands.values()),
  }
}

export interface Introduction {
  /** Looks at some more objects, or wakes none while enough have not run; whether all have been woken. */
  advance(): Promise<boolean>
}

export interface IntroductionOptions extends Omit<NoteOptions, 'index'> {
  readonly swept: SweepOptions
  /** Of the wake-ups that carry a resourceVersion. */
  readonly changes: Pick<Progress, 'countPending'>
  /** Where the feed stands. */
  readonly resourceVersion: string
}

/**
 * The first look of loops that were not there before at every object of their kinds. What these refer to is noted
 * first, of all: an object that runs has seen the others as they are, and from then on it must be woken by them.
 */
export function createIntroduction(options: IntroductionOptions): Introduction {
  const { swept, changes, resourceVersion } = options
  const { controllers, index } = swept
  const id = { dedupId: `all:${resourceVersion}`, resourceVersion }
  const kinds = controllers.flatMap(({ watching }) => watching?.kinds ?? [])
  const isFull = (): boolean => controllers.some(({ name }) => changes.countPending(name) >= keysPerTick)
  let noted = kinds.length === 0 ? wheelSlots : 0
  let woken = 0
  return {
    advance: async () => {
      const note = (slots: Slots): Promise<number> => noteSlots({ ...options, index }, kinds, slots)
      noted = await goRound(noted, note, (seen) => seen >= keysPerTick)
      if (noted < wheelSlots) return false
      const wake = (slots: Slots): Promise<number> => wakeSlots(swept, slots, id)
      woken = await goRound(woken, wake, (seen) => seen >= keysPerTick || isFull())
      return woken >= wheelSlots
    },
  }
}
