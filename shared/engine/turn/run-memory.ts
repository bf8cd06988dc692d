import { OperatingError } from '../../model/errors.ts'
import { equal } from '../../model/json.ts'
import { keyOf } from '../../model/object-key.ts'
import { onNewest } from '../../model/on-newest.ts'
import type { EngineState } from '../../model/engine-state.ts'
import { checkMemory } from '../../model/size-limit.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import type { ObjectStore } from '../../ports/object-store.ts'

/**
 * What the engine remembers of the object that is reconciled, while the run goes on: written at once, so that a crash
 * forgets none of it.
 */
export interface RunMemory {
  /** The newest state of the object that this run knows. */
  live(): StoredObject
  /**
   * Durable once it resolves. Throws NOT_FOUND if the object is gone, VERSION_CONFLICT if others write it without end,
   * TOO_LARGE if no room would be left beside it.
   */
  remember(change: (engine: EngineState) => EngineState): Promise<void>
}

export function createRunMemory(store: ObjectStore, stored: StoredObject): RunMemory {
  let live = stored

  const newest = async (): Promise<StoredObject> => {
    const found = await store.get(keyOf(stored.object))
    if (found?.object.metadata.uid === stored.object.metadata.uid) return found
    throw new OperatingError('NOT_FOUND', 'the object that is reconciled is gone')
  }

  const write: RunMemory['remember'] = (change) =>
    onNewest(async (tries) => {
      if (tries > 1) live = await newest()
      const engine = change(live.engine)
      if (equal(engine, live.engine)) return
      checkMemory(live.object, engine)
      live = await store.replace({ ...live, engine }, ['engine'])
    })

  // One after the other: those that a run makes at once would be others to each other.
  let last = Promise.resolve()
  const remember: RunMemory['remember'] = (change) => {
    const written = last.then(() => write(change))
    last = written.catch(() => {})
    return written
  }

  return { live: () => live, remember }
}
