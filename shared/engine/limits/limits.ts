import { hasCode } from '../../model/errors.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import type { Reserve } from '../../ports/reservations.ts'
import type { Controller } from '../../reconciler/controller.ts'
import { countRun, findLimitEndMs } from '../../reconciler/rate-limit.ts'
import { backoffMs } from '../state/backoff.ts'
import { giveUpError } from '../state/give-up-error.ts'
import type { Postponement } from '../state/postponed-state.ts'
import type { RunFacts } from '../state/run-facts.ts'
import type { Turn } from '../state/turn.ts'
import { createHotLoops, type EndedRun } from './hot-loops.ts'
import { createSharedPace, type LinePlace } from './shared-pace.ts'

/** The limits of one controller's runs: the rate of each object, hot loops, and the rate that many processes share. */
export interface Limits {
  /** Each turn enters once, and leaves when it is over. */
  enter(): Entry
  /** Counts a run that has ended; what it means for the next one. */
  countEnded(stored: StoredObject, run: EndedRun, nowMs: number): Pick<RunFacts, 'window' | 'probeAtMs'>
}

/** One turn's way through the limits. */
export interface Entry {
  /** Why the object's own limits put the run off; undefined: they let it begin. */
  postpone(stored: StoredObject, turn: Turn): Postponement | undefined
  /** The controller's limit, where many processes share it. */
  readonly shared: SharedEntry | undefined
}

/** One turn's way through the limit that processes share. Whoever entered leaves. */
export interface SharedEntry {
  /** Why the run is put off; undefined: its reservation is near. */
  postpone(stored: StoredObject, turn: Turn): Promise<Postponement | undefined>
  /** Waits for the reservation. Whether it took time: what was read before is old then. */
  wait(stored: StoredObject, signal: AbortSignal): Promise<boolean>
  /** The reservation is too long ago by now. */
  isLate(): boolean
  leave(): void
}

export interface LimitsOptions {
  readonly clock: Clock
  readonly random: Random
  /** Left out where the worker that takes the keys keeps the controller's limit. */
  readonly reserve?: Reserve
}

export function createLimits(controller: Controller, options: LimitsOptions): Limits {
  const { clock } = options
  const { objectLimit } = controller
  const hotLoops = createHotLoops(controller.name)
  const pace = createSharedPace(controller, options)

  /** `isPassed`: the object was let through before, and has waited for its reservation since. */
  function ownLimit(stored: StoredObject, { wakeUps }: Turn, isPassed: boolean): Postponement | undefined {
    const nowMs = clock.nowMs()
    const limitedMs = objectLimit && findLimitEndMs(objectLimit, stored.engine, nowMs)
    if (limitedMs !== undefined) return { kind: 'RateLimited', untilMs: limitedMs }
    const hot = isPassed ? undefined : hotLoops.findBlock(stored, wakeUps, nowMs)
    if (hot === undefined) return undefined
    const { untilMs, reason, message } = hot
    return { kind: 'HotLoop', untilMs, hotLoop: { status: 'True', reason, message } }
  }

  const alone: Entry = { postpone: (stored, turn) => ownLimit(stored, turn, false), shared: undefined }

  function enterPace(pass: LinePlace): Entry {
    const shared: SharedEntry = {
      postpone: (stored, turn) => reservationAhead(pass, stored, turn, options),
      wait: async (stored, signal) => {
        const waitMs = (await pass.runAtMs(stored)) - clock.nowMs()
        if (waitMs <= 0) return false
        await clock.sleep(waitMs, signal)
        if (signal.aborted) throw giveUpError()
        return true
      },
      isLate: pass.isLate,
      leave: pass.leave,
    }
    return { postpone: (stored, turn) => ownLimit(stored, turn, pass.hasReservation(stored)), shared }
  }

  return {
    enter: () => (pace === undefined ? alone : enterPace(pace.enter())),
    countEnded: (stored, run, nowMs) => {
      hotLoops.ran(stored.object, run, nowMs)
      return {
        window: objectLimit && countRun(objectLimit, stored.engine, nowMs),
        probeAtMs: hotLoops.probeAtMs(stored.object),
      }
    },
  }
}

/**
 * A reservation that lies ahead. One that the object holds already stays where it is: until this is written, another
 * run may have used it. Where the reservations cannot be asked for just now, many others are asking for them.
 */
async function reservationAhead(
  pass: LinePlace,
  stored: StoredObject,
  turn: Turn,
  { clock, random }: LimitsOptions,
): Promise<Postponement | undefined> {
  try {
    const atMs = await pass.runAtMs(stored)
    if (atMs - clock.nowMs() <= patienceMs) return undefined
    const isHeld = stored.engine.memory?.reservedMs === atMs
    return { kind: 'RateLimited', untilMs: atMs, ...(!isHeld && { reservedMs: atMs }) }
  } catch (error) {
    if (!hasCode(error, 'THROTTLED')) throw error
    return { kind: 'RateLimited', untilMs: clock.nowMs() + backoffMs(turn.receiveCount, random.next()) }
  }
}

/** For a shorter wait the turn keeps its key. */
const patienceMs = 1_000
