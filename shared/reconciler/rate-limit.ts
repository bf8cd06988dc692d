import { DefinitionError } from '../model/errors.ts'
import type { Duration } from '../model/duration.ts'
import type { EngineState, RunWindow } from '../model/engine-state.ts'
import { definedMs } from './given-duration.ts'

/** How often things may run. What runs more often is postponed: nothing is dropped, and no failure is counted. */
export interface RateLimit {
  /** Each object by itself: at most so many runs within this time of the first. Costs a write per run. */
  readonly object?: { readonly runs: number; readonly within: Duration }
  /**
   * All objects of the controller together, in however many processes: so many at once, and so many a second after
   * that. In one process users' changes go first. On AWS it goes in the order of asking, background work is paced, and
   * a run may be ten seconds behind its time: docs/decisions/0022.
   */
  readonly controller?: { readonly perSecond: number; readonly burst?: number }
}

/** The limit per object as the engine applies it. */
export interface ObjectLimit {
  readonly runs: number
  readonly withinMs: number
}

/** The limit per controller as the engine applies it. */
export interface ControllerLimit {
  readonly perSecond: number
  readonly burst: number
}

/** Throws a TypeError for limits by which nothing would ever run. */
export function objectLimit(name: string, given: RateLimit['object']): ObjectLimit | undefined {
  if (given === undefined) return undefined
  const limit = { runs: given.runs, withinMs: definedMs(`${name}: rateLimit.object.within`, given.within) }
  if (!Number.isInteger(limit.runs) || limit.runs < 1 || limit.withinMs <= 0)
    throw new DefinitionError(`${name}: rateLimit.object must allow at least one run within a time above 0`)
  return limit
}

/** Throws a TypeError for limits by which nothing would ever run, or which are none. */
export function controllerLimit(name: string, given: RateLimit['controller']): ControllerLimit | undefined {
  if (given === undefined) return undefined
  const { perSecond, burst = Math.max(1, Math.ceil(perSecond)) } = given
  if (!(perSecond > 0) || !(burst >= 1) || perSecond === Infinity || burst === Infinity)
    throw new DefinitionError(
      `${name}: rateLimit.controller must allow at least a burst of one and a rate above 0, both finite: for no limit leave it out`,
    )
  return { perSecond, burst }
}

/** When the object may run again, if not now. */
export function findLimitEndMs(limit: ObjectLimit, engine: EngineState, nowMs: number): number | undefined {
  const { startMs, runs } = windowAt(limit, engine, nowMs)
  return runs < limit.runs ? undefined : startMs + limit.withinMs
}

/** The window with one more run. */
export function countRun(limit: ObjectLimit, engine: EngineState, nowMs: number): RunWindow {
  const { startMs, runs } = windowAt(limit, engine, nowMs)
  return { startMs, runs: runs + 1 }
}

/** A window that begins in the future was begun by a clock that has been put back since. */
function windowAt({ withinMs }: ObjectLimit, { memory }: EngineState, nowMs: number): RunWindow {
  const window = memory?.window
  if (window === undefined || nowMs >= window.startMs + withinMs) return { startMs: nowMs, runs: 0 }
  return { ...window, startMs: Math.min(window.startMs, nowMs) }
}
