import { OperatingError } from '../../../model/errors.ts'
import type { ObjectKey } from '../../../model/object-key.ts'
import { pageCharactersMax } from '../../../model/size-limit.ts'
import type { StoredObject } from '../../../model/stored-object.ts'
import type { ListPage, ObjectStore } from '../../../ports/object-store.ts'
import type { Quarantine } from './quarantine.ts'
import type { SqliteChangeLog } from './sqlite-change-log.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { isDamaged, unlessDamaged } from './sqlite-errors.ts'
import type { SqliteKinds } from './sqlite-kinds.ts'
import { isOfPlace, rowLengthOf, readRow, type StatePlace, type SummedRow } from './sqlite-rows.ts'

interface SqliteListOptions {
  readonly database: SqliteDatabase
  readonly changeLog: SqliteChangeLog
  readonly kinds: SqliteKinds
  readonly quarantine: Quarantine
}

interface Place {
  readonly namespace: string
  readonly name: string
}

type PlacedRow = StateRow & StatePlace

/** A state in the log of changes. */
interface StateRow extends SummedRow {
  readonly rv: number
  readonly supersedes: number | null
}

/**
 * Bounds the pause that lists can cause: some five milliseconds. They count together, since who reads many small pages
 * asks for each as soon as the one before it is there, within one turn of the event loop.
 */
const rowsPerTurn = 500
const charactersPerTurn = 1_000_000
/** Back in the log of changes: each reads a row without its state. */
const stepsPerTurn = 2_000

/**
 * Lists by walking the index of names, in the states of the first look: a state that is newer is traced back in the log
 * of changes. So a watch from the resourceVersion of the list tells of an object what comes behind what the list said.
 * Where a state of then is forgotten, or too far back, the list throws EXPIRED: it never shows a later state instead.
 */
export function createSqliteList({ database, changeLog, kinds, quarantine }: SqliteListOptions): ObjectStore['list'] {
  const readRows = createReadRows(database)
  const spent: Spent = { ...nothingRead }

  return async (query) => {
    await pause(spent)
    const latest = changeLog.latest()
    const resourceVersion = String(latest)
    const asOf = Number(query.asOf ?? resourceVersion)
    // Its first page was of a store that was lost, or of another one.
    if (asOf > latest) throw expired(asOf, 'is later than all there is')
    const kindId = kinds.find(query)
    const items: StoredObject[] = []
    if (kindId === undefined) return { items, resourceVersion, more: false }
    const { group, kind, limit = Infinity, after = start } = query
    const damaged: ObjectKey[] = []
    const pageOf = (page: ListPage): ListPage => {
      for (const key of damaged) quarantine.note(key)
      return damaged.length === 0 ? page : { ...page, damaged }
    }
    const place = { kindId, namespace: query.namespace, asOf, after }
    const walk: Walk = { ...place, ...nothingRead, more: true, traced: undefined }
    const isFull = (): boolean =>
      items.length >= limit || (limit !== Infinity && items.length > 0 && walk.characters >= pageCharactersMax)
    for (;;) {
      if (asOf < changeLog.latest() && asOf < changeLog.horizon())
        throw expired(asOf, 'is older than what is remembered')
      const before = { ...walk }
      const rows = database.readNow(() => readRows(walk, Math.min(limit - items.length, rowsPerTurn)))
      note(spent, before, walk)
      for (const { placed, shown } of rows) {
        const stored = readPlaced(placed, shown, asOf)
        if (stored !== undefined) items.push(stored)
        else damaged.push({ group, kind, namespace: placed.namespace, name: placed.name })
      }
      if (!walk.more || isFull()) return pageOf({ items, resourceVersion, more: walk.more })
      await pause(spent)
    }
  }
}

/** What lists have read since they let others have a turn. */
interface Spent {
  rows: number
  characters: number
  steps: number
}

const nothingRead: Readonly<Spent> = { rows: 0, characters: 0, steps: 0 }

function note(spent: Spent, before: Readonly<Spent>, now: Readonly<Spent>): void {
  spent.rows += now.rows - before.rows
  spent.characters += now.characters - before.characters
  spent.steps += now.steps - before.steps
}

/** Lets others have a turn of the event loop, if enough was read since the last one. */
async function pause(spent: Spent): Promise<void> {
  if (spent.rows < rowsPerTurn && spent.characters < charactersPerTurn && spent.steps < stepsPerTurn) return
  Object.assign(spent, nothingRead)
  await new Promise((resolve) => setImmediate(resolve))
}

interface ListedRow {
  readonly placed: PlacedRow
  /** The state that the list shows. */
  readonly shown: StateRow
}

/** Undefined if it is damaged. An old state that is damaged is as good as forgotten: a new list does without it. */
function readPlaced(placed: PlacedRow, shown: StateRow, asOf: number): StoredObject | undefined {
  const stored = readRow(shown)
  if (stored === undefined && shown !== placed) throw expired(asOf, 'is damaged in part')
  return stored !== undefined && isOfPlace(stored, placed) ? stored : undefined
}

/** How far a list is. Its steps go back in the log of changes. */
interface Walk extends Spent {
  readonly kindId: number
  readonly namespace: string | undefined
  readonly asOf: number
  after: Place
  /** Rows follow. */
  more: boolean
  /** The row behind which the walk is, while its state of then is not found. */
  traced: Traced | undefined
}

interface Traced {
  readonly placed: PlacedRow
  readonly at: LogEntry
  /** How far that is back in the log. */
  readonly steps: number
}

/** Where a state stands in the log of changes, and where the one before it does. */
type LogEntry = Pick<StateRow, 'rv' | 'supersedes'>

