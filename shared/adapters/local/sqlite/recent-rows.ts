import type { ObjectKey } from '../../../model/object-key.ts'
import type { StoredObject } from '../../../model/stored-object.ts'

/** Where an object's row is found. */
export interface RowPlace {
  readonly kindId: number
  readonly key: ObjectKey
}

/** What the row of an object says without its state. */
export interface NumberedRow {
  readonly id: number
  readonly uid: string
  readonly rv: number
  readonly owners: string | null
}

/** A row as it was committed, with its state, which all readers share. */
export interface CommittedRow extends NumberedRow {
  readonly stored: StoredObject
  /** Of the state as text, in characters. */
  readonly length: number
}

/**
 * The rows that were read or written lately, as they are on disk: an object that changed is read again at once, by its
 * reconciler and by the next writer, without being parsed. Rows are noted after their commit, and never before. It
 * holds between four and eight million characters of documents, however many objects there are.
 */
export interface RecentRows {
  find(place: RowPlace): CommittedRow | undefined
  note(place: RowPlace, row: CommittedRow): void
  forget(place: RowPlace): void
}

const generationCharacters = 4_000_000

export function createRecentRows(): RecentRows {
  let current = new Map<string, CommittedRow>()
  let previous = new Map<string, CommittedRow>()
  let characters = 0

  const put = (at: string, row: CommittedRow): void => {
    current.set(at, row)
    characters += row.length
    if (characters <= generationCharacters) return
    previous = current
    current = new Map()
    characters = 0
  }

  return {
    find: (place) => {
      const at = textOf(place)
      const row = current.get(at)
      if (row !== undefined) return row
      const older = previous.get(at)
      if (older !== undefined) put(at, older)
      return older
    },
    note: (place, row) => {
      const at = textOf(place)
      characters -= current.get(at)?.length ?? 0
      put(at, row)
    },
    forget: (place) => {
      const at = textOf(place)
      characters -= current.get(at)?.length ?? 0
      current.delete(at)
      previous.delete(at)
    },
  }
}

function textOf({ kindId, key: { namespace, name } }: RowPlace): string {
  return `${kindId}/${namespace}/${name}`
}
