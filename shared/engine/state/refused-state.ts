import type { StoredObject } from '../../model/stored-object.ts'
import type { Verdict } from '../../reconciler/verdict.ts'
import { backoffMsMax, isRetryAhead } from './backoff.ts'
import { nextState } from './next-state.ts'
import type { TurnFacts } from './run-facts.ts'
import { slowBackoffMs } from './stalled-state.ts'

/** What an object says that is not stored as its reconciler expects it. */
export const specInvalid = 'SpecInvalid'

/**
 * The state of an object that its reconciler cannot be given: it has stopped. A change of its spec runs it. A change of
 * the definition wakes nobody, so that it is looked at again after about a quarter of an hour. What earlier runs left
 * stays, and so does the time of a wait of this kind that still runs, so that another look costs no write.
 */
export function toRefusedState(live: StoredObject, message: string, facts: TurnFacts): StoredObject {
  const { wait, wakeAtMs, memory = {} } = live.engine
  const isKnown = wait?.kind === 'Stopped' && wait.generation === facts.generation && wait.failure.error === message
  const next = nextState(live, verdict(message), {
    ...facts,
    wakeAtMs,
    ...(memory.expectations && { expectations: memory.expectations }),
    ...(memory.window && { window: memory.window }),
  })
  const stopped = next.engine.wait
  if (next === live || stopped?.kind !== 'Stopped') return next
  const knownMs = isKnown && isRetryAhead(wait.atMs, facts.nowMs, backoffMsMax) ? wait.atMs : undefined
  const againMs = knownMs ?? facts.nowMs + slowBackoffMs(facts.chance)
  const atMs = Math.min(stopped.atMs ?? Infinity, againMs)
  return { object: next.object, engine: { ...next.engine, wait: { ...stopped, atMs } } }
}

function verdict(message: string): Verdict {
  return { kind: 'stopped', reason: specInvalid, message }
}
