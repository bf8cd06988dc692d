import type { Part, StoredObject, Touched } from '../../../model/stored-object.ts'
import type { Change } from '../../../ports/change-feed.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { storedOf, type ObjectRow } from './sqlite-rows.ts'

/**
 * What changed, in the order of resourceVersions: the store appends one row per write, the feed reads them. A row says
 * which object and what was touched; the state is read from the object. A removal carries the last state itself, so it is
 * told even when the same name is taken again at once. Rows go after an hour, at the head, in
 * small steps; what no cursor has passed yet stays.
 */
export interface SqliteChangeLog {
  /** The resourceVersion of the next write. Inside a write only, like `append`. */
  nextVersion(): number
  append(entry: ChangeEntry): void

  /** Tells followers of a change that is committed now. In the order of resourceVersions. */
  publish(published: PublishedChange): void
  /** Called with every change from now on, between its commit and the next turn. Returns what ends it. */
  subscribe(listener: (published: PublishedChange) => void): () => void

  /** Every committed change has a resourceVersion up to here, every later one is above. */
  latest(): number
  /** Changes up to here are forgotten. */
  horizon(): number
  /** The next stretch of the log after a resourceVersion; it says how far it got. */
  read(stretch: Stretch): { readonly changes: readonly Change[]; readonly upTo: number }
}

export interface ChangeEntry {
  readonly rv: number
  readonly objectId: number
  readonly kindId: number
  readonly touched: Touched
  /** The last state, if the object is removed. */
  readonly removed?: string
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
const retentionMs = 3_600_000
const stretchLength = 1_000
const purgeStep = 1_000
const purgePauseMs = 50

export interface SqliteChangeLogOptions {
  readonly database: SqliteDatabase
  readonly clock: Clock
}

export function createSqliteChangeLog({ database, clock }: SqliteChangeLogOptions): SqliteChangeLog {
  const insert = database.prepare(
    'INSERT INTO changes (rv, object_id, kind, at_ms, touched, removed) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const purge = createPurge(database)
  const select = selectStretch(database)
  const readHorizon = database.prepare('SELECT rv FROM horizon')
  const horizon = (): number => Number(readHorizon.get()?.['rv'])
  const listeners = new Set<(published: PublishedChange) => void>()

  const newest = database.prepare('SELECT max(rv) AS rv FROM changes')

  let latest = database.readNow(() => Math.max(unused, Number(newest.get()?.['rv'] ?? horizon())))
  let numbered = latest
  let purgeAtMs = 0

  const append: SqliteChangeLog['append'] = ({ rv, objectId, kindId, touched, removed }) => {
    const nowMs = clock.nowMs()
    insert.run(rv, objectId, kindId, nowMs, touched.join(), removed ?? null)
    if (nowMs >= purgeAtMs) purgeAtMs = purge(nowMs)
  }

  const publish: SqliteChangeLog['publish'] = (published) => {
    latest = published.rv
    for (const listener of listeners) listener(published)
  }

  const subscribe: SqliteChangeLog['subscribe'] = (listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }

  const read: SqliteChangeLog['read'] = (stretch) => {
    const upTo = Math.min(stretch.after + stretchLength, stretch.upTo)
    return { changes: database.readNow(() => select({ ...stretch, upTo })), upTo }
  }

  return {
    nextVersion: () => ++numbered,
    append,
    publish,
    subscribe,
    latest: () => latest,
    horizon: () => database.readNow(horizon),
    read,
  }
}

interface ChangeRow extends ObjectRow {
  /** The parts, with commas. */
  readonly touched: string
  readonly removed: string | null
  readonly is_creation: 0 | 1 | null
}

/**
 * A write of the engine alone is told while it is the object's last; every other write is told as long as the object
 * lives, with its last state; and a removal with the state it carries.
 */
function selectStretch(database: SqliteDatabase): (stretch: Stretch) => Change[] {
  const ofAll = `
    SELECT c.touched, c.removed, o.created_rv = c.rv AS is_creation, o.engine, o.doc
    FROM changes c LEFT JOIN objects o
      ON o.id = c.object_id AND o.created_rv <= c.rv AND (o.rv = c.rv OR c.touched <> 'engine')
    WHERE c.rv > ? AND c.rv <= ? AND (c.removed IS NOT NULL OR o.id IS NOT NULL)`
  const all = database.prepare(`${ofAll} ORDER BY c.rv`)
  const ofKind = database.prepare(`${ofAll} AND c.kind = ? ORDER BY c.rv`)
  return ({ after, upTo, kindId }) => {
    const rows = kindId === undefined ? all.all(after, upTo) : ofKind.all(after, upTo, kindId)
    return (rows as unknown as readonly ChangeRow[]).map(changeOf)
  }
}

function changeOf(row: ChangeRow): Change {
  const { removed } = row
  const touched = row.touched.split(',') as readonly Part[]
  if (removed !== null) return { type: 'removed', touched, stored: JSON.parse(removed) as StoredObject }
  return { type: row.is_creation === 1 ? 'added' : 'modified', touched, stored: storedOf(row) }
}

/** Forgets a step of what is older than the retention; returns when to look again. Part of the write that calls it. */
function createPurge(database: SqliteDatabase): (nowMs: number) => number {
  const oldest = database.prepare('SELECT rv, at_ms FROM changes ORDER BY rv LIMIT 1')
  const lastOld = database.prepare(`
    SELECT max(rv) AS rv FROM changes WHERE rv < ? AND at_ms <= ?
    AND rv <= coalesce((SELECT min(CAST(value AS INTEGER)) FROM checkpoints WHERE keeps_changes), ${Number.MAX_SAFE_INTEGER})`)
  const forget = database.prepare('DELETE FROM changes WHERE rv <= ?')
  const moveHorizon = database.prepare('UPDATE horizon SET rv = ?')
  const head = (): HeadRow | undefined => oldest.get() as unknown as HeadRow | undefined

  return (nowMs) => {
    const first = head()
    const last = lastOld.get((first?.rv ?? 0) + purgeStep, nowMs - retentionMs)?.['rv'] ?? null
    if (last !== null) {
      forget.run(last)
      moveHorizon.run(last)
    }
    return Math.max((head()?.at_ms ?? nowMs) + retentionMs, nowMs + purgePauseMs)
  }
}

interface HeadRow {
  readonly rv: number
  readonly at_ms: number
}
