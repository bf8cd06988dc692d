import {
  again,
  defineReconciler,
  done,
  isCondition,
  reference,
  Secret,
  waiting,
  type Context,
  type Controller,
  type NotReady,
  type ObjectOf,
  type Outcome,
} from '../../../shared/index.ts'
import { connectionUrl, derivePassword, keepOrChoosePassword, keepSecret, secretText } from './credentials.ts'
import { asOutcome } from './failure-outcome.ts'
import { PostgresCluster, PostgresDatabase } from './kinds.ts'
import { withConnection, type Endpoint } from './sql/connection.ts'
import { dropDatabase, ensureDatabase } from './sql/databases.ts'
import { ensureExtensions } from './sql/extensions.ts'
import { ensureGrants } from './sql/grants.ts'
import type { MarkedItem } from './sql/mark.ts'
import { dropRole, ensureRole } from './sql/roles.ts'

type Database = ObjectOf<typeof PostgresDatabase>

/**
 * Keeps a database and its owner role as declared, on the cluster it refers to: what was dropped or altered by hand is
 * put back. While the cluster is not ready it waits, and is woken when the cluster is.
 */
export const databaseReconciler: Controller = defineReconciler(PostgresDatabase, {
  owns: [Secret],
  watches: [reference(PostgresCluster, (database: Database) => database.spec.clusterRef)],
  grants: [],
  resync: '1m',
  concurrency: 4,

  reconcile: (database, ctx) =>
    asOutcome(async () => {
      const admin = await findAdmin(database, ctx)
      if ('reason' in admin) return done({ ready: admin, conditions: { ClusterReady: { status: 'False', ...admin } } })
      const login = await keepLogin(database, admin, ctx)
      await ensureAll(database, { admin, login }, ctx)
      const status = { database: login.database, role: login.user, secretRef: { name: secretNameOf(database) } }
      return done({ status, conditions: { ClusterReady: { status: 'True', reason: 'Ready' } } })
    }),

  cleanup: (database, ctx) =>
    asOutcome(async () => {
      if (database.spec.deletionPolicy === 'Retain') return done()
      const cluster = await ctx.get(PostgresCluster, database.spec.clusterRef.name)
      if (cluster === undefined || cluster.metadata.deletionTimestamp !== undefined) return done()
      const admin = await findAdmin(database, ctx)
      if ('reason' in admin) return waitForCluster(admin)
      await drop(database, admin, ctx)
      return done()
    }),
})

async function drop(database: Database, admin: Endpoint, ctx: Context): Promise<void> {
  const { ownedDatabase, ownedRole } = ownedPartsOf(database)
  await withConnection(admin, ctx.signal, (sql) => dropDatabase(sql, ownedDatabase))
  await dropRole(admin, ownedRole, ctx.signal)
}

/** The superuser's way into the cluster, or why there is none yet. */
async function findAdmin(database: Database, ctx: Context): Promise<Endpoint | NotReady> {
  const { name } = database.spec.clusterRef
  const cluster = await ctx.get(PostgresCluster, name)
  if (cluster === undefined) return waiting('ClusterNotFound', `PostgresCluster ${name} does not exist`)
  const { host, port, secretRef } = cluster.status ?? {}
  const secret = secretRef && (await ctx.get(Secret, secretRef.name))
  if (!isCondition(cluster, 'Ready') || host === undefined || port === undefined || secret === undefined)
    return waiting('ClusterNotReady', `PostgresCluster ${name} is not ready`)
  return {
    host,
    port,
    database: 'postgres',
    user: secretText(secret, 'username'),
    password: secretText(secret, 'password'),
  }
}

/** How the owner logs in. Stored before the role gets its password, so that no password is ever lost. */
async function keepLogin(database: Database, { host, port, ...admin }: Endpoint, ctx: Context): Promise<Endpoint> {
  const { databaseName, roleName } = namesOf(database)
  const { uid } = database.metadata
  const choose = (): string => derivePassword(admin.password, { uid, role: roleName })
  const password = await keepOrChoosePassword(ctx, secretNameOf(database), choose)
  const login = { host, port, user: roleName, password, database: databaseName }
  await keepSecret(ctx, secretNameOf(database), {
    url: connectionUrl(login),
    host,
    port: String(port),
    database: databaseName,
    username: roleName,
    password,
  })
  return login
}

/** What was done is told as soon as it is: what comes after it may fail. */
async function ensureAll(
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
    await tell(await ensureRole(sql, { ...ownedRole, login: true, password: login.password, connectionLimit }))
    await tell(
      await ensureDatabase(sql, { ...ownedDatabase, owner: login.user, encoding: 'UTF8', connectionLimit: -1 }),
    )
  })
  await withConnection({ ...admin, database: login.database }, ctx.signal, async (sql) => {
    await tell(
      await ensureExtensions(
        sql,
        extensions.map((name) => ({ name })),
      ),
    )
    await tell(
      await ensureGrants(
        sql,
        grants.map(({ role, privileges }) => ({ to: role, privileges })),
      ),
    )
  })
}

/** What is marked as this object's; left behind, it waits for the next object of this namespace and name. */
function ownedPartsOf(database: Database): { readonly ownedDatabase: MarkedItem; readonly ownedRole: MarkedItem } {
  const { uid, namespace = '', name } = database.metadata
  const { databaseName, roleName } = namesOf(database)
  const owner = { uid, key: `${namespace}/${name}` }
  return { ownedDatabase: { name: databaseName, ...owner }, ownedRole: { name: roleName, ...owner } }
}

/** A database that cannot be dropped now is dropped once its cluster is back; or it goes with its cluster. */
function waitForCluster(admin: NotReady): Outcome<never> {
  return again('10s', { ready: admin })
}

function namesOf({ metadata, spec }: Database): { readonly databaseName: string; readonly roleName: string } {
  const databaseName = spec.database ?? metadata.name.replaceAll(/[-.]/g, '_')
  return { databaseName, roleName: spec.role ?? databaseName }
}

function secretNameOf({ metadata }: Database): string {
  return `${metadata.name}-connection`
}
