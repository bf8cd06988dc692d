import { chmodSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSeededRandom, type SeededRandom } from '../../shared/testing/seeded-random.ts'
import { openApiClient } from '../support/api-client.ts'
import { startControlPlane, type ControlPlaneProcess } from '../support/control-plane-process.ts'
import { eventually } from '../support/eventually.ts'
import { endServers, serverPid } from '../support/postgres-servers.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { createDatabaseUser, type DatabaseUser } from './database-user.ts'

export interface DatabaseChaosReport {
  readonly kills: number
  /** How often the server was killed with the control plane. */
  readonly serverKills: number
  readonly applies: number
  readonly rows: number
  /** Everything that should not have happened. */
  readonly faults: readonly string[]
}

const roundsOfMaking = 3

/**
 * Kills the program behind `npm start` with -9 at random moments, and now and then the database server with it, while
 * examples/orders.yaml is applied, and then changed again and again, databases come and go, and rows are written. After
 * each start every acknowledged change of an object is there, the database answers by its Secret, and every
 * acknowledged row is in it; in the end all is as it was declared last, and then gone.
 */
export async function runDatabaseChaos(seed: number, rounds: number): Promise<DatabaseChaosReport> {
  using directory = temporaryDirectory('database-chaos')
  // The account of the server must be able to get there.
  chmodSync(directory.path, 0o755)
  const dataDirectory = join(directory.path, 'data')
  try {
    return await underFire(dataDirectory, createSeededRandom(seed), rounds)
  } finally {
    await endServers(dataDirectory)
  }
}

async function underFire(dataDirectory: string, random: SeededRandom, rounds: number): Promise<DatabaseChaosReport> {
  let plane = await startControlPlane({ dataDirectory })
  using client = openApiClient(plane.kubeconfig)
  const user = createDatabaseUser(client, random.fork('user'))
  const over = new AbortController()
  const faults: string[] = []
  const failed = (error: unknown): void => void faults.push(error instanceof Error ? error.message : String(error))
  const busy = Promise.all([user.declare(over.signal).catch(failed), user.insert(over.signal).catch(failed)])
  const moments = random.fork('moments')
  let serverKills = 0
  try {
    for (let round = 1; round <= rounds; round++) {
      await sleep(moments.next() * 1_500)
      if (moments.next() < 0.25 && killServer(dataDirectory)) serverKills++
      plane = await killAndStart(plane)
      // Those first kills are to come while the server is made.
      if (round > roundsOfMaking)
        await eventually(user.check, 60_000).catch((error: unknown) => failed(`round ${round}: ${String(error)}`))
    }
    over.abort()
    await busy
    await eventually(user.rest, 60_000).catch(failed)
    await eventually(async () => wasteIn(dataDirectory), 60_000).catch(failed)
    plane = await userLeaves(plane, user, moments)
    await eventually(async () => leftIn(dataDirectory), 60_000).catch(failed)
  } finally {
    over.abort()
    await plane.stop('SIGKILL')
  }
  return { kills: rounds + 1, serverKills, applies: user.applies(), rows: user.rows(), faults }
}

async function killAndStart(plane: ControlPlaneProcess): Promise<ControlPlaneProcess> {
  await plane.stop('SIGKILL')
  return startControlPlane({ dataDirectory: plane.dataDirectory, port: Number(new URL(plane.url).port) })
}

async function userLeaves(
  plane: ControlPlaneProcess,
  user: DatabaseUser,
  moments: SeededRandom,
): Promise<ControlPlaneProcess> {
  await user.leave()
  await sleep(moments.next() * 500)
  return killAndStart(plane)
}

function killServer(dataDirectory: string): boolean {
  const pid = serverPid(dataDirectory, 'default_main')
  return pid !== undefined && process.kill(pid, 'SIGKILL')
}

/** Throws if an interrupted making or removal left something beside the server. */
function wasteIn(dataDirectory: string): void {
  const waste = readdirSync(join(dataDirectory, 'postgres/default_main')).filter((name) =>
    /^(staging|removed)-/.test(name),
  )
  if (waste.length > 0) throw new Error(`left behind: ${waste.join()}`)
}

/** Throws if the server or its files are there. */
function leftIn(dataDirectory: string): void {
  const left = readdirSync(join(dataDirectory, 'postgres'))
  if (left.length > 0) throw new Error(`left after the deletion: ${left.join()}`)
}
