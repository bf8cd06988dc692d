import {
  createSqliteChangeLog,
  type PublishedChange,
  type SqliteChangeLog,
} from '../../../shared/adapters/local/sqlite/sqlite-change-log.ts'
import { openSqliteDatabase } from '../../../shared/adapters/local/sqlite/sqlite-database.ts'
import { equal } from '../../../shared/model/json.ts'
import { keyOf, keyText, parseKeyText } from '../../../shared/model/object-key.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import type { Change } from '../../../shared/ports/change-feed.ts'
import type { ObjectStore } from '../../../shared/ports/object-store.ts'
import type { Life } from '../life.ts'
import type { PlaneOptions } from '../plane.ts'

/** What was committed, as whoever watches the commits knows it: the next process must find that. */
export interface CommitRecord {
  readonly items: ReadonlyMap<string, StoredObject>
  /** Notes what is in the file already. */
  open(file: string): void
  /** One more change is committed. In doubt, until it is settled that it was. */
  tell(published: Pick<PublishedChange, 'rv' | 'change'>, by: Life, isDoubtful: boolean): void
  settle(): void
  /** What a file that is opened tells beyond that; what it does not tell was lost. */
  catchUp(log: SqliteChangeLog, by: Life): void
  /** Compares all of it with the store. */
  compare(store: ObjectStore): Promise<void>
}

export function createRecord({
  world,
  onWrite,
  report,
}: Pick<PlaneOptions, 'world' | 'onWrite' | 'report'>): CommitRecord {
  const items = new Map<string, StoredObject>()
  /** By their versions. */
  const doubtful = new Map<number, () => void>()
  let lastRv = 0

  const note = ({ type, stored }: Change): StoredObject | undefined => {
    const text = keyText(keyOf(stored.object))
    const before = items.get(text)
    if (type === 'removed') items.delete(text)
    else items.set(text, stored)
    return before
  }

  const tellNow = ({ rv, change }: Pick<PublishedChange, 'rv' | 'change'>, by: Life): void => {
    lastRv = rv
    const before = note(change)
    onWrite({ type: change.type, before, after: change.stored, touched: change.touched, by })
  }

  const read = (log: SqliteChangeLog, each: (change: Change) => void): void => {
    for (const upTo = log.latest(); lastRv < upTo;) {
      const stretch = log.read({ after: lastRv, upTo })
      for (const change of stretch.changes) each(change)
      lastRv = stretch.upTo
    }
  }

  return {
    items,
    open: (file) => {
      const database = openSqliteDatabase(file)
      read(createSqliteChangeLog({ database, clock: world }), note)
      database.close()
    },
    tell: (published, by, isDoubtful) => {
      if (isDoubtful) doubtful.set(published.rv, () => tellNow(published, by))
      else tellNow(published, by)
    },
    settle: () => {
      for (const tell of doubtful.values()) tell()
      doubtful.clear()
    },
    catchUp: (log, by) => {
      const left = new Map(doubtful)
      doubtful.clear()
      if (log.latest() < lastRv) {
        report(`promise 1, acknowledged: the file ends at ${log.latest()} after a crash, and ${lastRv} was committed`)
        items.clear()
        lastRv = 0
        return read(log, note)
      }
      read(log, (change) => {
        const rv = Number(change.stored.object.metadata.resourceVersion)
        const tell = left.get(rv) ?? (() => tellNow({ rv, change }, by))
        tell()
      })
    },
    compare: async (store) => {
      for (const [text, known] of items) {
        const stored = await store.get(parseKeyText(text))
        if (items.get(text) === known && !equal(stored, known))
          report(`promise 1, acknowledged: the file does not hold ${text} as it was committed`)
      }
    },
  }
}
