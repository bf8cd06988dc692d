import type { Client, QueryResultRow } from 'pg'
import { driverFailure } from '../../postgres/failure.ts'
import { withClient } from '../../postgres/sql/client.ts'
import type { Endpoint } from '../../postgres/sql/connection.ts'
import { CopyIn, CopyOut } from './copy.ts'

/** A connection for long work: statements may take as long as the signal lets them, and rows come and go by COPY. */
export interface Session {
  query<Row extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>
  /** The data of `COPY … TO STDOUT`, as it comes. Nothing else may be asked before it has been read to its end. */
  copyOut(statement: string): AsyncIterable<Buffer>
  /** Feeds `COPY … FROM STDIN`. */
  copyIn(statement: string, data: AsyncIterable<Uint8Array>): Promise<void>
}

export interface SessionOptions {
  readonly endpoint: Endpoint
  /** What it is for, as failures say it: `dump`. */
  readonly purpose: string
  readonly signal: AbortSignal
}

/**
 * Lends a session for the time of `use`. When `signal` fires the connection is cut, by which the server rolls back, and
 * the signal's reason thrown. Failures of PostgreSQL are PostgresFailures.
 */
export async function withSession<T>(
  { endpoint, purpose, signal }: SessionOptions,
  use: (session: Session) => Promise<T>,
): Promise<T> {
  const throwFailure = (error: unknown): never => {
    throw driverFailure(error, `${purpose} "${endpoint.database}"`)
  }
  return withClient(
    { config: { ...endpoint, ...clientOptions }, signal, notConnected: throwFailure },
    async (client) => {
      const session = sessionOver(client, throwFailure)
      await session.query(unlimitTransactions)
      return use(session)
    },
  )
}

// As pg_dump sets them: text that reads the same everywhere, no name found by chance, an error where row security would
// hide rows.
const settings = {
  search_path: 'pg_catalog',
  datestyle: 'ISO',
  intervalstyle: 'postgres',
  extra_float_digits: '3',
  synchronize_seqscans: 'off',
  row_security: 'off',
  check_function_bodies: 'off',
  xmloption: 'content',
  standard_conforming_strings: 'on',
  statement_timeout: '0',
  idle_in_transaction_session_timeout: '0',
}

// A server before 17 has no such setting, and refuses a connection that names it.
const unlimitTransactions = `
  SELECT set_config('transaction_timeout', '0', false) WHERE current_setting('transaction_timeout', true) IS NOT NULL`

const clientOptions = {
  application_name: 'setpoint backup',
  client_encoding: 'UTF8',
  connectionTimeoutMillis: 5_000,
  lock_timeout: 10_000,
  keepAlive: true,
  options: Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' '),
} as const

/** `failed` is told of what the driver throws, and of nothing else: a reader or a source that fails has its own say. */
function sessionOver(client: Client, failed: (error: unknown) => never): Session {
  return {
    async query<Row extends QueryResultRow>(text: string, values: readonly unknown[] = []) {
      const { rows } = await client.query<Row>(text, [...values]).catch(failed)
      return rows
    },
    copyOut: (statement) => client.query(new CopyOut(statement, failed)).chunks(),
    copyIn: (statement, data) => client.query(new CopyIn(statement, failed)).feed(data),
  }
}
