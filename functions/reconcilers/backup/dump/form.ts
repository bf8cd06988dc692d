import { PostgresFailure } from '../../postgres/failure.ts'
import { chooseClientProgram, hintToInstall, type ClientProgram } from '../../postgres/server/client-programs.ts'

/** How a database is dumped: by our own script, or by PostgreSQL's program. */
export type DumpForm = { readonly kind: 'script' } | { readonly kind: 'pg_dump'; readonly program: ClientProgram }

export interface DumpNeed {
  readonly database: string
  /** What our script cannot hold, in words. */
  readonly unsupported: readonly string[]
  /** Of the server. */
  readonly major: number
}

/**
 * Our script wherever it can hold the database; otherwise `pg_dump`, where one that fits the server is on this machine.
 * Where none fits, a PostgresFailure names what cannot be dumped, and what to install. Nothing is looked for before it
 * is needed.
 */
export async function chooseForm(
  { database, unsupported, major }: DumpNeed,
  findPrograms: () => Promise<readonly ClientProgram[]>,
): Promise<DumpForm> {
  if (unsupported.length === 0) return { kind: 'script' }
  const program = chooseClientProgram(await findPrograms(), major)
  if (program !== undefined) return { kind: 'pg_dump', program }
  const some = unsupported.slice(0, 5).join(', ')
  const more = unsupported.length > 5 ? ` and ${unsupported.length - 5} more` : ''
  throw new PostgresFailure(
    'terminal',
    'UnsupportedObjects',
    `cannot dump "${database}": it has ${some}${more}, which pg_dump can dump, but this machine has none that fits ` +
      `PostgreSQL ${major}: ${hintToInstall('pg_dump', major)}`,
  )
}
