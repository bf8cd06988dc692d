import { join, resolve } from 'node:path'
import { hasReason, PostgresFailure } from './failure.ts'
import type { ClusterIdentity, PostgresProvider, Programs, ProviderRun, Stage, WantedCluster } from './provider.ts'
import { requirePassword } from './scram.ts'
import { configure } from './server/configure.ts'
import { destroy } from './server/destroy.ts'
import { type Server, findDataVersion } from './server/home.ts'
import { prepareHost, readHostOptions, type HostOptions, type ServerHost } from './server/host.ts'
import { initialise } from './server/initialise.ts'
import { cutLog, reload, start, stopServer } from './server/lifecycle.ts'
import { observe } from './server/observe.ts'
import { loopback } from './server/port.ts'
import type { Postmaster } from './server/postmaster.ts'
import { restoreSuperuser } from './server/superuser.ts'
import { withConnection } from './sql/connection.ts'

/**
 * Servers as processes on this machine. They outlive the control plane, which finds them again when it comes back. Each
 * has a directory of its namespace and name, so that data that was retained is found again by a cluster of that name.
 */
export function localProvider(directory: string): PostgresProvider {
  const serverOf = async ({ namespace, name }: ClusterIdentity, run: ProviderRun): Promise<Server> => {
    const own = join(directory, `${namespace}_${name}`)
    return { host: await findHost(await findDataVersion(own), run), directory: own }
  }

  const stage = (
    condition: string,
    run: (server: Server, wanted: WantedCluster, run: ProviderRun) => ReturnType<Stage['run']>,
  ): Stage => ({
    condition,
    run: async (wanted, provided) => run(await serverOf(wanted, provided), wanted, provided),
  })

  return {
    runsOn: () => programs,
    // Nobody tells of a server that was killed; a look is a few files and a connection.
    resync: '10s',
    stages: [stage('Initialised', initialiseStage), stage('Configured', configureStage), stage('Running', runStage)],
    remove: async (cluster, run) => {
      await destroy(await serverOf(cluster, run), run.signal)
      return 'gone'
    },
    retain: async (cluster, run) => {
      const server = await serverOf(cluster, run)
      await stopServer(server, run.signal)
      return `the server is stopped, its files are in ${server.directory}`
    },
  }
}

/** By the major version of the data; under `undefined` the one for new servers. */
const prepared = new Map<string | undefined, Promise<ServerHost>>()

/** Those that were found last. */
let programs: Programs | undefined

function programsOf({ binaries: { name, release, advice } }: ServerHost): Programs {
  return { what: `PostgreSQL ${release} ${name}`, advice }
}

/**
 * The machine does not change while the process runs; a failure to find out is not remembered. Which programs run
 * servers is logged when it has been found out.
 */
function findHost(version: string | undefined, { signal, log }: ProviderRun): Promise<ServerHost> {
  const known = prepared.get(version)
  if (known !== undefined) return known
  const host = findAndTell({ ...readHostOptions(process.env), version }, { signal, log }).catch((error: unknown) => {
    prepared.delete(version)
    throw error
  })
  prepared.set(version, host)
  return host
}

async function findAndTell(
  options: HostOptions,
  { signal, log }: Pick<ProviderRun, 'signal' | 'log'>,
): Promise<ServerHost> {
  const host = await prepareHost(options, signal)
  const { what, advice } = programsOf(host)
  // A new server and the data of an old one ask on their own, and find the same as a rule.
  if (programs?.what === what) return host
  programs = { what, advice }
  if (advice === undefined) log.info(`servers run ${what}`)
  else log.warn(`servers run ${what}; ${advice}`)
  return host
}

async function initialiseStage(
  server: Server,
  { superuser }: WantedCluster,
  { signal, notes }: ProviderRun,
): ReturnType<Stage['run']> {
  const { initialised, running } = await observe(server, signal)
  const hasEnded = running === undefined && notes.get(runningNote) === true
  const found = hasEnded ? { outage: 'the server had ended by itself' } : {}
  const place = resolve(server.directory)
  if (!initialised && notes.get(dataNote) === place) throw dataGone(place)
  if (!initialised) await initialise(server, superuser, signal)
  notes.set(dataNote, place)
  if (initialised) return found
  return { ...found, changes: [`made the data directory with ${programsOf(server.host).what}`] }
}

/**
 * A note: where the cluster has its data. If it is not there, a disk may not be mounted, and nothing takes its place. A
 * control plane that is restored elsewhere begins with empty ones.
 */
const dataNote = 'data'

function dataGone(place: string): PostgresFailure {
  const advice = 'put it back; or delete the cluster and create it again, to begin with an empty one'
  return new PostgresFailure('retryable', 'DataGone', `the data in ${place} is not there any more: ${advice}`)
}

async function configureStage(
  server: Server,
  { port, parameters }: WantedCluster,
  { signal, notes }: ProviderRun,
): ReturnType<Stage['run']> {
  const { written, pending } = await configure(server, { port, settings: parameters }, signal)
  if (pending === 'reload') await reload(server, signal)
  if (pending === 'restart') {
    notes.set(runningNote, undefined)
    await notes.keep()
    await stopServer(server, signal)
  }
  if (written) return { changes: [`wrote the configuration${pending === 'none' ? '' : `, which took a ${pending}`}`] }
  // Nothing else takes a restart.
  return { changes: pending === 'restart' ? [`stopped the server, to run it by ${programsOf(server.host).what}`] : [] }
}

/**
 * A note: the last run left the server running. A later run that finds it ended knows that no reconciler stopped it.
 */
const runningNote = 'running'

async function runStage(
  server: Server,
  wanted: WantedCluster,
  { signal, notes }: ProviderRun,
): ReturnType<Stage['run']> {
  const before = await observe(server, signal)
  let postmaster = await start(server, signal)
  const changes = before.running === undefined ? ['started the server'] : []
  if (!(await letsIn(postmaster.port, wanted, signal))) {
    postmaster = await letSuperuserIn(server, wanted, signal)
    changes.push('let the superuser in again, by the password of its Secret')
  }
  notes.set(runningNote, true)
  await cutLog(server)
  const { otherProgram } = await observe(server, signal)
  const running = otherProgram === undefined ? programsOf(server.host) : { what: `PostgreSQL at ${otherProgram}` }
  const { port, startedAtMs } = postmaster
  const startedAt = new Date(startedAtMs).toISOString()
  return {
    changes,
    endpoint: { host: loopback, port, version: before.version ?? '', startedAt, programs: running },
  }
}

/**
 * Stops the server for a moment, so that the superuser gets in by the password of its Secret; not for a password that
 * cannot be one. Fails for good if that does not help: the next run would stop the server again.
 */
async function letSuperuserIn(server: Server, wanted: WantedCluster, signal: AbortSignal): Promise<Postmaster> {
  requirePassword(wanted.superuser.password)
  await stopServer(server, signal)
  await restoreSuperuser(server, wanted.superuser, signal)
  const postmaster = await start(server, signal)
  if (await letsIn(postmaster.port, wanted, signal)) return postmaster
  const message = 'the server does not let the superuser in, though it has the password of its Secret'
  throw new PostgresFailure('terminal', 'SuperuserShutOut', message)
}

async function letsIn(port: number, { superuser }: WantedCluster, signal: AbortSignal): Promise<boolean> {
  try {
    await withConnection({ host: loopback, port, database: 'postgres', ...superuser }, signal, (sql) =>
      sql.query('SELECT 1'),
    )
    return true
  } catch (error) {
    if (hasReason(error, 'AuthenticationFailed')) return false
    throw error
  }
}
