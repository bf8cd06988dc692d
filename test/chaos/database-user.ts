import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { SeededRandom } from '../../shared/testing/seeded-random.ts'
import { pathOf, readManifests, type ApiClient, type ApiReply } from '../support/api-client.ts'
import { root } from '../support/control-plane-process.ts'
import { query } from '../support/postgres-servers.ts'

const api = '/apis/postgres.setpoint.dev/v1alpha1/namespaces/default'
const orders = `${api}/postgresdatabases/orders`
const cluster = `${api}/postgresclusters/main`
const secrets = '/api/v1/namespaces/default/secrets'
const sides = ['side-a', 'side-b', 'side-c']

/** Somebody who declares databases and writes into one, and remembers what was acknowledged. */
export interface DatabaseUser {
  /** Declares one thing after the other until told to stop. */
  declare(signal: AbortSignal): Promise<void>
  /** Writes rows into the database until told to stop. */
  insert(signal: AbortSignal): Promise<void>
  /** Throws unless everything acknowledged is there, and the database answers. */
  check(): Promise<void>
  /** Throws unless everything is as it was declared last. */
  rest(): Promise<void>
  /** Deletes everything. */
  leave(): Promise<void>
  applies(): number
  rows(): number
}

export function createDatabaseUser(client: ApiClient, random: SeededRandom): DatabaseUser {
  /** By path: the spec that was acknowledged last, undefined for a deletion. */
  const declared = new Map<string, unknown>()
  let applies = 0
  let row = 0
  let acknowledgedRow = 0

  const apply = async (path: string, body: unknown): Promise<void> => {
    const { spec } = await untilAnswered(client, `PATCH ${path}?fieldManager=chaos&force=true`, body)
    declared.set(path, spec)
    applies++
  }

  const applyFile = async (): Promise<void> => {
    for (const manifest of readManifests(join(root, 'examples/orders.yaml'))) await apply(pathOf(manifest), manifest)
  }

  const change = async (): Promise<void> => {
    const chance = random.next()
    const number = 1 + Math.floor(random.next() * 40)
    if (chance < 0.15)
      await apply(cluster, manifestOf('PostgresCluster', 'main', { parameters: { max_connections: `${20 + number}` } }))
    else if (chance < 0.4)
      await apply(cluster, manifestOf('PostgresCluster', 'main', { parameters: { work_mem: `${number}MB` } }))
    else if (chance < 0.6)
      await apply(
        orders,
        manifestOf('PostgresDatabase', 'orders', {
          clusterRef: { name: 'main' },
          connectionLimit: 10 + number,
          extensions: ['pg_trgm'],
        }),
      )
    else if (chance < 0.7) await untilAnswered(client, `DELETE ${secrets}/orders-connection`)
    else await changeSide(sides[number % sides.length] ?? '', random.next())
  }

  const changeSide = async (name: string, chance: number): Promise<void> => {
    const path = `${api}/postgresdatabases/${name}`
    if (chance < 0.6)
      return apply(
        path,
        manifestOf('PostgresDatabase', name, { clusterRef: { name: 'main' }, deletionPolicy: 'Delete' }),
      )
    await untilAnswered(client, `DELETE ${path}`)
    while ((await untilAnswered(client, `GET ${path}`)).kind !== 'Status') await sleep(50)
    declared.delete(path)
  }

  const lost = async (): Promise<readonly string[]> => {
    const faults: string[] = []
    for (const [path, spec] of declared) {
      const found = await untilAnswered(client, `GET ${path}`)
      // Declared anew meanwhile: the next look is for that.
      if (declared.get(path) !== spec) continue
      const isAhead = found.metadata?.deletionTimestamp !== undefined
      if (!isAhead && JSON.stringify(found.spec) !== JSON.stringify(spec))
        faults.push(`${path} is ${JSON.stringify(found.spec)}, acknowledged was ${JSON.stringify(spec)}`)
    }
    return faults
  }

  const lostRows = async (): Promise<readonly string[]> => {
    const wanted = acknowledgedRow
    const found = await query(
      await urlOf(client, 'orders-connection'),
      `SELECT count(*)::int FROM kept WHERE id <= ${wanted}`,
    )
    return found[0] === wanted ? [] : [`${String(found[0])} of ${wanted} rows are there`]
  }

  return {
    declare: async (signal) => {
      await applyFile()
      while (!signal.aborted) {
        await sleep(random.next() * 400)
        await change()
      }
    },
    insert: async (signal) => {
      while (!signal.aborted) {
        try {
          const url = await urlOf(client, 'orders-connection')
          await query(url, `CREATE TABLE IF NOT EXISTS kept (id int PRIMARY KEY)`)
          await query(url, `INSERT INTO kept VALUES (${row + 1}) ON CONFLICT DO NOTHING`)
          acknowledgedRow = ++row
        } catch {
          // The server ends now and then, and is not there at first.
        }
        await sleep(30)
      }
    },
    check: async () => {
      const faults = [...(await lost()), ...(await lostRows())]
      if (faults.length > 0) throw new Error(faults.join('\n'))
    },
    rest: async () => {
      const faults = [...(await lost()), ...(await lostRows())]
      for (const path of declared.keys()) {
        const { metadata, status } = await untilAnswered(client, `GET ${path}`)
        const ready = status?.conditions?.find((one: { type: string }) => one.type === 'Ready')
        if (ready?.status !== 'True' || status.observedGeneration !== metadata.generation)
          faults.push(`${path} is ${JSON.stringify(status)}`)
      }
      const superuser = await superuserUrl(client)
      const databases = await query(
        superuser,
        `SELECT datname::text FROM pg_database WHERE NOT datistemplate AND datname <> 'postgres'`,
      )
      const wanted = [...declared.keys()].flatMap((path) => (path === cluster ? [] : databaseOf(path)))
      if (!isDeepStrictEqual(new Set(databases), new Set(wanted)))
        faults.push(`databases are ${databases.join()}, declared are ${wanted.join()}`)
      if (faults.length > 0) throw new Error(faults.join('\n'))
    },
    leave: async () => {
      for (const path of declared.keys()) await untilAnswered(client, `DELETE ${path}`)
    },
    applies: () => applies,
    rows: () => acknowledgedRow,
  }
}

