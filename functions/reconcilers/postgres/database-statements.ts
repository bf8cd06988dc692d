import type { Context, ObjectOf } from '../../../shared/index.ts'
import { namesOf } from './database-names.ts'
import type { PostgresDatabase } from './kinds.ts'
import { withConnection, type Endpoint } from './sql/connection.ts'
import { dropDatabase, ensureDatabase } from './sql/databases.ts'
import { ensureExtensions } from './sql/extensions.ts'
import { closeServerDatabases, ensureGrants } from './sql/grants.ts'
import type { MarkedItem } from './sql/mark.ts'
import { dropRole, ensureRole } from './sql/roles.ts'

type Database = ObjectOf<typeof PostgresDatabase>

/** Drops the database and its owner, if they are this object's. */
export async function dropAll(database: Database, admin: Endpoint, ctx: Context): Promise<void> {
  const { ownedDatabase, ownedRole } = ownedPartsOf(database)
  await withConnection(admin, ctx.signal, (sql) => dropDatabase(sql, ownedDatabase))
  await dropRole(admin, ownedRole, ctx.signal)
}

/**
 * Makes the database, its owner, extensions and grants as declared. What was done is told as soon as it is: what comes
 * after it may fail.
 */
export async function ensureAll(
  database: Database,
  { admin, login }: { readonly admin: Endpoint; readonly login: Endpoint },
  ctx: Context,
): Promise<void> {
  const { ownedDatabase, ownedRole } = ownedPartsOf(database)
  const { connectionLimit, extensions, grants } = database.spec
  const tell = async (changes: readonly string[]): Promise<void> => {
    for (const change of changes) await ctx.event('Normal', 'Changed', change)
  }
  await withConnection(admin, ctx.signal, async (sql) => {
    // Before the first role is there that is not to connect to them.
    await tell(await closeServerDatabases(sql))
    await tell(await ensureRole(sql, { ...ownedRole, login: true, password: login.password, connectionLimit }))
    await tell(
      await ensureDatabase(sql, { ...ownedDatabase, owner: login.user, encoding: 'UTF8', connectionLimit: -1 }),
    )
  })
  const wantedGrants = grants.map(({ role, privileges }) => ({ to: role, privileges }))
  const wantedExtensions = extensions.map((name) => ({ name }))
  await withConnection({ ...admin, database: login.database }, ctx.signal, async (sql) => {
    // A new database lets everybody in: that ends first, and neither of the two waits for the other.
    try {
      await tell(await ensureGrants(sql, wantedGrants))
    } finally {
      await tell(await ensureExtensions(sql, wantedExtensions))
    }
  })
}

/** What is marked as this object's; left behind, it waits for the next object of this namespace and name. */
function ownedPartsOf(database: Database): { readonly ownedDatabase: MarkedItem; readonly ownedRole: MarkedItem } {
  const { uid, namespace = '', name } = database.metadata
  const { databaseName, roleName } = namesOf(database)
  const owner = { uid, key: `${namespace}/${name}` }
  return { ownedDatabase: { name: databaseName, ...owner }, ownedRole: { name: roleName, ...owner } }
}
