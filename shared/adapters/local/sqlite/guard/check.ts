import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { OperatingError } from '../../../../model/errors.ts'
import { keyOf } from '../../../../model/object-key.ts'
import { parseJson } from '../../../../model/parse-json.ts'
import type { Part } from '../../../../model/stored-object.ts'
import { readKeyRing } from '../../secrets/key-ring.ts'
import type { SecretsOptions } from '../../secrets/prepare-secrets.ts'
import { createSealing, isSealed } from '../../secrets/sealing.ts'
import { compareWithState, type StatedRow } from '../derived-rows.ts'
import { findInPairs } from '../rebuilding.ts'
import { isWholeCheckpoint, type CheckpointRow } from '../sqlite-checkpoint.ts'
import { isOfPlace, readRow, type SummedRow } from '../sqlite-rows.ts'
import { findOtherLayout } from '../sqlite-schema.ts'
import { findBefore, type GuardOptions } from './guarded-database.ts'
import { nameMarkFile } from './findings.ts'
import { readMark } from './mark-file.ts'
import { explainUnwritable, isHeldByProcess, readOnly } from './read-only.ts'

/** What was looked at, and what is wrong with it, in words. */
export interface Checked {
  readonly what: string
  readonly problems: readonly string[]
}

/**
 * Reads everything of a database that no process has open, and changes nothing: the files beside it, each page, each
 * state, and how they refer to each other. Throws UNAVAILABLE if a process has it.
 */
export function checkDatabase(file: string, options: GuardOptions): readonly Checked[] {
  const { witnesses = [], secrets } = options
  if (!existsSync(file) && !witnesses.some((one) => existsSync(one)))
    throw new OperatingError('UNAVAILABLE', `cannot check ${file}: there is none`)
  if (isHeldByProcess(file)) throw heldByAnother(file)
  const around = checkAround(file, options)
  return existsSync(file) ? [around, ...checkInside(file, secrets)] : [around]
}

/** What a start finds before it opens the database. */
export function checkAround(file: string, options: GuardOptions): Checked {
  const findings = findBefore(file, readMark(nameMarkFile(file)), options)
  return { what: 'files and mark', problems: findings.map(({ says }) => says) }
}

function heldByAnother(file: string): OperatingError {
  return new OperatingError('UNAVAILABLE', `cannot check ${file}: another process holds it: stop that process first`)
}

/** The same of a database that has no mark, as a backup. Without their key the Secrets are not looked at. */
export function checkInside(file: string, secrets?: SecretsOptions): readonly Checked[] {
  const inside = readOnly(file, (connection) => {
    const other = findOtherLayout(connection)
    if (other !== undefined) return [checkPages(connection), checkedAs(other)]
    const inTables = [checkPages, checkStates, checkReferences, checkCheckpoints].map((check) => check(connection))
    return [...inTables, ...(secrets === undefined ? [] : [checkSecrets(connection, secrets)])]
  })
  if (inside === 'in use') throw heldByAnother(file)
  const why = explainUnwritable(file, inside)
  if (why !== undefined) throw new OperatingError('UNAVAILABLE', `cannot check ${file}: ${why}`, { cause: inside })
  return inside instanceof Error ? [{ what: 'database', problems: [inside.message] }] : inside
}

/** Tables of an earlier version can be whole. What they say only a start can tell. */
function checkedAs({ says, isEarlier }: NonNullable<ReturnType<typeof findOtherLayout>>): Checked {
  return isEarlier ? { what: says, problems: [] } : { what: 'database', problems: [says] }
}

function checkPages(connection: DatabaseSync): Checked {
  const rows = connection.prepare('PRAGMA integrity_check').all()
  const said = rows.map((row) => String(row['integrity_check']))
  return { what: 'pages', problems: said.filter((one) => one !== 'ok') }
}

type Row = Readonly<Record<string, unknown>>

interface Reference {
  readonly sql: string
  readonly says: (row: Row) => string
}

