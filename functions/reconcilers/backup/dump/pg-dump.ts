import type { Endpoint } from '../../postgres/sql/connection.ts'
import { formatVersion, type ClientProgram } from '../../postgres/server/client-programs.ts'
import { nameOf, readOutput } from './client-run.ts'
import type { ToolMark } from './script.ts'
import type { Session } from './session.ts'

export interface PgDumpOptions {
  readonly program: ClientProgram
  readonly endpoint: Endpoint
  readonly signal: AbortSignal
}

/** A dump by `pg_dump`, of the moment that the session's transaction shows. */
export interface PgDump {
  readonly mark: ToolMark
  /** To be read once, while the transaction is open. */
  readonly content: AsyncIterable<Uint8Array>
}

/**
 * Has `pg_dump` dump what our script cannot hold, in its own format, by which `pg_restore` can restore it in one
 * transaction: a script of it would commit after each of its large objects. It leaves out what our script leaves out:
 * owners, privileges, and what is not of this database alone. Of an extension's tables it takes those in which users
 * have rows, so that who may not write them can restore all other dumps.
 */
export async function preparePgDump(session: Session, options: PgDumpOptions): Promise<PgDump> {
  const [{ snapshot } = { snapshot: '' }] = await session.query<{ snapshot: string }>(
    'SELECT pg_export_snapshot() AS snapshot',
  )
  const extensions = await session.query<{ name: string }>(
    `SELECT extname AS name FROM pg_extension WHERE extname <> 'plpgsql' ORDER BY 1`,
  )
  const tables = await readExtensionTables(session)
  const empty = tables.filter(({ filled }) => !filled).map(({ name }) => `--exclude-table-data=${name}`)
  return {
    mark: {
      program: 'pg_dump',
      version: formatVersion(options.program.version),
      extensions: extensions.map(({ name }) => name),
      extensionTables: tables.filter(({ filled }) => filled).map(({ name }) => name),
    },
    content: contentOf([...fixedArgs, `--snapshot=${snapshot}`, ...empty], options),
  }
}

const fixedArgs = [
  '--format=custom',
  // We compress.
  '--compress=0',
  '--encoding=UTF8',
  '--lock-wait-timeout=10000',
  '--no-password',
  '--no-owner',
  '--no-privileges',
  '--no-publications',
  '--no-subscriptions',
  '--no-security-labels',
  '--no-tablespaces',
]

function contentOf(args: readonly string[], { program, endpoint, signal }: PgDumpOptions): AsyncIterable<Uint8Array> {
  const purpose = `dump "${endpoint.database}" by ${nameOf('pg_dump', program)}`
  return readOutput({ program, args, endpoint, purpose, signal })
}

interface ExtensionTable {
  /** As SQL writes it, and as a pattern of `pg_dump` that fits nothing else. */
  readonly name: string
  /** Whether users have put something in, beyond what comes with the extension. */
  readonly filled: boolean
}

/** The tables and sequences that extensions ask to be dumped, each with the condition for the rows of users. */
async function readExtensionTables(session: Session): Promise<readonly ExtensionTable[]> {
  const tables = await session.query<{ name: string; kind: string; condition: string }>(
    `SELECT format('%I.%I', n.nspname, c.relname) AS name, c.relkind AS kind, t.condition
       FROM pg_extension e, unnest(e.extconfig, e.extcondition) t (oid, condition)
       JOIN pg_class c ON c.oid = t.oid JOIN pg_namespace n ON n.oid = c.relnamespace ORDER BY 1`,
  )
  const found: ExtensionTable[] = []
  for (const { name, kind, condition } of tables) {
    const query =
      kind === 'S'
        ? `SELECT is_called AS filled FROM ${name}`
        : `SELECT EXISTS (SELECT FROM ONLY ${name} ${condition}) AS filled`
    const [row] = await session.query<{ filled: boolean }>(query)
    found.push({ name, filled: row?.filled === true })
  }
  return found
}
