import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { OperatingError } from '../../../../model/errors.ts'
import { readKeyRing } from '../../secrets/key-ring.ts'
import type { SecretsOptions } from '../../secrets/prepare-secrets.ts'
import { createSealing, isSealed } from '../../secrets/sealing.ts'
import { readRow, type SummedRow } from '../sqlite-rows.ts'
import { findOtherLayout } from '../sqlite-schema.ts'
import { findBefore, readOnly, type GuardOptions } from './guarded-database.ts'
import { nameMarkFile } from './findings.ts'
import { readMark } from './mark-file.ts'

/** What was looked at, and what is wrong with it, in words. */
export interface Checked {
  readonly what: string
  readonly problems: readonly string[]
}

/**
 * Reads everything of a database that no process has open, and changes nothing: the files beside it, each page, each
 * state, and how they refer to each other. Throws UNAVAILABLE if a process has it.
 */
export function checkDatabase(file: string, { witnesses = [], secrets }: GuardOptions): readonly Checked[] {
  if (!existsSync(file) && !witnesses.some((one) => existsSync(one)))
    throw new OperatingError('UNAVAILABLE', `cannot check ${file}: there is none`)
  const findings = findBefore(file, readMark(nameMarkFile(file)), { witnesses, secrets })
  const around = { what: 'files and mark', problems: findings.map(({ says }) => says) }
  return existsSync(file) ? [around, ...checkInside(file, secrets)] : [around]
}

/** The same of a database that has no mark, as a backup. Without their key the Secrets are not looked at. */
export function checkInside(file: string, secrets?: SecretsOptions): readonly Checked[] {
  const inside = readOnly(file, (connection) => {
    const other = findOtherLayout(connection)
    if (other !== undefined) return [checkPages(connection), checkedAs(other)]
    const inTables = [checkPages, checkStates, checkReferences].map((check) => check(connection))
    return [...inTables, ...(secrets === undefined ? [] : [checkSecrets(connection, secrets)])]
  })
  if (inside === 'in use')
    throw new OperatingError('UNAVAILABLE', `cannot check ${file}: another process holds it: stop that process first`)
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
]

function checkReferences(connection: DatabaseSync): Checked {
  const problemsOf = ({ sql, says }: Reference): readonly string[] => connection.prepare(sql).all().map(says)
  return { what: 'references', problems: references.flatMap(problemsOf) }
}

/** Whether each can be decrypted, and is encrypted at all. */
function checkSecrets(connection: DatabaseSync, { keyFile }: SecretsOptions): Checked {
  const rows = connection
    .prepare(
      `SELECT c.rv, c.doc, c.engine, NULL AS sum, ${named} ${of}
    JOIN changes c ON c.rv = h.rv WHERE k.api_group = '' AND k.kind = 'Secret'`,
    )
    .all() as unknown as readonly CheckedRow[]
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

type CheckedRow = SummedRow & Row & { readonly rv: number; readonly uid: string | null; readonly isPresent: number }

function checkStates(connection: DatabaseSync): Checked {
  const rows = connection
    .prepare(
      `SELECT c.rv, c.doc, c.engine, c.sum, ${named}, o.uid, c.rv = h.rv AS isPresent
       FROM changes c LEFT JOIN objects o ON o.id = c.object_id LEFT JOIN kinds k ON k.id = o.kind LEFT JOIN heads h ON h.id = o.id`,
    )
    .iterate() as unknown as Iterable<CheckedRow>
  const problems: string[] = []
  let count = 0
  let unsummed = 0
  for (const row of rows) {
    count++
    if (row.sum === null) unsummed++
    const problem = problemOf(row)
    if (problem !== undefined) problems.push(problem)
  }
  const without = unsummed === 0 ? '' : `, ${unsummed} of them without a checksum, of an earlier version`
  return { what: `${count} states${without}`, problems }
}

function problemOf(row: CheckedRow): string | undefined {
  const which = row.isPresent === 1 ? nameOf(row) : `an old state, change ${row.rv}`
  const stored = readRow(row)
  if (stored === undefined) return `${which} is damaged`
  if (row.isPresent !== 1) return undefined
  const { uid, namespace = '', name } = stored.object.metadata
  if (uid === row.uid && namespace === row['namespace'] && name === row['name']) return undefined
  return `${which} has the state of ${namespace}/${name}`
}
