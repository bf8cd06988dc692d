import type { Manifest } from '../support/api-client.ts'
import { isAlive, query, serverPid } from '../support/postgres-servers.ts'
import { batch, core, konnect, postgres } from './manifests.ts'
import type { World } from './world.ts'

/** Something done behind Setpoint's back, and how one sees that it has been put right. */
export interface Disturbance {
  readonly what: string
  /** Whose events tell of it. */
  readonly about: Manifest
  disturb(): Promise<void>
  /** What is there again, in words; undefined while it is not. */
  healed(): Promise<string | undefined>
}

/** Children that somebody touches: their owner is woken by the change itself. */
export function touchedChildren(world: World): readonly Disturbance[] {
  const cronJob = batch('CronJob', 'minutely-backup')
  const login = core('Secret', 'orders-connection')
  let uid = ''
  const deleted = (at: Manifest, about: Manifest, what: string): Disturbance => ({
    what,
    about,
    disturb: async () => {
      uid = String((await world.get(at))?.metadata.uid)
      await world.delete(at)
    },
    healed: async () => {
      const now = await world.get(at)
      if (now === undefined || now.metadata.uid === uid) return
      if (at.kind === 'Secret' && (await canLogIn(world)) === undefined) return
      return `there is a new one${at.kind === 'Secret' ? ', and its password works' : ''}`
    },
  })
  return [
    {
      what: 'somebody suspends the CronJob of the backup policy',
      about: cronJob,
      disturb: () => world.patch(cronJob, { spec: { suspend: true } }),
      healed: async () => ((await world.get(cronJob))?.spec.suspend === false ? 'it is not suspended' : undefined),
    },
    deleted(cronJob, cronJob, 'somebody deletes the CronJob'),
    deleted(login, postgres('PostgresDatabase', 'orders'), 'somebody deletes the Secret to log in by'),
  ]
}

/** Things outside, of which nobody tells: they are found by looking, once in the sync period. */
export function disturbedOutside(world: World): readonly Disturbance[] {
  return [
    changedInKonnect(world, konnect('KonnectService', 'orders')),
    deletedInKonnect(world, konnect('KonnectRoute', 'orders')),
    deletedInKonnect(world, konnect('KonnectConsumer', 'partner')),
    {
      what: 'somebody locks the role out of its database, with another password',
      about: postgres('PostgresDatabase', 'orders'),
      disturb: async () => {
        await query(await superuserUrl(world), `ALTER ROLE orders NOLOGIN PASSWORD 'guessed'`)
      },
      healed: () => canLogIn(world),
    },
    killedServer(world),
  ]
}

function changedInKonnect(world: World, at: Manifest): Disturbance {
  const entity = async () => (await inKonnect(world, at)).find(({ id }) => id === serviceId)
  let serviceId = ''
  return {
    what: "somebody edits the service's host and port in Konnect's pages",
    about: at,
    disturb: async () => {
      serviceId = String((await world.get(at))?.status.id)
      await ui(world, `PATCH ${serviceId}`, { host: 'edited.example', port: 1 })
    },
    healed: async () => {
      const found = await entity()
      return found?.['host'] === 'orders.example' && found['port'] === 8080
        ? 'host and port are as declared'
        : undefined
    },
  }
}

function deletedInKonnect(world: World, at: Manifest): Disturbance {
  const what = at.kind.replace('Konnect', '').toLowerCase()
  let id = ''
  return {
    what: `somebody deletes the ${what} in Konnect's pages`,
    about: at,
    disturb: async () => {
      id = String((await world.get(at))?.status.id)
      await ui(world, `DELETE ${id}`)
    },
    healed: async () => {
      const now = String((await world.get(at))?.status.id)
      const found = (await inKonnect(world, at)).filter((one) => one['id'] === now)
      return found.length === 1 && now !== id ? `it is there again, once, as ${now.slice(0, 8)}…` : undefined
    },
  }
}

function killedServer(world: World): Disturbance {
  let pid = 0
  return {
    what: 'somebody kills the database server with -9',
    about: postgres('PostgresCluster', 'main'),
    disturb: async () => {
      pid = serverPid(world.dataDirectory, 'default_main') ?? 0
      process.kill(pid, 'SIGKILL')
      while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 20))
    },
    healed: async () => {
      const now = serverPid(world.dataDirectory, 'default_main')
      return now === undefined || now === pid ? undefined : `it runs, as process ${now}`
    },
  }
}

type Entity = Readonly<Record<string, unknown>>

/** All entities of an object's kind that Konnect has. */
async function inKonnect(world: World, { kind }: Manifest): Promise<readonly Entity[]> {
  return (await ui(world, `GET ${kind.replace('Konnect', '').toLowerCase()}s`)) as readonly Entity[]
}

/** What a person does in Konnect's pages. */
async function ui({ konnectUrl }: World, line: string, body?: object): Promise<unknown> {
  const [method = '', what = ''] = line.split(' ')
  const response = await fetch(`${konnectUrl}/ui/${what}`, { method, ...(body && { body: JSON.stringify(body) }) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${line}: ${response.status} ${text}`)
  return text === '' ? undefined : (JSON.parse(text) as unknown)
}

async function canLogIn(world: World): Promise<string | undefined> {
  const url = await secretField(world, 'orders-connection', 'url')
  const answer = await query(url, 'SELECT 1').catch(() => [])
  return answer[0] === 1 ? 'the Secret lets in' : undefined
}

async function superuserUrl(world: World): Promise<string> {
  const field = (name: string): Promise<string> => secretField(world, 'main-superuser', name)
  return `postgresql://${await field('username')}:${await field('password')}@${await field('host')}:${await field('port')}/postgres`
}

async function secretField(world: World, name: string, field: string): Promise<string> {
  const secret = await world.get(core('Secret', name))
  return Buffer.from(String(secret?.data?.[field] ?? ''), 'base64').toString()
}
