import {
  again,
  defineReconciler,
  done,
  isCondition,
  reference,
  Secret,
  stop,
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
      const { name } = database.spec.clusterRef
      await refuseMove(name, ctx)
      const admin = await findAdmin(name, ctx)
      if ('reason' in admin) return done({ ready: admin, conditions: { ClusterReady: { status: 'False', ...admin } } })
      await noteCluster(name, ctx)
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
      const noted = notedCluster(ctx) ?? (database.status?.database && database.spec.clusterRef.name)
      // Nothing was made anywhere, or it has gone with its cluster.
      if (noted === undefined || !(await isThere(noted, ctx))) return done()
      const admin = await findAdmin(noted, ctx)
      if ('reason' in admin) return waitForCluster(admin)
      const { dropAll } = await import('./database-statements.ts')
      await dropAll(database, admin, ctx)
      return done()
    }),
})

/** A note: the cluster that has the database. Kept before anything is made there. */
const clusterNote = 'cluster'

function notedCluster({ notes }: Context): string | undefined {
  const noted = notes.get(clusterNote)
  return typeof noted === 'string' ? noted : undefined
}

async function noteCluster(name: string, { notes }: Context): Promise<void> {
  if (notes.get(clusterNote) === name) return
  notes.set(clusterNote, name)
  await notes.keep()
}

/** With its cluster, a database has gone, too; so only then another one may have it. */
async function refuseMove(name: string, ctx: Context): Promise<void> {
  const noted = notedCluster(ctx)
  if (noted === undefined || noted === name || !(await isThere(noted, ctx))) return
  const message = `it is on PostgresCluster ${noted} and stays there; to move it, delete the object and create it again`
  throw stop('CannotMove', message)
}

/** Whether the cluster is there, and stays. */
async function isThere(name: string, ctx: Context): Promise<boolean> {
  const cluster = await ctx.get(PostgresCluster, name)
  return cluster !== undefined && cluster.metadata.deletionTimestamp === undefined
}

/** The superuser's way into the cluster, or why there is none yet. */
async function findAdmin(name: string, ctx: Context): Promise<Endpoint | NotReady> {
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

/** The name that the role had first: passwords are derived from it, so that a rename keeps them. */
async function noteFirstRole(database: Database, { notes }: Context): Promise<string> {
  const noted = notes.get(firstRoleNote)
  if (typeof noted === 'string') return noted
  const first = database.status?.role ?? namesOf(database).roleName
  notes.set(firstRoleNote, first)
  await notes.keep()
  return first
}

const firstRoleNote = 'firstRole'

/** How the owner logs in. Stored before the role gets its password, so that no password is ever lost. */
async function keepLogin(database: Database, { host, port, ...admin }: Endpoint, ctx: Context): Promise<Endpoint> {
  const { databaseName, roleName } = namesOf(database)
  const { uid } = database.metadata
  const role = await noteFirstRole(database, ctx)
  const choose = (): string => derivePassword(admin.password, { uid, role })
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