const nameOf = ({ api_group, kind, namespace, name }: Row): string =>
  [api_group, kind, namespace, name].map(String).join('/')
const named = 'k.api_group, k.kind, o.namespace, o.name'
const of = 'FROM objects o LEFT JOIN kinds k ON k.id = o.kind LEFT JOIN heads h ON h.id = o.id'

/** Each would be right by how states are written. */
const references: readonly Reference[] = [
  {
    sql: `SELECT ${named} ${of} LEFT JOIN changes c ON c.rv = h.rv WHERE c.rv IS NULL`,
    says: (row) => `${nameOf(row)} has no state`,
  },
  {
    sql: `SELECT ${named} ${of} JOIN changes c ON c.rv = h.rv WHERE c.object_id <> o.id OR c.kind <> o.kind`,
    says: (row) => `${nameOf(row)} has the state of another object`,
  },
  {
    sql: `SELECT ${named}, h.rv, max(c.rv) AS newest ${of} JOIN changes c ON c.object_id = o.id
      GROUP BY o.id HAVING newest <> h.rv`,
    says: (row) => `${nameOf(row)} is at ${String(row['rv'])}, and its newest state is ${String(row['newest'])}`,
  },
  {
    sql: 'SELECT h.id FROM heads h LEFT JOIN objects o ON o.id = h.id WHERE o.id IS NULL',
    says: (row) => `head ${String(row['id'])} is of no object`,
  },
  {
    sql: 'SELECT rv, supersedes FROM changes WHERE supersedes >= rv',
    says: (row) => `change ${String(row['rv'])} supersedes ${String(row['supersedes'])}, which is later`,
  },
  {
    sql: `SELECT rv FROM (SELECT rv, written, lag(written) OVER (ORDER BY rv) AS before FROM changes WHERE rv > (SELECT rv FROM horizon))
      WHERE written < before`,
    says: (row) => `change ${String(row['rv'])} is out of order`,
  },
  {
    sql: `SELECT c.rv FROM changes c LEFT JOIN objects o ON o.id = c.object_id WHERE o.id IS NULL AND c.type <> 'removed'
      AND c.rv NOT IN (SELECT supersedes FROM changes WHERE supersedes IS NOT NULL)`,
    says: (row) => `change ${String(row['rv'])} is of no object`,
  },
  {
    sql: `SELECT c.rv, c.supersedes FROM changes c LEFT JOIN changes p ON p.rv = c.supersedes
      WHERE c.supersedes IS NOT NULL AND (p.object_id <> c.object_id OR p.rv IS NULL AND c.rv > (SELECT rv FROM horizon))`,
    says: (row) => `change ${String(row['rv'])} supersedes ${String(row['supersedes'])}, which is not of its object`,
  },
  // What an earlier version moved here has no time.
  {
    sql: `SELECT rv FROM changes WHERE (supersedes IS NULL AND at_ms > 0) <> (type = 'added')
      OR type NOT IN ('added', 'modified', 'removed')`,
    says: (row) => `change ${String(row['rv'])} is of a type that it cannot be of`,
  },
]

function checkReferences(connection: DatabaseSync): Checked {
  const problemsOf = ({ sql, says }: Reference): readonly string[] => connection.prepare(sql).all().map(says)
  return { what: 'references', problems: [...references.flatMap(problemsOf), ...findInPairs(connection)] }
}

/** What each checkpoint looks like, by its name. Only of the first one the log keeps what it has not passed. */
const checkpoints: Readonly<Record<string, (value: string) => boolean>> = {
  relayed: isNumber,
  turned: isNumber,
  introduced: (value) => Array.isArray(parseUnlessBroken(value)),
  probe: () => true,
}

