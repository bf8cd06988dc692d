import { chmodSync, existsSync, globSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openApiClient, pathOf, readManifests, type ApiClient, type Manifest } from '../support/api-client.ts'
import { root, startControlPlane, type ControlPlaneProcess } from '../support/control-plane-process.ts'
import { eventually } from '../support/eventually.ts'
import { createKubectl, findKubectls, type Kubectl } from '../support/kubectl.ts'
import { endServers, isAlive, query, serverPid } from '../support/postgres-servers.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { underLoad } from '../support/under-load.ts'

const [newest] = await findKubectls()
const examples = join(root, 'examples')
const orders = join(examples, 'orders.yaml')
const api = '/apis/postgres.setpoint.dev/v1alpha1/namespaces/default'
const database = `${api}/postgresdatabases/orders`
const cluster = `${api}/postgresclusters/main`
const secrets = '/api/v1/namespaces/default/secrets'

const directory = temporaryDirectory('orders')
const dataDirectory = join(directory.path, 'data')
let plane: ControlPlaneProcess
let client: ApiClient
let kubectl: Kubectl | undefined

/** Applies a file as a user does: with kubectl, or where none is found, through the API. */
async function apply(file: string): Promise<void> {
  if (kubectl !== undefined) return void (await kubectl.ok(`apply -f '${file}'`))
  for (const manifest of readManifests(file)) {
    const options = { body: manifest, contentType: 'application/apply-patch+yaml' }
    const { status } = await client.send(`PATCH ${pathOf(manifest)}?fieldManager=test`, options)
    expect([200, 201]).toContain(status)
  }
}

async function get(path: string) {
  const { status, body } = await client.send(`GET ${path}`)
  if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`)
  return body
}

async function annotate(path: string, annotations: Readonly<Record<string, string | null>>): Promise<void> {
  const options = { body: { metadata: { annotations } }, contentType: 'application/merge-patch+json' }
  expect((await client.send(`PATCH ${path}`, options)).status).toBe(200)
}

let requests = 0
async function requestReconcile(path: string): Promise<string> {
  const token = `request ${++requests}`
  await annotate(path, { 'setpoint.dev/reconcile-requested-at': token })
  return token
}

/** Asks for a reconcile and waits until it has run. */
async function reconcile(path: string): Promise<void> {
  const token = await requestReconcile(path)
  await eventually(async () => expect((await get(path)).status.lastHandledReconcileAt).toBe(token))
}

async function secretField(name: string, field: string): Promise<string> {
  const { data } = await get(`${secrets}/${name}`)
  return Buffer.from(data[field] ?? '', 'base64').toString()
}

const url = (): Promise<string> => secretField('orders-connection', 'url')

async function superuserUrl(): Promise<string> {
  const [user, password, host, port] = await Promise.all(
    ['username', 'password', 'host', 'port'].map((field) => secretField('main-superuser', field)),
  )
  return `postgresql://${user}:${password}@${host}:${port}/postgres`
}

const databases = async (): Promise<readonly unknown[]> =>
  query(await superuserUrl(), 'SELECT datname FROM pg_database WHERE NOT datistemplate ORDER BY 1')
const roles = async (): Promise<readonly unknown[]> =>
  query(await superuserUrl(), `SELECT rolname FROM pg_roles WHERE rolname NOT LIKE 'pg\\_%' ORDER BY 1`)

/** The minute's turn may come between the two statements, and make the database again. */
async function dropByHand(): Promise<void> {
  const superuser = await superuserUrl()
  await eventually(async () => {
    await query(superuser, 'DROP DATABASE IF EXISTS orders WITH (FORCE)')
    await query(superuser, 'DROP ROLE IF EXISTS orders')
  })
}

async function expectReady(path: string): Promise<void> {
  const { metadata, status } = await get(path)
  expect(status.observedGeneration).toBe(metadata.generation)
  expect(status.conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }))
}

const canLogIn = (withinMs?: number): Promise<unknown> =>
  eventually(async () => expect(await query(await url(), 'SELECT 1')).toEqual([1]), withinMs)

function inSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

