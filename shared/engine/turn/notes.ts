import type { Notes } from '../../reconciler/notes.ts'
import { withMemory, type Memory } from '../../model/engine-state.ts'
import type { RunMemory } from './run-memory.ts'

const lengthMax = 4_096

export interface RunNotes extends Notes {
  all(): NonNullable<Memory['notes']>
}

/** The notes of one run. */
export function createNotes({ live, remember }: RunMemory, signal: AbortSignal): RunNotes {
  let noted = live().engine.memory?.notes ?? {}
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
      await remember((engine) => withMemory(engine, { ...engine.memory, notes: kept }))
    },
    all: () => noted,
  }
}