function databaseOf(path: string): string {
  return path.replace(/.*\//, '').replace('-', '_')
}

function manifestOf(kind: string, name: string, spec: object): object {
  return { apiVersion: 'postgres.setpoint.dev/v1alpha1', kind, metadata: { name }, spec }
}

async function field(client: ApiClient, name: string, key: string): Promise<string> {
  const { data } = await untilAnswered(client, `GET ${secrets}/${name}`)
  if (data === undefined) throw new Error(`there is no Secret ${name}`)
  return Buffer.from(data[key], 'base64').toString()
}

const urlOf = (client: ApiClient, secret: string): Promise<string> => field(client, secret, 'url')

async function superuserUrl(client: ApiClient): Promise<string> {
  const [user, password, host, port] = await Promise.all(
    ['username', 'password', 'host', 'port'].map((key) => field(client, 'main-superuser', key)),
  )
  return `postgresql://${user}:${password}@${host}:${port}/postgres`
}

/** Sends a request until it is answered, with success or that there is no such object. */
async function untilAnswered(client: ApiClient, line: string, body?: unknown): Promise<ApiReply['body']> {
  const options = body === undefined ? {} : { body, contentType: 'application/apply-patch+yaml' }
  for (;;) {
    const { status, body: reply } = await client.send(line, options).catch(() => ({ status: 503, body: undefined }))
    if (status < 300 || status === 404) return reply
    if (status !== 409 && status < 500) throw new Error(`${line}: ${status} ${JSON.stringify(reply)}`)
    await sleep(20)
  }
}