/** Each test goes on from where the one before it ended. */
describe('a database by kubectl apply', () => {
  beforeAll(async () => {
    // The account that the servers run as must be able to get there.
    chmodSync(directory.path, 0o755)
    plane = await startControlPlane({ dataDirectory })
    client = openApiClient(plane.kubeconfig)
    if (newest !== undefined)
      kubectl = createKubectl(newest, { kubeconfig: plane.kubeconfig, cacheDirectory: join(directory.path, 'cache') })
  })
  afterAll(async () => {
    client?.[Symbol.dispose]()
    await plane?.[Symbol.asyncDispose]()
    await endServers(dataDirectory)
    directory[Symbol.dispose]()
  })

  it('answers SELECT 1 through its Secret within ten seconds', async () => {
    const startMs = performance.now()
    await apply(orders)
    await canLogIn(100_000)
    const tookMs = performance.now() - startMs
    console.log(`SELECT 1 through the Secret's URL ${inSeconds(tookMs)} after the apply`)
    expect(tookMs).toBeLessThan(underLoad(10_000))
  })

  it('is as it was declared', async () => {
    await eventually(() => expectReady(database))
    await expectReady(cluster)
    expect(await query(await url(), 'SELECT extname FROM pg_extension ORDER BY 1')).toEqual(['pg_trgm', 'plpgsql'])
    expect(await query(await url(), 'SELECT current_user::text')).toEqual(['orders'])
    expect(await query(await superuserUrl(), 'SHOW max_connections')).toEqual(['50'])
    expect(await query(await url(), 'SELECT rolsuper FROM pg_roles WHERE rolname = current_user')).toEqual([false])
    for (const shared of ['postgres', 'template1']) {
      const there = new URL(shared, await url()).href
      await expect(query(there, 'SELECT 1')).rejects.toThrow(/permission denied for database/)
      await query(await superuserUrl(), `GRANT CONNECT ON DATABASE ${shared} TO PUBLIC`)
      await reconcile(database)
      await expect(query(there, 'SELECT 1')).rejects.toThrow(/permission denied for database/)
    }
    await query(await url(), 'CREATE TABLE kept (id int)')
  })

  it('tells what was done, and why it is ready', async (context) => {
    context.skip(kubectl === undefined, 'no kubectl: what it shows cannot be seen')
    if (kubectl === undefined) return
    expect(await kubectl.ok('wait --for=condition=Ready postgresdatabase/orders --timeout=60s')).toContain('met')
    expect(await kubectl.ok('get pgdb')).toMatch(/^orders +main +orders +orders-connection +True +Reconciled +\d+s$/m)
    expect(await kubectl.ok('describe pgdb orders')).toMatch(
      /^ +Normal +Changed +\S+ +postgresdatabase +created role "orders"$/m,
    )
    expect(await kubectl.ok('describe pgc main')).toMatch(
      /^ +Normal +Running +\S+ +postgrescluster +started the server$/m,
    )
  })

  it('is put back when role and database were dropped by hand, once that is asked for', async () => {
    await dropByHand()
    await expect(query(await url(), 'SELECT 1')).rejects.toThrow(/orders/)
    await reconcile(database)
    await canLogIn()
    expect(await query(await url(), 'SELECT extname FROM pg_extension ORDER BY 1')).toEqual(['pg_trgm', 'plpgsql'])
  })

  it('is put back within its resync period, a minute, though nobody asks for it', async () => {
    await dropByHand()
    const startMs = performance.now()
    await canLogIn(200_000)
    const tookMs = performance.now() - startMs
    console.log(`back ${inSeconds(tookMs)} after it was dropped`)
    // A minute until its turn; the rest is for what the turn itself takes on a machine under load.
    expect(tookMs).toBeLessThan(60_000 + underLoad(5_000))
  })

  it('is put back when it was altered by hand', async () => {
    await query(await superuserUrl(), `ALTER ROLE orders PASSWORD 'guessed' SUPERUSER NOLOGIN`)
    await query(await superuserUrl(), 'ALTER DATABASE orders OWNER TO postgres')
    await reconcile(database)
    await canLogIn()
    expect(await query(await url(), 'SELECT rolsuper FROM pg_roles WHERE rolname = current_user')).toEqual([false])
    expect(
      await query(await url(), 'SELECT datdba::regrole::text FROM pg_database WHERE datname = current_database()'),
    ).toEqual(['orders'])
  })

  it('stays dropped while it is paused', async () => {
    await annotate(database, { 'setpoint.dev/paused': 'true' })
    await dropByHand()
    await requestReconcile(database)
    await eventually(async () =>
      expect((await get(database)).status.conditions).toContainEqual(
        expect.objectContaining({ type: 'Paused', status: 'True' }),
      ),
    )
    expect(await databases()).toEqual(['postgres'])
    await annotate(database, { 'setpoint.dev/paused': null })
    await canLogIn()
    await eventually(async () =>
      expect((await get(database)).status.conditions).not.toContainEqual(expect.objectContaining({ type: 'Paused' })),
    )
  })

  it('is there again after its server was killed', async () => {
    const pid = serverPid(dataDirectory, 'default_main') as number
    process.kill(pid, 'SIGKILL')
    await eventually(async () => expect(isAlive(pid)).toBe(false))
    await reconcile(cluster)
    await canLogIn()
    expect(serverPid(dataDirectory, 'default_main')).not.toBe(pid)
  })

  it('is put back as soon as its server is, however long its own retries wait', async () => {
    await annotate(cluster, { 'setpoint.dev/resync': '10s' })
    const startedAt = async () => (await get(cluster)).status.startedAt
    const before = await startedAt()
    await dropByHand()
    process.kill(serverPid(dataDirectory, 'default_main') as number, 'SIGKILL')
    await requestReconcile(database)
    await eventually(async () => expect(await startedAt()).not.toBe(before))
    const backMs = performance.now()
    await eventually(() => expectReady(database))
    expect(performance.now() - backMs).toBeLessThan(underLoad(3_000))
    await canLogIn()
    await annotate(cluster, { 'setpoint.dev/resync': null })
  })

  it('tells what was done of what could not be done as a whole', async () => {
    const spec = { clusterRef: { name: 'main' }, extensions: ['nonsense'] }
    const half = { apiVersion: 'postgres.setpoint.dev/v1alpha1', kind: 'PostgresDatabase', metadata: { name: 'half' } }
    expect((await client.send(`POST ${api}/postgresdatabases`, { body: { ...half, spec } })).status).toBe(201)
    await eventually(async () => {
      const { items } = await get('/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=half')
      const told = (items as readonly { readonly reason: string; readonly message: string }[]).map(
        ({ reason, message }) => `${reason}: ${message}`,
      )
      expect(told).toContainEqual(expect.stringMatching(/^ExtensionNotAvailable: .*"nonsense"/))
      expect(told).toContain('Changed: created role "half"')
      expect(told).toContain('Changed: created database "half"')
    })
    expect((await client.send(`DELETE ${api}/postgresdatabases/half`)).status).toBe(200)
    await eventually(async () => expect((await client.send(`GET ${api}/postgresdatabases/half`)).status).toBe(404))
  })

  it('has its Secret again, with the same password, after somebody deleted it', async () => {
    const { metadata } = await get(`${secrets}/orders-connection`)
    const before = await url()
    expect((await client.send(`DELETE ${secrets}/orders-connection`)).status).toBe(200)
    await eventually(async () =>
      expect((await get(`${secrets}/orders-connection`)).metadata.uid).not.toBe(metadata.uid),
    )
    expect(await url()).toBe(before)
    await canLogIn()
  })

  it('has its server back under control after somebody deleted the Secret of the superuser', async () => {
    const before = await superuserUrl()
    await eventually(async () => {
      // A run that had read the Secret writes it again as it was, so the Secret is deleted until no run had.
      if ((await superuserUrl()) === before) await client.send(`DELETE ${secrets}/main-superuser`)
      expect(await superuserUrl()).not.toBe(before)
      expect(await databases()).toEqual(['orders', 'postgres'])
    }, 300_000)
    await reconcile(database)
    await canLogIn()
  })

  it('follows its declaration', async () => {
    const body = { spec: { extensions: ['pg_trgm', 'citext'], connectionLimit: 7 } }
    const options = { body, contentType: 'application/merge-patch+json' }
    expect((await client.send(`PATCH ${database}`, options)).status).toBe(200)
    await eventually(async () => {
      await expectReady(database)
      expect(await query(await url(), 'SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user')).toEqual([7])
      expect(await query(await url(), 'SELECT extname FROM pg_extension ORDER BY 1')).toContain('citext')
    })
  })

  it('outlives the control plane, which finds it again', async () => {
    await query(await url(), 'CREATE TABLE before_restart (id int)')
    const pid = serverPid(dataDirectory, 'default_main')
    const login = await url()
    client[Symbol.dispose]()
    expect(await plane.stop()).toMatchObject({ code: 0 })
    expect(await query(login, 'SELECT 1')).toEqual([1])
    plane = await startControlPlane({ dataDirectory, port: Number(new URL(plane.url).port) })
    client = openApiClient(plane.kubeconfig)
    await reconcile(cluster)
    await reconcile(database)
    await eventually(() => expectReady(database))
    expect(serverPid(dataDirectory, 'default_main')).toBe(pid)
    expect(await query(await url(), `SELECT count(*)::int FROM before_restart`)).toEqual([0])
  })

  it('goes when it is deleted, with its role and its Secret', async () => {
    if (kubectl === undefined) await client.send(`DELETE ${database}`)
    else await kubectl.ok('delete postgresdatabase orders --timeout=60s')
    await eventually(async () => expect((await client.send(`GET ${database}`)).status).toBe(404))
    expect(await databases()).toEqual(['postgres'])
    expect(await roles()).toEqual(['postgres'])
    await eventually(async () => expect((await client.send(`GET ${secrets}/orders-connection`)).status).toBe(404))
  })

  it('is found again, with what is in it, after it was retained', async () => {
    await apply(orders)
    await canLogIn()
    await query(await url(), 'CREATE TABLE retained (id int)')
    const pid = serverPid(dataDirectory, 'default_main') as number
    for (const path of [database, cluster]) {
      const options = { body: { spec: { deletionPolicy: 'Retain' } }, contentType: 'application/merge-patch+json' }
      expect((await client.send(`PATCH ${path}`, options)).status).toBe(200)
    }
    for (const path of [database, cluster]) expect((await client.send(`DELETE ${path}`)).status).toBe(200)
    await eventually(async () => {
      for (const path of [cluster, database, `${secrets}/orders-connection`, `${secrets}/main-superuser`])
        expect((await client.send(`GET ${path}`)).status).toBe(404)
    })
    await eventually(async () => expect(isAlive(pid)).toBe(false))
    await apply(orders)
    await canLogIn()
    expect(await query(await url(), 'SELECT count(*)::int FROM retained')).toEqual([0])
  })

  it('takes everything with it when its cluster is deleted', async () => {
    await apply(orders)
    await eventually(() => expectReady(database))
    await canLogIn()
    const pid = serverPid(dataDirectory, 'default_main') as number
    if (kubectl === undefined)
      for (const manifest of readManifests(orders)) await client.send(`DELETE ${pathOf(manifest)}`)
    else await kubectl.ok(`delete -f ${orders} --timeout=30s`)
    await eventually(async () => {
      for (const path of [cluster, database, `${secrets}/main-superuser`, `${secrets}/orders-connection`])
        expect((await client.send(`GET ${path}`)).status).toBe(404)
    })
    await eventually(async () => expect(isAlive(pid)).toBe(false))
    expect(existsSync(join(dataDirectory, 'postgres', 'default_main'))).toBe(false)
  })

  it('is made although the control plane is killed again and again', async () => {
    await apply(orders)
    for (const momentMs of [300, 900, 1_500]) {
      await sleep(momentMs)
      client[Symbol.dispose]()
      await plane.stop('SIGKILL')
      plane = await startControlPlane({ dataDirectory, port: Number(new URL(plane.url).port) })
      client = openApiClient(plane.kubeconfig)
    }
    await canLogIn(30_000)
    await eventually(() => expectReady(database))
    for (const manifest of readManifests(orders)) await client.send(`DELETE ${pathOf(manifest)}`)
    await eventually(async () => expect((await client.send(`GET ${cluster}`)).status).toBe(404))
    expect(readdirSync(join(dataDirectory, 'postgres'))).toEqual([])
  })

  // That of Konnect needs one: test/e2e/konnect.long.test.ts applies it.
  const apart = new Set(['orders.yaml', 'konnect.yaml'])
  const others = globSync('*.yaml', { cwd: examples }).filter((name) => !apart.has(name))
  it('is one example of all, which become ready and go', async () => {
    for (const name of others) await expectExampleWorks(join(examples, name))
    expect(statSync(orders).isFile()).toBe(true)
  })

  async function expectExampleWorks(file: string): Promise<void> {
    const manifests = readManifests(file)
    await apply(file)
    for (const manifest of manifests.filter(isReconciled)) await eventually(() => expectReady(pathOf(manifest)))
    for (const manifest of manifests) await client.send(`DELETE ${pathOf(manifest)}`)
    for (const manifest of manifests)
      await eventually(async () => expect((await client.send(`GET ${pathOf(manifest)}`)).status).toBe(404))
  }

  function isReconciled({ apiVersion }: Manifest): boolean {
    return /\.setpoint\.dev\//.test(apiVersion)
  }
})
