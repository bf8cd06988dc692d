import type { StoredObject } from '../../model/stored-object.ts'
import type { RunFacts } from '../state/conclusion.ts'
import type { Controller } from '../../reconciler/controller.ts'
import { createHotLoops, type Blocked, type EndedRun } from './hot-loops.ts'
import type { Postponement } from '../state/postponement.ts'
import { counted, limitedUntilMs } from '../../reconciler/rate-limit.ts'
import type { Turn } from '../state/turn.ts'

/** Whether an object may run now: its rate limit, and the breaker for hot loops. */
export interface Gate {
  /** Undefined: it may, and has begun. `isPassed`: it was let through before, and has waited for its reservation since. */
  postponement(
    stored: StoredObject,
    turn: Turn,
    how: { readonly nowMs: number; readonly isPassed: boolean },
  ): Postponement | undefined
  /** Notes the end of a run; what it means for the next. */
  ended(stored: StoredObject, run: EndedRun, nowMs: number): Pick<RunFacts, 'window' | 'probeAtMs'>
}

export function createGate({ name, objectLimit }: Controller): Gate {
  const hotLoops = createHotLoops(name)

  return {
    postponement: (stored, { wakeUps }, { nowMs, isPassed }) => {
      const limitedMs = objectLimit && limitedUntilMs(objectLimit, stored.engine, nowMs)
      if (limitedMs !== undefined) return { waiting: 'RateLimited', untilMs: limitedMs }
      const hot = isPassed ? undefined : hotLoops.blocked(stored, wakeUps, nowMs)
      return hot && postponedBy(hot)
    },

    ended: (stored, run, nowMs) => {
      hotLoops.ran(stored.object, run, nowMs)
      return {
        window: objectLimit && counted(objectLimit, stored.engine, nowMs),
        probeAtMs: hotLoops.probeAtMs(stored.object),
      }
    },
  }
}

function postponedBy({ untilMs, reason, message }: Blocked): Postponement {
  return { waiting: 'HotLoop', untilMs, hotLoop: { status: 'True', reason, message } }
}
