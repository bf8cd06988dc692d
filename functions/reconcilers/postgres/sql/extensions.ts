import { PostgresFailure } from '../failure.ts'
import { identifier, type Sql } from './connection.ts'
import type { Changes } from './roles.ts'

/**
 * Installs the extensions that are missing in this database, with what they depend on, in schema `public` unless they
 * have one of their own. Others stay, since dropping one drops the columns that use it. Fails terminally for one that
 * this server does not have.
 */
export async function ensureExtensions(sql: Sql, names: readonly string[]): Promise<Changes> {
  const changes: string[] = []
  for (const name of names) changes.push(...(await ensureExtension(sql, name)))
  return changes
}

async function ensureExtension(sql: Sql, name: string): Promise<Changes> {
  const [found] = await sql.query<{ installed: boolean; housed: boolean }>(
    `SELECT a.installed_version IS NOT NULL AS installed, v.schema IS NOT NULL AS housed
       FROM pg_available_extensions a
       JOIN pg_available_extension_versions v ON v.name = a.name AND v.version = a.default_version
      WHERE a.name = $1`,
    [name],
  )
  if (found === undefined) {
    const message = `this server does not have extension "${name}", wanted in database "${sql.database}"`
    throw new PostgresFailure('terminal', 'ExtensionNotAvailable', message)
  }
  if (found.installed) return []
  const schema = found.housed ? '' : ' SCHEMA public'
  await sql.query(`CREATE EXTENSION IF NOT EXISTS ${identifier(name)}${schema} CASCADE`)
  return [`created extension "${name}" in database "${sql.database}"`]
}
