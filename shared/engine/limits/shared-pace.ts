import type { StoredObject } from '../../model/stored-object.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Reserve } from '../../ports/reservations.ts'
import type { Controller } from '../../reconciler/controller.ts'

/**
 * The rate limit of a controller that many processes run: each run needs a reservation. One that lies ahead is written
 * into its object, so that it is the object's whoever takes it up then, and is struck out before its run begins: no
 * crash uses one twice. The keys of a batch, which begin together, share a request.
 */
export interface SharedPace {
  enter(): LinePlace
}

/** One turn's way through. */
export interface LinePlace {
  /** When the object may run. A turn makes one reservation, unless it is late for it. */
  runAtMs(stored: StoredObject): Promise<number>
  /** Whether it has asked for the object already, in this turn or an earlier one. */
  hasReservation(stored: StoredObject): boolean
  /** What it was told is too long ago by now. */
  isLate(): boolean
  /** The turn is over, or will not ask any more: others of its batch need not wait for it. */
  leave(): void
}

/**
 * How late a reservation is good. It makes bursts: of those that are late together, no more than this time's may be
 * used at once. Clocks that differ by as much find each other's reservations good.
 */
const lateMsMax = 10_000

export interface SharedPaceOptions {
  readonly clock: Clock
  /** Left out where whoever takes the keys keeps the limit. */
  readonly reserve?: Reserve
}

/** Undefined where there is no limit to keep. */
export function createSharedPace(
  { name, controllerLimit: limit }: Pick<Controller, 'name' | 'controllerLimit'>,
  { clock, reserve }: SharedPaceOptions,
): SharedPace | undefined {
  if (limit === undefined || reserve === undefined) return undefined
  const together = gather((count) => reserve(name, count, limit))
  const isGood = (atMs: number | undefined): atMs is number => atMs !== undefined && clock.nowMs() - atMs <= lateMsMax
  return {
    enter: () => {
      const place = together.enter()
      let askedMs: number | undefined
      let toldMs: number | undefined
      // What the object held a moment ago, another run may have used since.
      const findKnownMs = ({ engine }: StoredObject): number | undefined =>
        [askedMs, engine.memory?.reservedMs].find(isGood)
      return {
        runAtMs: async (stored) => {
          const known = findKnownMs(stored)
          if (known === undefined) askedMs = await place.ask()
          else place.leave()
          return (toldMs = known ?? (askedMs as number))
        },
        hasReservation: (stored) => findKnownMs(stored) !== undefined,
        isLate: () => !isGood(toldMs),
        leave: place.leave,
      }
    },
  }
}

interface Place {
  ask(): Promise<number>
  leave(): void
}

/** Asks once for all, when everybody who has entered has asked or left. */
function gather(reserve: (count: number) => Promise<readonly number[]>): { enter(): Place } {
  let undecided = 0
  let asking: PromiseWithResolvers<number>[] = []

  async function askForAll(): Promise<void> {
    if (--undecided > 0 || asking.length === 0) return
    const all = asking
    asking = []
    try {
      const timesMs = await reserve(all.length)
      for (const [i, { resolve }] of all.entries()) resolve(timesMs[i] ?? 0)
    } catch (error) {
      for (const { reject } of all) reject(error)
    }
  }

  return {
    enter: () => {
      undecided++
      let isUndecided = true
      const decide = (): void => {
        if (isUndecided) void askForAll()
        isUndecided = false
      }
      return {
        ask: () => {
          if (!isUndecided) undecided++
          isUndecided = true
          const asked = Promise.withResolvers<number>()
          asking.push(asked)
          decide()
          return asked.promise
        },
        leave: decide,
      }
    },
  }
}
