import { OperatingError } from '../../../model/errors.ts'
import type { ChangeBatch, ChangeFeed, FollowOptions } from '../../../ports/change-feed.ts'
import { followTail, type Tail } from './change-tail.ts'
import type { SqliteChangeLog } from './sqlite-change-log.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { openSqliteKinds, type SqliteKinds } from './sqlite-kinds.ts'

export interface SqliteChangeFeedOptions {
  readonly database: SqliteDatabase
  readonly changeLog: SqliteChangeLog
}

/**
 * The ChangeFeed on SQLite: reads the log up to its end, then is handed each change as it is committed. A reader that
 * falls a thousand changes or a megabyte behind goes back to reading the log, so that nobody's slowness costs memory.
 * The first batch comes at once, if need be empty; later empty ones come now and then, so that a reader of a quiet kind
 * keeps up.
 */
export function createSqliteChangeFeed({ database, changeLog }: SqliteChangeFeedOptions): ChangeFeed {
  const shelf: Shelf = { changeLog, kinds: openSqliteKinds(database) }
  return {
    follow: (options) => ({ [Symbol.asyncIterator]: () => iteratorOf(shelf, options) }),
    latest: () => database.read(() => String(changeLog.latest())),
  }
}

interface Shelf {
  readonly changeLog: SqliteChangeLog
  readonly kinds: SqliteKinds
}

/** How far one reader is. It keeps no batch that it has handed out. */
interface Reader extends Shelf {
  readonly of: FollowOptions['of']
  readonly signal: AbortSignal
  position: number
  /** What is committed from now on, of a reader at the end of the log. */
  tail: Tail | undefined
  hasRead: boolean
}

function iteratorOf(shelf: Shelf, { after, of, signal }: FollowOptions): AsyncIterator<ChangeBatch, undefined> {
  const reader: Reader = { ...shelf, of, signal, position: Number(after), tail: undefined, hasRead: false }
  const over = { done: true, value: undefined } as const
  const end = (): typeof over => {
    reader.tail?.end()
    reader.tail = undefined
    return over
  }
  return {
    next: async () => {
      const batch = await nextBatch(reader)
      if (batch === undefined) return end()
      reader.position = Number(batch.resourceVersion)
      return { done: false, value: batch }
    },
    return: async () => end(),
  }
}

async function nextBatch(reader: Reader): Promise<ChangeBatch | undefined> {
  const { signal } = reader
  if (reader.tail !== undefined) {
    const batch = await reader.tail.next(signal)
    if (batch !== undefined) return batch
    reader.tail.end()
    reader.tail = undefined
  }
  // A client that takes all that is there, and there is much, keeps nobody waiting.
  if (reader.hasRead) await nextTurn()
  reader.hasRead = true
  return signal.aborted ? undefined : readLog(reader)
}

/** The next stretch of the log. The tail begins in the moment of the look that came to the end. */
function readLog(reader: Reader): ChangeBatch {
  const { changeLog, kinds, of, position } = reader
  refuseLost(changeLog, position)
  const latest = changeLog.latest()
  const kindIdOf = (): number | undefined => (of === undefined ? undefined : (kinds.find(of) ?? noKind))
  const { changes, upTo } = changeLog.read({ after: position, upTo: latest, kindId: kindIdOf() })
  if (upTo === latest) reader.tail = followTail(changeLog, (id) => of === undefined || id === kindIdOf())
  return { changes, resourceVersion: String(upTo) }
}

function refuseLost(changeLog: SqliteChangeLog, position: number): void {
  const horizon = changeLog.horizon()
  if (position >= horizon && position <= changeLog.latest()) return
  throw new OperatingError('EXPIRED', `resource version ${position} is not within ${horizon} to ${changeLog.latest()}`)
}

/** Stands for a kind that has no objects. */
const noKind = 0

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
