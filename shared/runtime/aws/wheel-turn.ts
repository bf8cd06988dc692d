import { listPassed, wakePassed, type SweepOptions, type SweptController } from '../../engine/wake/sweep.ts'
import { orderKeys } from '../../engine/wake/key-order.ts'
import type { SendPace } from './pacing.ts'

/** Where the hand of a wheel stands. */
export interface WheelPlace {
  readonly turnedMs: number
  /** Of the step from there on, the keys up to a place were woken. */
  readonly within?: { readonly untilMs: number; readonly place: string }
}

/** How far the wheel of a kind is to be turned. */
export interface WheelTurn extends WheelPlace {
  readonly toMs: number
}

export interface Swept extends SweptController {
  /** How far the wheel is turned at once, as a rule. */
  readonly everyMs: number
}

export const minuteMs = 60_000
/** The wheel is turned in steps as small as that where many objects are. */
const stepMsMin = 100
const stepGrowth = 4
/** So much more than has passed since the last tick is turned at most, until what was missed is made up for. */
const catchUpMax = 5

/**
 * A tick turns the wheel only so far. A hand that is more than two rounds behind goes on at the same slots, some rounds
 * later: from other slots on, those between would be left out for ever where each tick gets through a part of a round.
 */
export function turnOf(
  { turnedMs, within }: WheelPlace,
  { resyncMs, everyMs }: Pick<Swept, 'resyncMs' | 'everyMs'>,
  nowMs: number,
): WheelTurn {
  const roundMs = Math.max(resyncMs, everyMs)
  const missedMs = roundMs * Math.max(0, Math.ceil((nowMs - turnedMs - everyMs) / roundMs) - 2)
  const fromMs = turnedMs + missedMs
  const isEarly = everyMs > minuteMs && nowMs - fromMs < everyMs
  const toMs = isEarly ? fromMs : Math.max(fromMs, Math.min(nowMs, fromMs + catchUpMax * everyMs))
  if (within === undefined) return { turnedMs: fromMs, toMs }
  const untilMs = within.untilMs + missedMs
  return { turnedMs: fromMs, within: { ...within, untilMs }, toMs: Math.max(toMs, untilMs) }
}

/** Who sends, and how many of what it was given last there was no room for. */
export interface Sender extends Pick<SweepOptions, 'queueOf'> {
  readonly unsent: number
}

export interface WheelOptions extends Pick<SweepOptions, 'index'> {
  readonly pace: Pick<SendPace, 'left' | 'grant'>
  /** `isLast`: nothing comes behind it in this tick. */
  readonly sender: (isLast: boolean) => Sender
}

/**
 * As far as there is room; how far that is. It looks no further at once than there is room for: of millions of objects,
 * those of an hour would not fit into memory.
 */
export async function turnWheel(
  { turnedMs: fromMs, within, toMs }: WheelTurn,
  controller: Swept,
  { index, pace, sender }: WheelOptions,
): Promise<WheelPlace> {
  let place: WheelPlace = { turnedMs: fromMs, ...(within && { within }) }
  let stepMs = Math.min(controller.everyMs, minuteMs)
  while (place.turnedMs < toMs && pace.left > 0) {
    const { turnedMs, within: begun } = place
    const untilMs = begun?.untilMs ?? Math.min(toMs, turnedMs + stepMs)
    const all = await listPassed({ index }, controller, { fromMs: turnedMs, toMs: untilMs })
    if (begun === undefined && all.length > pace.left && stepMs > stepMsMin) {
      stepMs = Math.max(stepMsMin, stepMs / stepGrowth)
      continue
    }
    const { keys, placeAfter } = orderKeys(all, begun?.place)
    pace.grant(keys.length)
    const sending = sender(untilMs >= toMs)
    await wakePassed(sending, controller, { keys, fromMs: turnedMs })
    if (sending.unsent > 0) {
      const last = placeAfter(keys.length - sending.unsent)
      return { turnedMs, ...(last !== undefined && { within: { untilMs, place: last } }) }
    }
    place = { turnedMs: untilMs }
    if (all.length * stepGrowth <= pace.left) stepMs = Math.min(controller.everyMs, stepMs * stepGrowth)
  }
  return place
}
