import { Buffer } from 'node:buffer'
import { type Client, escapeIdentifier, escapeLiteral, type QueryResultRow } from 'pg'
import { PostgresFailure, driverFailure, hasReason } from '../failure.ts'
import { withClient } from './client.ts'

/** Where and as whom to connect. */
export interface Endpoint {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
}

/** By its columns. The driver's own type is for no declaration of ours: who installs the package has none of it. */
export type SqlRow = Readonly<Record<string, unknown>>

/** An open connection to one database. */
export interface Sql {
  readonly database: string
  /** The rows of one statement with `$1` parameters; throws a PostgresFailure that says what could not be done. */
  query<Row extends object = SqlRow>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>
  /** Whether the server knows the user by this password, whatever else keeps the user out of this database. */
  knows(user: string, password: string): Promise<boolean>
}

const connectMs = 5_000
const statementMs = 60_000
const lockMs = 10_000

/**
 * Lends a connection for the time of `use`. Connecting, each statement and each wait for a lock have limits of their
 * own; when `signal` fires, the connection is cut and the signal's reason thrown. What the server was doing then may
 * still happen.
 */
export async function withConnection<T>(
  endpoint: Endpoint,
  signal: AbortSignal,
  use: (sql: Sql) => Promise<T>,
): Promise<T> {
  const notConnected = (error: unknown): never => {
    throw driverFailure(error, `connect to database "${endpoint.database}" as "${endpoint.user}"`)
  }
  const knows: Sql['knows'] = (user, password) => isKnown({ ...endpoint, user, password }, signal)
  let isConnected = false
  const connect = (more: string): Promise<T> => {
    const config = { ...endpoint, ...clientOptions, options: clientOptions.options + more }
    return withClient({ config, signal, notConnected }, (client) => {
      isConnected = true
      return use(sqlOver(client, endpoint.database, knows))
    })
  }
  // A server before 17 does not know the second of them, one before 14 neither, and refuses who names what it does not
  // know.
  for (const more of [' -c idle_session_timeout=0 -c transaction_timeout=0', ' -c idle_session_timeout=0']) {
    try {
      return await connect(more)
    } catch (error) {
      if (isConnected || !hasReason(error, 'ObjectNotFound')) throw error
    }
  }
  return connect('')
}

async function isKnown(endpoint: Endpoint, signal: AbortSignal): Promise<boolean> {
  try {
    return await withConnection(endpoint, signal, () => Promise.resolve(true))
  } catch (error) {
    // The password is checked before these are.
    if (hasReason(error, 'InsufficientPrivilege', 'TooManyConnections')) return true
    if (hasReason(error, 'AuthenticationFailed') || isTooLaborious(error)) return false
    throw error
  }
}

/** The user has stored a verifier of so many rounds that the driver refuses to work them out: it is not ours. */
function isTooLaborious(error: unknown): boolean {
  return error instanceof PostgresFailure && error.message.includes('exceeds scramMaxIterations')
}

// Only pg_catalog is searched, so that a function of the same name made by a user of the database is never called with
// our rights. A database's owner may have said `ALTER DATABASE … SET role`, that transactions are read-only, or that
// sessions end after a millisecond: that is for others.
const clientOptions = {
  application_name: 'setpoint',
  connectionTimeoutMillis: connectMs,
  statement_timeout: statementMs,
  query_timeout: statementMs + 5_000,
  lock_timeout: lockMs,
  options:
    '-c search_path=pg_catalog -c role=none -c default_transaction_read_only=off -c idle_in_transaction_session_timeout=0',
} as const

function sqlOver(client: Client, database: string, knows: Sql['knows']): Sql {
  return {
    database,
    knows,
    async query<Row extends object = SqlRow>(text: string, values: readonly unknown[] = []) {
      const result = await client.query<Row & QueryResultRow>(text, [...values]).catch((error: unknown) => {
        throw driverFailure(error, `run ${summary(text)}`)
      })
      return result.rows
    },
  }
}

/** Runs `work` in a transaction: all of it happens, or nothing. */
export async function inTransaction<T>(sql: Sql, work: () => Promise<T>): Promise<T> {
  await sql.query('BEGIN')
  try {
    const result = await work()
    await sql.query('COMMIT')
    return result
  } catch (error) {
    // A lost connection rolls back by itself, and its first failure is the one to report.
    await sql.query('ROLLBACK').catch(() => [])
    throw error
  }
}

/** A name as SQL writes it. PostgreSQL would cut longer names silently, so they are refused. */
export function identifier(name: string): string {
  const bytes = Buffer.byteLength(name)
  if (bytes > 0 && bytes <= 63 && !name.includes('\0')) return escapeIdentifier(name)
  const message = `"${name}" is not a name PostgreSQL can use: it must have 1 to 63 bytes`
  throw new PostgresFailure('terminal', 'InvalidName', message)
}

/** A text as SQL writes it. */
export function literal(text: string): string {
  if (text.includes('\0')) throw new PostgresFailure('terminal', 'InvalidValue', 'a text must not contain a zero byte')
  return escapeLiteral(text)
}

// The words before the first value: enough to know the statement, and never a secret.
function summary(text: string): string {
  return (
    text
      .trim()
      .split(/['(\n]/, 1)[0]
      ?.trim()
      .slice(0, 80) ?? ''
  )
}
