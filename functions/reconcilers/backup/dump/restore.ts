import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGunzip } from 'node:zlib'
import { pipeline } from 'node:stream/promises'
import {
  chooseClientProgram,
  findClientPrograms,
  hintToInstall,
  type ClientProgram,
} from '../../postgres/server/client-programs.ts'
import type { Endpoint } from '../../postgres/sql/connection.ts'
import { feedInput, nameOf } from './client-run.ts'
import { userObjects } from './objects.ts'
import { readScript, ScriptError, type DumpHeader, type ScriptPart, type ToolMark } from './script.ts'
import { withSession, type Session } from './session.ts'

/** Opens the dump from its beginning. */
export type DumpSource = () => AsyncIterable<Uint8Array>

export interface Restored extends DumpHeader {
  /** What restored it: `pg_restore 18.6`; left out where we did. */
  readonly restoredBy?: string
}

export interface DumpRestoreOptions {
  readonly endpoint: Endpoint
  readonly signal: AbortSignal
  /** Where `pg_restore` is looked for, if the dump needs it. Default: on this machine. */
  readonly findPrograms?: (signal: AbortSignal) => Promise<readonly ClientProgram[]>
}

/**
 * Restores a dump into a database that has nothing of its own yet, all of it or nothing: one transaction, which ends
 * well only if the dump is whole and its digest is right. A dump that `pg_dump` made is read to its end before anything
 * is sent, and then restored by `pg_restore`. Throws a ScriptError for a dump that is not whole, for a database that is
 * not empty, and for what is missing to restore it.
 */
export async function restoreDump(open: DumpSource, options: DumpRestoreOptions): Promise<Restored> {
  const { endpoint, signal } = options
  const script = readScript(decompress(open()))
  const header = await script.header()
  if (header.tool !== undefined) return restoreByProgram(open, header.tool, header, options)
  await withSession({ endpoint, purpose: 'restore', signal }, async (session) => {
    await session.query('BEGIN')
    await expectEmpty(session, endpoint.database)
    for await (const part of script.parts()) await run(part, session)
    await session.query('COMMIT')
  })
  return header
}

async function run(part: ScriptPart, session: Session): Promise<void> {
  if ('statement' in part) await session.query(part.statement)
  else await session.copyIn(part.copy, part.data)
}

async function restoreByProgram(
  open: DumpSource,
  tool: ToolMark,
  header: DumpHeader,
  { endpoint, signal, findPrograms = findPgRestore }: DumpRestoreOptions,
): Promise<Restored> {
  const major = Number.parseInt(tool.version, 10)
  const program = chooseClientProgram(await findPrograms(signal), major)
  if (program === undefined)
    throw new ScriptError(
      `the dump was made by ${tool.program} ${tool.version}, and this machine has no pg_restore that can read it: ${hintToInstall('pg_restore', major)}`,
    )
  for await (const _ of await bodyOf(open)) signal.throwIfAborted()
  await withSession({ endpoint, purpose: 'restore', signal }, async (session) => {
    await expectEmpty(session, endpoint.database)
    await expectExtensions(session, tool)
  })
  const restoredBy = nameOf('pg_restore', program)
  const purpose = `restore "${endpoint.database}" by ${restoredBy}`
  const about = { program, endpoint, purpose, signal }
  const list = await feedInput({ ...about, args: ['--list'] }, await bodyOf(open))
  await withTemporaryFile(withoutExtensionComments(list), async (file) =>
    feedInput({ ...about, args: [...restoreArgs, `--use-list=${file}`] }, await bodyOf(open)),
  )
  return { ...header, restoredBy }
}

const restoreArgs = [
  // Which one, the environment says.
  '--dbname=application_name=setpoint',
  '--single-transaction',
  '--exit-on-error',
  '--no-owner',
  '--no-privileges',
  '--no-password',
]

/** The comment of an extension comes with it, and may be set only by its owner. */
function withoutExtensionComments(list: string): string {
  return list
    .split('\n')
    .filter((line) => !/^\d+; \d+ \d+ COMMENT - EXTENSION /.test(line))
    .join('\n')
}