function checkCheckpoints(connection: DatabaseSync): Checked {
  const rows = connection.prepare('SELECT name, value, keeps_changes, sum FROM checkpoints').all()
  const isWhole = (row: CheckpointRow): boolean =>
    isWholeCheckpoint(row) &&
    checkpoints[row.name]?.(row.value) === true &&
    row.keeps_changes === Number(row.name === 'relayed')
  const damaged = (rows as unknown as readonly CheckpointRow[]).filter((row) => !isWhole(row))
  const problems = damaged.map(({ name }) => `checkpoint ${name} is damaged`)
  return { what: 'checkpoints', problems }
}

function isNumber(value: string): boolean {
  return /^\d+$/.test(value)
}

function parseUnlessBroken(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

/** Whether each can be decrypted, and is encrypted at all. */
function checkSecrets(connection: DatabaseSync, { keyFile }: SecretsOptions): Checked {
  const rows = connection
    .prepare(
      `SELECT c.rv, c.doc, c.engine, NULL AS sum, ${named} ${of}
    JOIN changes c ON c.rv = h.rv WHERE k.api_group = '' AND k.kind = 'Secret'`,
    )
    .all() as unknown as readonly (SummedRow & Row)[]
  const keys = readKeyRing(keyFile)
  const sealing = typeof keys === 'string' ? undefined : createSealing(keys)
  const problems = rows.flatMap((row) => {
    const object = readRow(row)?.object
    if (object === undefined) return []
    if (sealing?.open(object) === undefined) return [`${nameOf(row)} cannot be decrypted`]
    return isSealed(object) ? [] : [`${nameOf(row)} is not encrypted; a start encrypts it`]
  })
  return { what: `${rows.length} Secrets`, problems }
}

type CheckedRow = StatedRow & Row & { readonly change: number; readonly isPresent: number; readonly touched: string }

/** A state with what stands of its object; of the kind by its own number. */
const selectStates = `
  SELECT c.rv AS change, c.doc, c.engine, c.sum, c.touched, c.rv = h.rv AS isPresent, c.kind AS state_kind, s.api_group, s.kind AS kind_name,
    o.kind, o.namespace, o.name, o.uid, o.slot, o.owners, h.kind AS head_kind, h.next_run_at_ms
  FROM changes c LEFT JOIN objects o ON o.id = c.object_id LEFT JOIN heads h ON h.id = o.id LEFT JOIN kinds s ON s.id = c.kind`

function checkStates(connection: DatabaseSync): Checked {
  const problems: string[] = []
  let count = 0
  let unsummed = 0
  for (const row of connection.prepare(selectStates).iterate() as unknown as Iterable<CheckedRow>) {
    count++
    if (row.sum === null) unsummed++
    const problem = problemOf(row)
    if (problem !== undefined) problems.push(problem)
  }
  const without = unsummed === 0 ? '' : `, ${unsummed} of them without a checksum, of an earlier version`
  return { what: `${count} states${without}`, problems }
}

function problemOf(row: CheckedRow): string | undefined {
  const which = row.isPresent === 1 ? nameOf({ ...row, kind: row.kind_name }) : `an old state, change ${row.change}`
  const stored = readRow(row)
  if (stored === undefined) return `${which} is damaged`
  const { group, kind, namespace, name } = keyOf(stored.object)
  if (stored.object.metadata.resourceVersion !== String(row.change)) return `${which} has the number of another state`
  if (row.touched !== '' && !row.touched.split(',').every((part) => part in parts))
    return `${which} touched what is no part of an object: ${row.touched}`
  if (row.isPresent !== 1)
    return group === row.api_group && kind === row.kind_name ? undefined : `${which} is of another kind`
  if (!isOfPlace(stored, row)) return `${which} has the state of ${namespace}/${name}`
  const differing = compareWithState(row, stored)
  return differing.length === 0 ? undefined : `${which} differs from its state in ${differing.join(', ')}`
}

const parts: Readonly<Record<Part, true>> = {
  spec: true,
  labels: true,
  annotations: true,
  control: true,
  meta: true,
  fields: true,
  status: true,
  references: true,
  engine: true,
  delete: true,
  timer: true,
}
