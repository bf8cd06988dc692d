import { OperatingError } from '../../../model/errors.ts'
import { lazy } from '../../../model/lazy.ts'
import type { Part, Touched } from '../../../model/stored-object.ts'
import type { Change } from '../../../ports/change-feed.ts'
import type { Clock } from '../../../ports/clock.ts'
import { createLogRetention, type RetentionOptions } from './sqlite-log-retention.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { isDamaged, unlessDamaged } from './sqlite-errors.ts'
import { rowLengthOf, readRow, sumUp, type ObjectRow, type SummedRow } from './sqlite-rows.ts'

/**
 * What changed, in the order of resourceVersions: the store appends one row per write, the feed reads them. A row
 * carries the state that the write made, and is the only place where that state is kept: an object points at the row of
 * its present state. Superseded states are forgotten after an hour, or after 512 MB of later ones.
 */
export interface SqliteChangeLog {
  /** The resourceVersion of the next write. Inside a write only, like `append`. */
  nextVersion(): number
  append(entry: ChangeEntry): void

  /** Tells followers of a change that is committed now. In the order of resourceVersions. */
  publish(committed: CommittedChange): void
  /** Called with every change from now on, between its commit and the next turn. Returns what ends it. */
  subscribe(listener: (published: PublishedChange) => void): () => void

  /** Every committed change has a resourceVersion up to here, every later one is above. */
  latest(): number
  /** Changes up to here may be forgotten. */
  horizon(): number
  /** The next stretch of the log after a resourceVersion; it says how far it got. */
  read(stretch: Stretch): { readonly changes: readonly Change[]; readonly upTo: number }
}

export interface ChangeEntry extends ObjectRow, Pick<Change, 'type'> {
  readonly rv: number
  readonly objectId: number
  readonly kindId: number
  readonly touched: Touched
  /** The resourceVersion of the state before. */
  readonly supersedes: number | undefined
}

/** A committed entry of the log, as the store publishes it. */
export interface CommittedChange extends Pick<ChangeEntry, 'rv' | 'kindId' | 'supersedes'> {
  readonly change: Omit<Change, 'before'>
}

export interface PublishedChange {
  readonly rv: number
  readonly kindId: number
  readonly change: Change
}

export interface Stretch {
  readonly after: number
  /** Not beyond this. */
  readonly upTo: number
  readonly kindId?: number | undefined
}

/** resourceVersion 0 means "any" to Kubernetes' clients, so that even the empty store is at 1. */
const unused = 1

export interface SqliteChangeLogOptions extends RetentionOptions {
  readonly database: SqliteDatabase
  readonly clock: Clock
}

export function createSqliteChangeLog({ database, clock, ...retention }: SqliteChangeLogOptions): SqliteChangeLog {
  const insert = database.prepare(`
    INSERT INTO changes (rv, object_id, kind, at_ms, supersedes, written, type, touched, engine, doc, sum)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const forgetOld = createLogRetention(database, retention)
  const withBefore = createWithBefore(database)
  const select = selectStretch(database, withBefore)
  const readHorizon = database.prepare('SELECT rv FROM horizon')
  const horizon = (): number => Number(readHorizon.get()?.['rv'])
  const listeners = new Set<(published: PublishedChange) => void>()

  const newest = database.prepare('SELECT rv, written FROM changes ORDER BY rv DESC LIMIT 1')
  const last = database.readNow(() => newest.get())

  let latest = database.readNow(() => Math.max(unused, horizon(), Number(last?.['rv'] ?? 0)))
  let numbered = latest
  /**
   * The characters of all states that were ever written: by the difference of two rows one knows what lies between
   * them.
   */
  let written = Number(last?.['written'] ?? 0)

  const append: SqliteChangeLog['append'] = (entry) => {
    const { rv, objectId, kindId, type, touched, supersedes, engine, doc } = entry
    const nowMs = clock.nowMs()
    written += rowLengthOf(entry)
    insert.run(
      rv,
      objectId,
      kindId,
      nowMs,
      supersedes ?? null,
      written,
      type,
      touched.join(),
      engine,
      doc,
      sumUp(entry),
    )
    forgetOld(nowMs, written)
  }

  const publish: SqliteChangeLog['publish'] = ({ rv, kindId, change, supersedes }) => {
    latest = rv
    const published = { rv, kindId, change: withBefore(change, supersedes) }
    for (const listener of listeners) listener(published)
  }

  const subscribe: SqliteChangeLog['subscribe'] = (listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }

  return {
    nextVersion: () => ++numbered,
    append,
    publish,
    subscribe,
    latest: () => latest,
    horizon: () => database.readNow(horizon),
    read: (stretch) => database.readNow(() => select(stretch)),
  }
}

interface ChangeRow extends SummedRow, Pick<Change, 'type'> {
  readonly rv: number
  /** The parts, with commas. */
  readonly touched: string
  readonly supersedes: number | null
}

type WithBefore = (change: Omit<Change, 'before'>, supersedes: number | null | undefined) => Change

/**
 * A change that tells the state before it, too. Hardly any reader asks for that state, so the getter reads it from the
 * log. The log keeps it until the slowest reader has passed the change.
 */
function createWithBefore(database: SqliteDatabase): WithBefore {
  const select = database.prepare('SELECT engine, doc, sum FROM changes WHERE rv = ?')
  return ({ type, touched, stored }, supersedes) => {
    if (typeof supersedes !== 'number') return { type, touched, stored }
    const before = lazy(() => {
      const row = database.readNow(() => unlessDamaged(() => select.get(supersedes)))
      return row && readRow(row as unknown as SummedRow)
    })
    return {
      type,
      touched,
      stored,
      get before() {
        return before()
      },
    }
  }
}

const stretchLength = 1_000
/** One state may be longer. */
const stretchCharacters = 250_000

/** A stretch ends after so many numbers, or after the state with which it is long enough. */
function selectStretch(database: SqliteDatabase, withBefore: WithBefore): SqliteChangeLog['read'] {
  const ofAll = 'SELECT rv, type, touched, supersedes, engine, doc, sum FROM changes WHERE rv > ? AND rv <= ?'
  const all = database.prepare(`${ofAll} ORDER BY rv`)
  const ofKind = database.prepare(`${ofAll} AND kind = ? ORDER BY rv`)
  return ({ after, upTo, kindId }) => {
    const end = Math.min(after + stretchLength, upTo)
    const rows = kindId === undefined ? all.iterate(after, end) : ofKind.iterate(after, end, kindId)
    const changes: Change[] = []
    let characters = 0
    let at = after
    try {
      for (const row of rows as unknown as Iterable<ChangeRow>) {
        const stored = readRow(row)
        if (stored === undefined) return endBehind(row.rv - 1, changes)
        const touched = row.touched.split(',') as readonly Part[]
        changes.push(withBefore({ type: row.type, touched, stored }, row.supersedes))
        characters += rowLengthOf(row)
        at = row.rv
        if (characters >= stretchCharacters) return { changes, upTo: at }
      }
    } catch (error) {
      if (isDamaged(error)) return endBehind(at, changes)
      throw error
    }
    return { changes, upTo: end }
  }
}

/** A change that cannot be told is none to pass over: who follows looks at what is there now, and goes on behind it. */
function endBehind(upTo: number, changes: readonly Change[]): ReturnType<SqliteChangeLog['read']> {
  if (changes.length > 0) return { changes, upTo }
  throw new OperatingError('EXPIRED', `the next change behind resource version ${upTo} is damaged: list anew`)
}
