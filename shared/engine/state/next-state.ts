import { withMemory, withNoteChanges, type EngineState } from '../../model/engine-state.ts'
import { isDeleting, type ApiObject } from '../../model/object.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import { observes, type Verdict } from '../../reconciler/verdict.ts'
import { nextStatus, observedGenerationOf } from './next-status.ts'
import { nextWait } from './next-wait.ts'
import type { RunFacts } from './run-facts.ts'

/**
 * What a verdict makes of an object. Pure, so that it can be made again from a newer state after a conflict. A verdict
 * about an older generation counts for that one only, and for nothing once a run of a newer one has ended: a run that
 * ends so late has lost its turn.
 */
export function nextState(live: StoredObject, verdict: Verdict, facts: RunFacts): StoredObject {
  if (isOverruled(live, facts)) return live
  return {
    object: facts.showsStatus ? nextStatus(live.object, verdict, facts) : live.object,
    engine: nextEngine(live, verdict, facts),
  }
}

function isOverruled({ object, engine }: StoredObject, { generation }: RunFacts): boolean {
  return Math.max(observedGenerationOf(object), engine.wait?.generation ?? -Infinity) > generation
}

function nextEngine(live: StoredObject, verdict: Verdict, facts: RunFacts): EngineState {
  const { change, wakeAtMs, netMs, memory = {} } = live.engine
  const wait = nextWait(live, verdict, facts)
  // A wish for a run that came after this one had begun is for the next.
  const isNewWish = wakeAtMs !== undefined && wakeAtMs !== facts.wakeAtMs
  const next: EngineState = {
    ...(wait && { wait }),
    ...(isNewWish && { wakeAtMs }),
    ...(isNewWish && wakeAtMs === netMs && { netMs }),
    ...(change !== undefined && !isNowObserved(live.object, verdict, facts) && { change }),
  }
  return withMemory(next, {
    once: memory.once,
    notes: withNoteChanges(memory.notes, facts.noteChanges ?? {}),
    secretPaths: facts.secretPaths ?? memory.secretPaths,
    expectations: facts.expectations,
    syncedAtMs: (verdict.kind === 'done' ? verdict.syncedAtMs : undefined) ?? memory.syncedAtMs,
    window: facts.window,
  })
}

/** The note of a change stays until a run has observed the change; that of a deletion stays as long as the object. */
function isNowObserved(object: ApiObject, verdict: Verdict, { generation }: RunFacts): boolean {
  return !isDeleting(object) && object.metadata.generation === generation && observes(verdict)
}
