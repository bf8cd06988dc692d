import type { Json } from '../../model/json.ts'
import type { EngineState } from '../../model/stored-object.ts'
import type { RunMemory } from './run-memory.ts'

/**
 * What a reconciler notes for its later runs: identities of things outside, what it is about to do. Kept with the object as
 * long as that lives, through retries and restarts; no client sees it or can change it. JSON, 4096 characters in all.
 */
export interface Notes {
  get(key: string): Json | undefined
  /** Kept when the run ends, however it ends; `undefined` forgets the key. Throws a TypeError if there is no room. */
  set(key: string, value: Json | undefined): void
  /** Durable once it resolves: for what must be known even if the process dies in the next moment. */
  keep(): Promise<void>
}

const lengthMax = 4_096

export interface RunNotes extends Notes {
  all(): NonNullable<EngineState['notes']>
}

/** The notes of one run. */
export function createNotes({ live, remember }: RunMemory, signal: AbortSignal): RunNotes {
  let noted = live().engine.notes ?? {}
  return {
    get: (key) => noted[key],
    set: (key, value) => {
      const { [key]: _, ...others } = noted
      const next = value === undefined ? others : { ...others, [key]: value }
      if (JSON.stringify(next).length > lengthMax)
        throw new TypeError(`notes: an object keeps ${lengthMax} characters at most; note what identifies a thing`)
      noted = next
    },
    keep: async () => {
      signal.throwIfAborted()
      const kept = noted
      await remember(({ notes: _, ...engine }) => ({ ...engine, ...notesField(kept) }))
    },
    all: () => noted,
  }
}

/** No field if nothing is noted: an object at rest has no trace of the engine. */
export function notesField(notes: EngineState['notes'] = {}): Pick<EngineState, 'notes'> {
  return Object.keys(notes).length === 0 ? {} : { notes }
}
