import { OperatingError } from '../../../model/errors.ts'
import type { Change, ChangeBatch, ChangeFeed, FollowOptions } from '../../../ports/change-feed.ts'
import type { SqliteChangeLog } from './sqlite-change-log.ts'
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
      check(position)
      const latest = changeLog.latest()
      const { changes, upTo } = changeLog.read({ after: position, upTo: latest, kindId: kindId() })
      position = upTo
      // The tail begins in the moment of the last look: what was told with a later state than its write is never told older.
      const tail = upTo === latest ? followTail(changeLog, (id) => of === undefined || id === kindId()) : undefined
      try {
        yield { changes, resourceVersion: String(position) }
        for (let batch = await tail?.next(signal); batch !== undefined; batch = await tail?.next(signal)) {
          position = Number(batch.resourceVersion)
          yield batch
        }
      } finally {
        tail?.end()
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
  /** What was committed since the last call, or what is committed next. Undefined: aborted, or too much to keep. */
  next(signal: AbortSignal): Promise<ChangeBatch | undefined>
  end(): void
}

/** The changes that are committed from now on, in a buffer that gives up when it is full. */
function followTail(changeLog: SqliteChangeLog, matches: (kindId: number) => boolean): Tail {
  let buffered: Change[] = []
  let full = false
  let seen = changeLog.latest()
  let told = seen
  let wake: (() => void) | undefined

  const isDue = (): boolean => full || buffered.length > 0 || seen - told >= quietMax

  const end = changeLog.subscribe(({ rv, kindId, change }) => {
    seen = rv
    if (!full && matches(kindId)) buffered.push(change)
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

  return { next, end }
}
