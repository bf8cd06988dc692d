import { OperatingError } from '../../model/errors.ts'
import type { Change, ChangeBatch, ChangeFeed, FollowOptions } from '../../ports/change-feed.ts'
import type { PublishedChange, SqliteChangeLog } from './sqlite-change-log.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { createSqliteKinds } from './sqlite-kinds.ts'

export interface SqliteChangeFeedOptions {
  readonly database: SqliteDatabase
  readonly changeLog: SqliteChangeLog
}

/**
 * The ChangeFeed on SQLite: reads the log up to its end, then is handed each change as it is committed. A reader that
 * falls a thousand changes behind goes back to reading the log, so nobody's slowness costs memory. The first batch comes
 * at once, if need be empty; later empty ones come now and then, so that a reader of a quiet kind keeps up.
 */
export function createSqliteChangeFeed({ database, changeLog }: SqliteChangeFeedOptions): ChangeFeed {
  const kinds = createSqliteKinds(database)

  const check = (position: number): void => {
    const horizon = changeLog.horizon()
    if (position >= horizon && position <= changeLog.latest()) return
    throw new OperatingError(
      'EXPIRED',
      `resource version ${position} is not within ${horizon} to ${changeLog.latest()}`,
    )
  }

  async function* follow({ after, of, signal }: FollowOptions): AsyncGenerator<ChangeBatch> {
    const kindId = (): number | undefined => (of === undefined ? undefined : (kinds.find(of) ?? noKind))
    let position = Number(after)
    while (!signal.aborted) {
      const tail = followTail(changeLog, (published) => of === undefined || published.kindId === kindId())
      try {
        do {
          check(position)
          const { changes, upTo } = changeLog.read({ after: position, upTo: tail.from, kindId: kindId() })
          position = upTo
          yield { changes, resourceVersion: String(position) }
        } while (position < tail.from && !signal.aborted)
        for (let batch = await tail.next(signal); batch !== undefined; batch = await tail.next(signal)) {
          position = Number(batch.resourceVersion)
          yield batch
        }
      } finally {
        tail.end()
      }
    }
  }

  return { follow, latest: () => database.read(() => String(changeLog.latest())) }
}

/** Stands for a kind that has no objects. */
const noKind = 0
const bufferedMax = 1_000
const quietMax = 1_000

interface Tail {
  /** The first change it may give is the one after this. */
  readonly from: number
  /** What was committed since the last call, or what is committed next. Undefined: aborted, or too much to keep. */
  next(signal: AbortSignal): Promise<ChangeBatch | undefined>
  end(): void
}

/** The changes that are committed from now on, in a buffer that gives up when it is full. */
function followTail(changeLog: SqliteChangeLog, matches: (published: PublishedChange) => boolean): Tail {
  const from = changeLog.latest()
  let buffered: Change[] = []
  let full = false
  let seen = from
  let told = from
  let wake: (() => void) | undefined

  const isDue = (): boolean => full || buffered.length > 0 || seen - told >= quietMax

  const unsubscribe = changeLog.subscribe((published) => {
    seen = published.rv
    if (!full && matches(published)) buffered.push(published.change)
    if (buffered.length > bufferedMax) {
      full = true
      buffered = []
    }
    if (isDue()) wake?.()
  })

  const due = async (signal: AbortSignal): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    wake = () => resolve()
    signal.addEventListener('abort', wake)
    await promise
    signal.removeEventListener('abort', wake)
    wake = undefined
  }

  const take = (): ChangeBatch => {
    const batch = { changes: buffered, resourceVersion: String(seen) }
    buffered = []
    told = seen
    return batch
  }

  const next: Tail['next'] = async (signal) => {
    if (!isDue() && !signal.aborted) await due(signal)
    return full || signal.aborted ? undefined : take()
  }

  return { from, next, end: unsubscribe }
}
