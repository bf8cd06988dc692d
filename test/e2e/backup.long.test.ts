import { chmodSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openApiClient, pathOf, readManifests, type ApiClient, type Manifest } from '../support/api-client.ts'
import { root, startControlPlane, type ControlPlaneProcess } from '../support/control-plane-process.ts'
import { eventually } from '../support/eventually.ts'
import { endServers, query } from '../support/postgres-servers.ts'
import { runProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const manifests = readManifests(join(root, 'examples/backup.yaml'))
const directory = temporaryDirectory('backup')
const dataDirectory = join(directory.path, 'data')
let plane: ControlPlaneProcess
let client: ApiClient

beforeAll(async () => {
  // The account that the servers run as must be able to get there.
  chmodSync(directory.path, 0o755)
  plane = await startControlPlane({ dataDirectory })
  client = openApiClient(plane.kubeconfig)
})
afterAll(async () => {
  client?.[Symbol.dispose]()
  await plane?.[Symbol.asyncDispose]()
  await endServers(dataDirectory)
  directory[Symbol.dispose]()
})

async function apply(manifest: Manifest): Promise<void> {
  const options = { body: manifest, contentType: 'application/apply-patch+yaml' }
  const { status } = await client.send(`PATCH ${pathOf(manifest)}?fieldManager=test`, options)
  expect([200, 201]).toContain(status)
}

const get = async (manifest: Manifest) => (await client.send(`GET ${pathOf(manifest)}`)).body
const isTrue = async (manifest: Manifest, type: string): Promise<void> =>
  expect((await get(manifest)).status.conditions).toContainEqual(expect.objectContaining({ type, status: 'True' }))

function manifestOf(apiVersion: string, kind: string, name: string, spec: object) {
  return { apiVersion, kind, metadata: { name }, spec }
}

const job = (name: string) =>
  manifestOf('batch.setpoint.dev/v1alpha1', 'Job', name, { databases: [{ name: 'ledger' }], folder: 'nightly' })
const database = (name: string) =>
  manifestOf('postgres.setpoint.dev/v1alpha1', 'PostgresDatabase', name, { clusterRef: { name: 'books' } })

async function urlOf(name: string): Promise<string> {
  const secret = manifestOf('v1', 'Secret', `${name}-connection`, {})
  return Buffer.from((await get(secret)).data.url, 'base64').toString()
}

const restore = (dump: string, url: string) =>
  runProgram(process.execPath, [join(root, 'functions/reconcilers/backup/restore.ts'), dump], {
    env: { DATABASE_URL: url },
  })

/** Each test goes on from where the one before it ended. */
describe('backups of a real database', () => {
  it('examples/backup.yaml makes a dump at once, and a CronJob for the others', async () => {
    for (const manifest of manifests) await apply(manifest)
    for (const manifest of manifests) await eventually(() => isTrue(manifest, 'Ready'))
    await isTrue(job('ledger-now'), 'Complete')
    const { status } = await get(job('ledger-now'))
    expect(existsSync(join(dataDirectory, 'backups', status.dumps[0].name))).toBe(true)
    const cronJob = manifestOf('batch.setpoint.dev/v1alpha1', 'CronJob', 'nightly-backup', {})
    expect((await get(cronJob)).spec).toMatchObject({
      schedule: '0 2 * * *',
      timeZone: 'Europe/Vienna',
      suspend: false,
    })
  })

  it('a dump, restored by the command into a fresh database, holds what was there', async () => {
    const from = await urlOf('ledger')
    await query(from, 'CREATE TABLE entry (id int PRIMARY KEY, text text)')
    await query(from, `INSERT INTO entry SELECT n, repeat('x', n) FROM generate_series(1, 1000) n`)
    await apply(job('full'))
    await eventually(() => isTrue(job('full'), 'Complete'))
    const [dump] = (await get(job('full'))).status.dumps
    await apply(database('copy'))
    await eventually(() => isTrue(database('copy'), 'Ready'))
    const to = await urlOf('copy')
    const restored = await restore(join(dataDirectory, 'backups', dump.name), to)
    expect(restored).toMatchObject({
      stderr: '',
      code: 0,
      stdout: expect.stringMatching(/^restored ledger as it was at /) as string,
    })
    const sum = 'SELECT md5(string_agg(e::text, $$,$$ ORDER BY id)) FROM entry e'
    expect(await query(to, sum)).toEqual(await query(from, sum))
    expect(await restore(join(dataDirectory, 'backups', dump.name), to)).toMatchObject({
      code: 1,
      stderr: 'restore: database "copy" is not empty: it has public.entry\n',
    })
    expect(await restore('/nowhere/1.sql.gz', to)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^restore: .*ENOENT/) as string,
    })
  })

  it('a control plane that is killed while it dumps leaves no half of one, and dumps again', async () => {
    await query(
      await urlOf('ledger'),
      `INSERT INTO entry SELECT n, repeat(md5(n::text), 20) FROM generate_series(1001, 150000) n`,
    )
    await apply(job('killed'))
    const folder = join(dataDirectory, 'backups/default/nightly/ledger')
    await eventually(
      async () => expect(readdirSync(folder).some((name) => name.endsWith('.partial'))).toBe(true),
      20_000,
    )
    client[Symbol.dispose]()
    await plane.stop('SIGKILL')
    expect(readdirSync(folder).filter((name) => !name.startsWith('.'))).toHaveLength(2)
    plane = await startControlPlane({ dataDirectory, port: Number(new URL(plane.url).port) })
    client = openApiClient(plane.kubeconfig)
    await eventually(() => isTrue(job('killed'), 'Complete'))
    const [dump] = (await get(job('killed'))).status.dumps
    await apply(database('after'))
    await eventually(() => isTrue(database('after'), 'Ready'))
    expect(await restore(join(dataDirectory, 'backups', dump.name), await urlOf('after'))).toMatchObject({ code: 0 })
    expect(await query(await urlOf('after'), 'SELECT count(*)::int FROM entry')).toEqual([150_000])
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([])
  })
})