type SelectRows = (walk: Walk, count: number) => Iterable<PlacedRow>

/** Reads the next rows, so many at most, as they were then. */
function createReadRows(database: SqliteDatabase): (walk: Walk, wanted: number) => readonly ListedRow[] {
  const select = selectRows(database)
  const selectEach = selectOneByOne(database)
  const trace = createTrace(database)
  const read = (walk: Walk, wanted: number, from: SelectRows): readonly ListedRow[] => {
    const rows: ListedRow[] = []
    const end = { characters: walk.characters + charactersPerTurn, steps: walk.steps + stepsPerTurn }
    /** Whether the state of then is found, if there was one. */
    const isFound = (traced: Traced): boolean => {
      const found = trace(traced, walk, end.steps)
      walk.traced = 'placed' in found ? found : undefined
      if ('row' in found && found.row !== undefined) rows.push({ placed: traced.placed, shown: found.row })
      return walk.traced === undefined
    }
    if (walk.traced !== undefined && !isFound(walk.traced)) return rows
    let count = rows.length
    for (const row of from(walk, wanted + 1)) {
      if (count === wanted || walk.characters >= end.characters || walk.steps >= end.steps) return rows
      count++
      walk.rows++
      walk.after = { namespace: row.namespace, name: row.name }
      walk.characters += rowLengthOf(row)
      if (row.rv <= walk.asOf || isLost(row)) rows.push({ placed: row, shown: row })
      else if (!isFound({ placed: row, at: row, steps: 0 })) return rows
    }
    walk.more = false
    return rows
  }
  return (walk, wanted) => {
    const before = { ...walk }
    try {
      return read(walk, wanted, select)
    } catch (error) {
      if (!isDamaged(error)) throw error
      Object.assign(walk, before)
      return read(walk, wanted, selectEach)
    }
  }
}

/** Nothing of its state can be read: it is named as damaged, whatever number its head says. */
function isLost({ doc }: StateRow): boolean {
  return doc === ''
}

/** Before everything: no name is empty. */
const start: Place = { namespace: '', name: '' }

function selectRows(database: SqliteDatabase): SelectRows {
  const state = "c.supersedes, c.engine, coalesce(c.doc, '') AS doc, c.sum"
  return selectPlaces(database, `h.rv, ${state}`, 'LEFT JOIN changes c ON c.rv = h.rv')
}

/** The same where a state stands on a damaged page, which ends the look at all of them: it is as one that is gone. */
function selectOneByOne(database: SqliteDatabase): SelectRows {
  const places = selectPlaces(database, 'h.rv', '')
  const select = database.prepare('SELECT supersedes, engine, doc, sum FROM changes WHERE rv = ?')
  const none = { supersedes: null, engine: null, doc: '', sum: null }
  return function* (walk, count) {
    for (const place of places(walk, count)) yield { ...place, ...(unlessDamaged(() => select.get(place.rv)) ?? none) }
  }
}

function selectPlaces(database: SqliteDatabase, more: string, join: string): SelectRows {
  const columns = `
    SELECT o.namespace, o.name, o.uid, ${more}
    FROM objects o CROSS JOIN heads h ON h.id = o.id ${join} WHERE o.kind = ?`
  const everywhere = database.prepare(
    `${columns} AND (o.namespace, o.name) > (?, ?) ORDER BY o.namespace, o.name LIMIT ?`,
  )
  const inNamespace = database.prepare(`${columns} AND o.namespace = ? AND o.name > ? ORDER BY o.name LIMIT ?`)
  return ({ kindId, namespace, after }, count) => {
    if (namespace === undefined)
      return everywhere.iterate(kindId, after.namespace, after.name, count) as unknown as Iterable<PlacedRow>
    if (after.namespace > namespace) return []
    const name = after.namespace === namespace ? after.name : ''
    return inNamespace.iterate(kindId, namespace, name, count) as unknown as Iterable<PlacedRow>
  }
}

/** So many writes of one object lie between a page and its first page at most: a search of some 100 ms. */
const stepsMax = 100_000

/** The state that a list shows: none of an object that was not there yet. */
interface Found {
  readonly row: StateRow | undefined
}

/** Goes back in the log to what an object was at a resourceVersion, up to a number of steps of the walk. */
function createTrace(database: SqliteDatabase): (traced: Traced, walk: Walk, stepsEnd: number) => Found | Traced {
  const selectEntry = database.prepare('SELECT rv, supersedes FROM changes WHERE rv = ?')
  const select = database.prepare('SELECT rv, supersedes, engine, doc, sum FROM changes WHERE rv = ?')
  return ({ placed, at, steps }, walk, stepsEnd) => {
    const { asOf } = walk
    let then = at
    let back = steps
    while (then.rv > asOf) {
      const { supersedes } = then
      if (supersedes === null) return { row: undefined }
      if (back >= stepsMax) throw expired(asOf, 'lies too many writes back')
      if (walk.steps >= stepsEnd) return { placed, at: then, steps: back }
      walk.steps++
      back++
      const before = unlessDamaged(() => selectEntry.get(supersedes)) as unknown as LogEntry | undefined
      if (before === undefined) throw expired(asOf, 'is damaged in part')
      then = before
    }
    const row = unlessDamaged(() => select.get(then.rv)) as unknown as StateRow | undefined
    if (row === undefined) throw expired(asOf, 'is damaged in part')
    return { row }
  }
}

function expired(asOf: number, why: string): OperatingError {
  return new OperatingError('EXPIRED', `resource version ${asOf} ${why}: list again`)
}
