import { sweepWheel, wakeSlots, type SweepOptions, type SweptController } from '../engine/sweep.ts'
import { wheelSlots } from '../model/wheel.ts'
import type { Progress } from './progress.ts'

/**
 * Work that concerns every object of a kind, a little at a time: the resyncs that were missed while nobody turned the wheel, and
 * the first look of a loop that is new. So many keys in a tick, and none while as many have not run: a process that
 * starts over a million objects is ready at once, and no queue holds them all. Few objects are done with in one tick.
 */
const keysPerTick = 1_000
/** Into how many slices the wheel is cut. */
const slices = 500

export interface LocalWheel {
  /** Wakes what is due by now, or as much of it as may be; how many. */
  turn(nowMs: number): Promise<number>
  /** No wheel is behind this. */
  turnedMs(): number
}

export interface LocalWheelOptions {
  readonly swept: SweepOptions
  /** Of the wake-ups that the wheel sends. */
  readonly turns: Pick<Progress, 'pending'>
  /** Up to when the wheels were turned. */
  readonly fromMs: number
  readonly tickMs: number
}

/** The wheels of all controllers, each with a hand of its own: one that is behind keeps no other waiting. */
export function createLocalWheel({ swept, turns, fromMs: begunMs, tickMs }: LocalWheelOptions): LocalWheel {
  const hands = new Map(swept.controllers.map((controller) => [controller, begunMs]))

  async function turnOne(controller: SweptController, nowMs: number): Promise<number> {
    const { resyncMs, name } = controller
    const sliceMs = Math.max(5 * tickMs, Math.ceil(resyncMs / slices))
    // Once round is enough, however long it stood still.
    let handMs = Math.max(hands.get(controller) ?? nowMs, nowMs - resyncMs)
    let woken = 0
    for (let isBehind = true; isBehind && woken < keysPerTick;) {
      isBehind = nowMs - handMs > sliceMs
      if (isBehind && turns.pending(name) >= keysPerTick) break
      const toMs = isBehind ? handMs + sliceMs : nowMs
      woken += await sweepWheel({ ...swept, controllers: [controller] }, handMs, toMs)
      hands.set(controller, (handMs = toMs))
    }
    return woken
  }

  return {
    turn: async (nowMs) => {
      let woken = 0
      for (const controller of hands.keys()) woken += await turnOne(controller, nowMs)
      return woken
    },
    turnedMs: () => Math.min(...hands.values()),
  }
}

export interface Introduction {
  /** Wakes some more objects, or none while enough have not run; whether all have been woken. */
  advance(): Promise<boolean>
}

export interface IntroductionOptions {
  readonly swept: SweepOptions
  /** Of the wake-ups that carry a resourceVersion. */
  readonly changes: Pick<Progress, 'pending'>
  /** Where the feed stands. */
  readonly resourceVersion: string
}

/** The first look of loops that were not there before at every object of their kinds. */
export function createIntroduction({ swept, changes, resourceVersion }: IntroductionOptions): Introduction {
  const id = { dedupId: `all:${resourceVersion}`, resourceVersion }
  const slotsAtOnce = Math.ceil(wheelSlots / slices)
  let from = 0
  return {
    advance: async () => {
      let woken = 0
      while (from < wheelSlots && woken < keysPerTick) {
        if (swept.controllers.some(({ name }) => changes.pending(name) >= keysPerTick)) break
        const to = Math.min(wheelSlots, from + slotsAtOnce)
        woken += await wakeSlots(swept, { from, to }, id)
        from = to
      }
      return from >= wheelSlots
    },
  }
}
