import type { SqliteDatabase } from './sqlite-database.ts'
import { isOfOnePlace } from './sqlite-errors.ts'

export interface RetentionOptions {
  /** How long a superseded state is kept. Default one hour. */
  readonly retentionMs?: number
  /** How many characters of later states a superseded state is kept for. Default 512 million. */
  readonly retainedCharacters?: number
}

/**
 * Forgets the old end of the log of changes, in small steps, as part of the writes that call it: moves the horizon over
 * changes that are old enough, and deletes the states that these superseded, and removals among them. A state that is
 * still present stays, however old. What a checkpoint has not passed stays for longer than its time, but within the
 * size. Where the old end is damaged, it stays, too: it is nobody's who writes now.
 */
export type ForgetOld = (nowMs: number, written: number) => void

const retainedMs = 3_600_000
const retained = 512_000_000
const stepLength = 1_000
const pauseMs = 50
/** After an old end that could not be read. */
const longPauseMs = 60_000

export function createLogRetention(
  database: SqliteDatabase,
  { retentionMs = retainedMs, retainedCharacters = retained }: RetentionOptions,
): ForgetOld {
  const oldest = database.prepare(
    'SELECT rv, at_ms, written FROM changes WHERE rv > (SELECT rv FROM horizon) ORDER BY rv LIMIT 1',
  )
  const lastOld = database.prepare(`
    SELECT max(rv) AS rv FROM changes WHERE rv >= :from AND rv < :to AND (written <= :written
      OR (at_ms <= :atMs OR at_ms > :nowMs AND rv <= :seen) AND rv <= coalesce(
      (SELECT min(CAST(value AS INTEGER)) FROM checkpoints WHERE keeps_changes), ${Number.MAX_SAFE_INTEGER}))`)
  const newest = database.prepare('SELECT max(rv) AS rv FROM changes')
  const forget = database.prepare(`
    DELETE FROM changes WHERE rv IN (SELECT supersedes FROM changes WHERE rv >= :from AND rv <= :last)
    OR rv IN (SELECT rv FROM changes WHERE rv >= :from AND rv <= :last AND type = 'removed')`)
  const moveHorizon = database.prepare('UPDATE horizon SET rv = ?')
  const head = (): HeadRow | undefined => oldest.get() as unknown as HeadRow | undefined

  /** Changes by a clock that was ahead do not say when they were made. Until when they were can be seen. */
  let seen: Seen = { rv: 0, atMs: 0 }
  const sinceMs = ({ rv, at_ms: atMs }: HeadRow, nowMs: number): number => {
    if (atMs <= nowMs) return atMs
    if (rv > seen.rv || seen.atMs > nowMs) seen = { rv: Number(newest.get()?.['rv']), atMs: nowMs }
    return seen.atMs
  }

  const step = (nowMs: number, written: number): void => {
    const from = head()?.rv ?? 0
    const old = { nowMs, atMs: nowMs - retentionMs, written: written - retainedCharacters }
    const seenLongAgo = seen.atMs <= old.atMs ? seen.rv : 0
    const last = lastOld.get({ from, to: from + stepLength, ...old, seen: seenLongAgo })?.['rv'] ?? null
    if (last === null) return
    forget.run({ from, last })
    moveHorizon.run(last)
  }

  let due = { atMs: 0, written: 0 }
  let pausesUntilMs = 0
  const stepOn = (nowMs: number, written: number): void => {
    step(nowMs, written)
    const first = head()
    due = {
      atMs: (first === undefined ? nowMs : sinceMs(first, nowMs)) + retentionMs,
      written: (first?.written ?? written) + retainedCharacters,
    }
    pausesUntilMs = nowMs + pauseMs
  }
  const tryWhole = createTryWhole(database)
  return (nowMs, written) => {
    if (isAhead(pausesUntilMs, nowMs, longPauseMs)) return
    if (isAhead(due.atMs, nowMs, retentionMs) && written < due.written) return
    if (!tryWhole(() => stepOn(nowMs, written))) pausesUntilMs = nowMs + longPauseMs
  }
}

/** Does all of it or, where it comes upon damage, nothing of it, within the write of somebody else. Says which. */
function createTryWhole(database: SqliteDatabase): (work: () => void) => boolean {
  const begin = database.prepare('SAVEPOINT forgetting')
  const undo = database.prepare('ROLLBACK TO forgetting')
  const end = database.prepare('RELEASE forgetting')

  /** After some failures SQLite has undone the whole commit itself. */
  const isUndone = (): boolean => {
    try {
      undo.run()
      end.run()
      return true
    } catch {
      return false
    }
  }

  return (work) => {
    begin.run()
    try {
      work()
      end.run()
      return true
    } catch (error) {
      if (isOfOnePlace(error) && isUndone()) return false
      throw error
    }
  }
}

/** A time that is further ahead than it can have been is one of a clock that was set back since. */
function isAhead(atMs: number, nowMs: number, mostMs: number): boolean {
  return nowMs < atMs && atMs - nowMs <= mostMs
}

/** All changes up to this one were there at this time. */
interface Seen {
  readonly rv: number
  readonly atMs: number
}

interface HeadRow {
  readonly rv: number
  readonly at_ms: number
  readonly written: number
}