/** Lends a file with this text, for our account alone. */
async function withTemporaryFile(text: string, use: (file: string) => Promise<unknown>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'setpoint-restore-'))
  try {
    const file = join(directory, 'list')
    await writeFile(file, text, { mode: 0o600 })
    await use(file)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

function findPgRestore(signal: AbortSignal): Promise<readonly ClientProgram[]> {
  return findClientPrograms('pg_restore', signal)
}

/** What a program wrote, up to an end that is as it should be. */
async function bodyOf(open: DumpSource): Promise<AsyncIterable<Uint8Array>> {
  const script = readScript(decompress(open()))
  await script.header()
  return script.body()
}

async function expectEmpty(session: Session, database: string): Promise<void> {
  const found = await session.query<{ name: string }>(
    `WITH ${userObjects} (SELECT qname AS name FROM relations WHERE relkind IN ('r', 'p', 'v', 'm', 'S', 'f') LIMIT 3)
     UNION ALL (SELECT 'function ' || p.oid::regprocedure FROM pg_proc p JOIN used u ON u.oid = p.pronamespace
                 WHERE NOT EXISTS (SELECT FROM members m WHERE m.classid = 'pg_proc'::regclass AND m.objid = p.oid) LIMIT 3)
     UNION ALL (SELECT 'type ' || t.oid::regtype FROM pg_type t JOIN used u ON u.oid = t.typnamespace
                 WHERE t.typrelid = 0 AND t.typelem = 0
                   AND NOT EXISTS (SELECT FROM members m WHERE m.classid = 'pg_type'::regclass AND m.objid = t.oid) LIMIT 3)
     UNION ALL (SELECT 'large object ' || oid FROM pg_largeobject_metadata LIMIT 3)`,
  )
  if (found.length === 0) return
  throw new ScriptError(`database "${database}" is not empty: it has ${found.map(({ name }) => name).join(', ')}`)
}

/** What the login cannot make, and would otherwise learn after most of the work. */
async function expectExtensions(session: Session, { extensions, extensionTables }: ToolMark): Promise<void> {
  const missing = await session.query<{ name: string }>(missingExtensions, [extensions])
  if (missing.length > 0)
    throw new ScriptError(
      `the dump needs the extension ${missing.map(({ name }) => name).join(', ')}, which this login cannot create: name it in spec.extensions of the PostgresDatabase, or install it on the server`,
    )
  const closed = await session.query<{ name: string }>(closedTables, [extensionTables])
  if (closed.length > 0)
    throw new ScriptError(
      `the dump has rows of ${closed.map(({ name }) => name).join(', ')}, which belongs to an extension: GRANT INSERT on it to the login that restores, for the time of the restore`,
    )
}

const missingExtensions = `
  SELECT name FROM unnest($1::text[]) w (name)
   WHERE NOT EXISTS (SELECT FROM pg_extension e WHERE e.extname = w.name)
     AND NOT EXISTS (SELECT FROM pg_available_extension_versions v, pg_roles r
                      WHERE v.name = w.name AND r.rolname = current_user
                        AND (r.rolsuper OR NOT v.superuser OR v.trusted AND has_database_privilege(current_database(), 'CREATE')))`

// Of an extension that is not there yet, the login will own the tables.
const closedTables = `
  SELECT name FROM unnest($1::text[]) w (name)
   WHERE to_regclass(name) IS NOT NULL AND NOT has_table_privilege(to_regclass(name), 'INSERT')`

async function* decompress(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip()
  void pipeline(content, gunzip).catch(() => {})
  try {
    yield* gunzip as AsyncIterable<Uint8Array>
  } catch (cause) {
    if (
      cause instanceof Error &&
      /^Z_|unexpected end of file/.test(`${(cause as NodeJS.ErrnoException).code} ${cause.message}`)
    )
      throw new ScriptError(`the dump is damaged: ${cause.message}`, { cause })
    throw cause
  }
}
