import type { ObjectKey } from '../../../model/object-key.ts'
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
/** Back in the log of changes: each reads a row. */
const stepsPerTurn = 2_000
/** A page that is asked for with a limit ends with the object that makes it so long. */
const charactersPerPage = 2_000_000

/**
 * Lists by walking the index of names, in the states of the first look: a state that is newer is traced back in the log
 * of changes. So a watch from the resourceVersion of the list tells of an object what comes behind what the list said.
 */
export function createSqliteList({ database, changeLog, kinds, quarantine }: SqliteListOptions): ObjectStore['list'] {
  const readRows = createReadRows(database)
  const spent: Spent = { rows: 0, characters: 0, steps: 0 }

  return async (query) => {
    await pause(spent)
    const resourceVersion = String(changeLog.latest())
    const asOf = Number(query.asOf ?? resourceVersion)
    const kindId = kinds.find(query)
    const items: StoredObject[] = []
    if (kindId === undefined) return { items, resourceVersion, more: false }
    const { group, kind, limit = Infinity, after = start } = query
    const damaged: ObjectKey[] = []
    const pageOf = (page: ListPage): ListPage => {
      for (const key of damaged) quarantine.note(key)
      return damaged.length === 0 ? page : { ...page, damaged }
    }
    const walk: Walk = { kindId, namespace: query.namespace, asOf, after, rows: 0, characters: 0, steps: 0, more: true }
    const isFull = (): boolean =>
      items.length >= limit || (limit !== Infinity && items.length > 0 && walk.characters >= charactersPerPage)
    for (;;) {
      const before = { ...walk }
      const rows = database.readNow(() => readRows(walk, Math.min(limit - items.length, rowsPerTurn)))
      note(spent, before, walk)
      for (const { placed, shown } of rows) {
        const stored = readPlaced(placed, shown)
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

function note(spent: Spent, before: Readonly<Spent>, now: Readonly<Spent>): void {
  spent.rows += now.rows - before.rows
  spent.characters += now.characters - before.characters
  spent.steps += now.steps - before.steps
}

/** Lets others have a turn of the event loop, if enough was read since the last one. */
async function pause(spent: Spent): Promise<void> {
  if (spent.rows < rowsPerTurn && spent.characters < charactersPerTurn && spent.steps < stepsPerTurn) return
  Object.assign(spent, { rows: 0, characters: 0, steps: 0 })
  await new Promise((resolve) => setImmediate(resolve))
}

interface ListedRow {
  readonly placed: PlacedRow
  /** The state that the list shows. */
  readonly shown: StateRow
}

/** Undefined if it is damaged. An old state that is damaged is as good as forgotten. */
function readPlaced(placed: PlacedRow, shown: StateRow): StoredObject | undefined {
  const stored = readRow(shown) ?? (shown === placed ? undefined : readRow(placed))
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
}

type SelectRows = (walk: Walk, count: number) => Iterable<PlacedRow>

/** Reads the next rows, so many at most, as they were then. */
function createReadRows(database: SqliteDatabase): (walk: Walk, wanted: number) => readonly ListedRow[] {
  const select = selectRows(database)
  const selectEach = selectOneByOne(database)
  const trace = createTrace(database)
  const read = (walk: Walk, wanted: number, from: SelectRows): readonly ListedRow[] => {
    const rows: ListedRow[] = []
    const end = { characters: walk.characters + charactersPerTurn, steps: walk.steps + stepsPerTurn }
    let count = 0
    for (const row of from(walk, wanted + 1)) {
      if (count === wanted || walk.characters >= end.characters || walk.steps >= end.steps) return rows
      count++
      walk.rows++
      walk.after = { namespace: row.namespace, name: row.name }
      // Its head may say any number, if there is no state under it.
      const then = row.doc === '' ? row : trace(row, walk)
      walk.characters += rowLengthOf(row)
      if (then !== undefined) rows.push({ placed: row, shown: then })
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

/** The more often an object was written since, the less its state of then is worth the search. */
const stepsMax = 1_000

/**
 * What a row was at a resourceVersion; `undefined` if it was not there yet, and the row as it is if that is forgotten.
 */
function createTrace(database: SqliteDatabase): (row: StateRow, walk: Walk) => StateRow | undefined {
  const select = database.prepare('SELECT rv, supersedes, engine, doc, sum FROM changes WHERE rv = ?')
  return (row, walk) => {
    let then: StateRow | undefined = row
    for (let steps = 0; then !== undefined && then.rv > walk.asOf; steps++) {
      if (then.supersedes === null || steps >= stepsMax) return then.supersedes === null ? undefined : row
      walk.steps++
      const { supersedes } = then
      then = unlessDamaged(() => select.get(supersedes)) as unknown as StateRow | undefined
    }
    return then ?? row
  }
}
