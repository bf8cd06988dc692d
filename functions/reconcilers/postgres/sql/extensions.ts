import { PostgresFailure } from '../failure.ts'
import { identifier, literal, type Sql } from './connection.ts'
import type { Changes } from './roles.ts'

/** An extension as declared. */
export interface WantedExtension {
  readonly name: string
  /** Absent: the server's usual version when it is installed, and whatever it is later. */
  readonly version?: string | undefined
}

/**
 * Installs the extensions that are missing in this database, with what they depend on, in schema `public` unless they
 * have one of their own, and moves those of another version. Others stay, since dropping one drops the columns that use
 * it. Fails terminally for one that this server does not have.
 */
export async function ensureExtensions(sql: Sql, wanted: readonly WantedExtension[]): Promise<Changes> {
  const changes: string[] = []
  for (const extension of wanted) changes.push(...(await ensureExtension(sql, extension)))
  return changes
}

async function ensureExtension(sql: Sql, { name, version }: WantedExtension): Promise<Changes> {
  const found = await findExtension(sql, name, version)
  if (found === undefined) {
    const which = version === undefined ? `"${name}"` : `"${name}" in version ${version}`
    const message = `this server does not have extension ${which}, wanted in database "${sql.database}"`
    throw new PostgresFailure('terminal', 'ExtensionNotAvailable', message)
  }
  if (found.installed === null) {
    const schema = found.housed ? '' : ' SCHEMA public'
    await sql.query(
      `CREATE EXTENSION IF NOT EXISTS ${identifier(name)}${schema} VERSION ${literal(found.version)} CASCADE`,
    )
    return [`created extension "${name}" in database "${sql.database}"`]
  }
  if (version === undefined || found.installed === version) return []
  await sql.query(`ALTER EXTENSION ${identifier(name)} UPDATE TO ${literal(version)}`)
  return [`changed extension "${name}" in database "${sql.database}" to version ${version}`]
}

interface FoundExtension {
  readonly installed: string | null
  readonly version: string
  /** Whether it names the schema it must be in. */
  readonly housed: boolean
}

async function findExtension(sql: Sql, name: string, version: string | undefined): Promise<FoundExtension | undefined> {
  const [row] = await sql.query<FoundExtension>(
    `SELECT a.installed_version AS installed, v.version, v.schema IS NOT NULL AS housed
       FROM pg_available_extensions a
       JOIN pg_available_extension_versions v ON v.name = a.name AND v.version = coalesce($2, a.default_version)
      WHERE a.name = $1`,
    [name, version ?? null],
  )
  return row
}
