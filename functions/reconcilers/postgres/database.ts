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
import { asOutcome, tellFailure } from './failure-outcome.ts'
import { namesOf } from './database-names.ts'
import { PostgresCluster, PostgresDatabase } from './kinds.ts'
import type { Endpoint } from './sql/connection.ts'

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
      const conditions = { ClusterReady: { status: 'True', reason: 'Ready' } } as const
      const login = await tellFailure(
        () => ensure(database, admin, ctx),
        () => conditions,
      )
      const status = { database: login.database, role: login.user, secretRef: { name: secretNameOf(database) } }
      return done({ status, conditions })
    }),

  cleanup: (database, ctx) =>
    asOutcome(async () => {
      if (database.spec.deletionPolicy === 'Retain') return done()
      const cluster = await ctx.get(PostgresCluster, database.spec.clusterRef.name)
      if (cluster === undefined || cluster.metadata.deletionTimestamp !== undefined) return done()
      const admin = await findAdmin(database, ctx)
      if ('reason' in admin) return waitForCluster(admin)
      const { dropAll } = await import('./database-statements.ts')
      await dropAll(database, admin, ctx)
      return done()
    }),
})

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

/** Makes the database as declared, and says how its owner logs in. */
async function ensure(database: Database, admin: Endpoint, ctx: Context): Promise<Endpoint> {
  const login = await keepLogin(database, admin, ctx)
  // Imported with the first run: the functions that only know of the reconciler start without PostgreSQL's driver.
  const { ensureAll } = await import('./database-statements.ts')
  await ensureAll(database, { admin, login }, ctx)
  return login
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

/** A database that cannot be dropped now is dropped once its cluster is back; or it goes with its cluster. */
function waitForCluster(admin: NotReady): Outcome<never> {
  return again('10s', { ready: admin })
}

function secretNameOf({ metadata }: Database): string {
  return `${metadata.name}-connection`
}
