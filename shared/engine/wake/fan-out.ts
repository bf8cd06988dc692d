import type { StoredObject } from '../../model/stored-object.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { WakeUp } from '../../ports/work-queue.ts'
import type { ControllerLimit } from '../../reconciler/rate-limit.ts'
import type { TurnRunner } from '../state/turn.ts'
import { writeNewest } from '../turn/write-newest.ts'

/**
 * One change that concerns very many objects must not stand before the next user's change. So their wake-ups go to a
 * queue of their own, where each becomes a timer in its object, spread over time; the sweep finds those like all other
 * timers, and a restart loses none.
 */
export const fanOutMax = 100

/** 10,000 objects take not quite two minutes. */
const spacingMs = 10

/** The queue in which a controller's wake-ups become timers. */
export function fanOutName({ name }: { readonly name: string }): string {
  return `${name}${suffix}`
}

const suffix = '-fan-out'

/** Whether a queue is one in which wake-ups become timers, whoever's they are. */
export function isFanOut(name: string): boolean {
  return name.endsWith(suffix)
}

/** The same wake-ups, each with a time of its own, and no faster than the controller may run. */
export function spread(wakeUps: readonly WakeUp[], nowMs: number, limit?: ControllerLimit): readonly WakeUp[] {
  const everyMs = limit === undefined ? spacingMs : Math.max(spacingMs, Math.ceil(1_000 / limit.perSecond))
  return wakeUps.map((wakeUp, i) => ({ ...wakeUp, timerAtMs: nowMs + (i + 1) * everyMs }))
}

/** Writes the timers. */
export function createFanOut(store: ObjectStore): TurnRunner {
  return async (turn) => {
    const atMs = Math.min(...turn.wakeUps.flatMap(({ timerAtMs }) => timerAtMs ?? []))
    const wish = (live: StoredObject | undefined): StoredObject | undefined => live && withWish(live, atMs)
    await writeNewest(store, turn.key, wish, () => ['engine'])
    await turn.settle()
  }
}

/**
 * A run that is under way ends the wish that it began with, and may have looked before this change: so each change
 * leaves another wish than the one that is there, and never a later one.
 */
export function withWish({ object, engine }: StoredObject, atMs: number): StoredObject {
  return { object, engine: { ...engine, wakeAtMs: Math.min(atMs, (engine.wakeAtMs ?? Infinity) - 1) } }
}
