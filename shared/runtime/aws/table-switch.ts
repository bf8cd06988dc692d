import { parseJson } from '../../model/parse-json.ts'
import type { Checkpoint } from '../../ports/checkpoint.ts'
import type { Clock } from '../../ports/clock.ts'
import { loadOnce } from '../../model/load-once.ts'

/**
 * Since when the control plane has used its table. Where a restored one takes its place, or it comes back, versions
 * that clients have from the other one say nothing: clients would keep objects that are gone here, and later states.
 *
 * Each switch has an id of its own, the one of the mapping of the table's stream. A note in the table names the switch
 * that was seen last. A restored table has a copy of another's note.
 */
export interface TableSwitch {
  readonly id: string
  readonly note: Checkpoint
  readonly clock: Pick<Clock, 'nowMs'>
}

interface Note {
  readonly id: string
  readonly usedSinceMs: number
}

/** A function of the API that was called before goes on with the other table, for its ninety seconds at most. */
const overlapMs = 100_000

/** For the feed. Rejects while the note cannot be read. */
export function createUsedSince({ id, note, clock }: TableSwitch): () => Promise<number> {
  return loadOnce(async () => {
    const text = await note.load()
    // A table without a note is new, and nobody knows versions of another one.
    const known = text === undefined ? undefined : (parseJson(text) as Note)
    if (known?.id === id) return known.usedSinceMs
    const seen: Note = { id, usedSinceMs: known === undefined ? 0 : clock.nowMs() + overlapMs }
    await note.save(JSON.stringify(seen))
    return seen.usedSinceMs
  })
}
