/** A server that ends by itself, one that runs for years, and a Secret that somebody deletes. */
import { readdir, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { clusterReconciler } from '../../../functions/reconcilers/postgres/cluster.ts'
import { derivePassword } from '../../../functions/reconcilers/postgres/credentials.ts'
import { PostgresCluster } from '../../../functions/reconcilers/postgres/kinds.ts'
import { localProvider } from '../../../functions/reconcilers/postgres/local-provider.ts'
import type { PostgresProvider, StageResult, WantedCluster } from '../../../functions/reconcilers/postgres/provider.ts'
import { observe } from '../../../functions/reconcilers/postgres/server/observe.ts'
import { stopServer } from '../../../functions/reconcilers/postgres/server/lifecycle.ts'
import type { Json } from '../../../shared/index.ts'
import type { Logger } from '../../../shared/ports/logger.ts'
import { withConnection } from '../../../functions/reconcilers/postgres/sql/connection.ts'
import { createTestEnv } from '../../../shared/testing/test-env.ts'
import { deadline, openWorkbench, superuser, type Workbench } from './temporary-server.ts'
import { longOnly } from '../../support/strength.ts'

let bench: Workbench
beforeAll(async () => {
  bench = await openWorkbench()
})
afterAll(() => bench[Symbol.asyncDispose]())

const quiet: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, with: () => quiet }

/** A server of the name `default_NAME`, and its stages as one run of its cluster takes them. */
function openStages(name: string) {
  const server = bench.server(`default_${name}`)
  const provider = localProvider(dirname(server.directory))
  const noted = new Map<string, Json | undefined>()
  const notes = {
    get: (key: string) => noted.get(key),
    set: (key: string, value: Json | undefined) => void noted.set(key, value),
    keep: async () => {},
  }
  const wanted: WantedCluster = {
    namespace: 'default',
    name,
    uid: 'u',
    superuser,
    port: undefined,
    parameters: {},
    machine: {},
  }
  const runAll = async (changed: Partial<WantedCluster> = {}): Promise<readonly StageResult[]> => {
    const results: StageResult[] = []
    for (const stage of provider.stages)
      results.push(await stage.run({ ...wanted, ...changed }, { signal: deadline(), notes, now: () => 0, log: quiet }))
    return results
  }
  return { server, runAll }
}

it('the stages of a server tell whether it ended by itself, or was stopped by them', longOnly, async () => {
  const { server, runAll } = openStages('main')
  const outages = (results: readonly StageResult[]) => results.flatMap(({ outage }) => outage ?? [])

  expect(outages(await runAll())).toEqual([])
  const log = join(server.directory, 'server.log')
  await truncate(log, 2 ** 27)
  expect(outages(await runAll())).toEqual([])
  // It is cut while the server runs: nobody else cuts it, and the disk would be full of it one day.
  expect((await stat(log)).size).toBeLessThan(1_000_000)
  expect((await stat(`${log}.old`)).size).toBe(2 ** 26)
  // What takes a restart is no outage.
  expect(outages(await runAll({ parameters: { max_connections: '30' } }))).toEqual([])

  const { running } = await observe(server, deadline())
  process.kill(running?.pid ?? 0, 'SIGKILL')
  await expect.poll(async () => (await observe(server, deadline())).running).toBeUndefined()
  const after = await runAll({ parameters: { max_connections: '30' } })
  expect(outages(after)).toEqual(['the server had ended by itself'])
  expect(after.flatMap(({ changes = [] }) => changes)).toContain('started the server')
  expect(outages(await runAll({ parameters: { max_connections: '30' } }))).toEqual([])
  await stopServer(server, deadline())
})

it('a server is stopped to let its superuser in only where that helps, and not in every run', longOnly, async () => {
  const { server, runAll } = openStages('shut')
  const [, , running] = await runAll()
  const admin = { ...superuser, host: '127.0.0.1', port: running?.endpoint?.port ?? 0, database: 'postgres' }
  const pidNow = async () => (await observe(server, deadline())).running?.pid
  const pid = await pidNow()
  const unusable = { ...superuser, password: 'Größe\n' }
  await expect(runAll({ superuser: unusable })).rejects.toMatchObject({ kind: 'terminal', reason: 'InvalidPassword' })
  expect(await pidNow()).toBe(pid)

  await withConnection(admin, deadline(), (sql) => sql.query('ALTER ROLE postgres NOLOGIN'))
  const changes = (await runAll()).flatMap((stage) => stage.changes ?? [])
  expect(changes).toEqual(['let the superuser in again, by the password of its Secret'])
  const after = await pidNow()
  expect(after).not.toBe(pid)
  expect((await runAll()).flatMap((stage) => stage.changes ?? [])).toEqual([])
  expect(await pidNow()).toBe(after)
  await stopServer(server, deadline())
})

it('a server is not stopped by programs of another major version, which cannot start it again', longOnly, async () => {
  const { server, runAll } = openStages('older')
  await runAll()
  const pid = (await observe(server, deadline())).running?.pid
  expect(pid).toBeDefined()
  await writeFile(join(server.directory, 'data', 'PG_VERSION'), '9\n')
  const mismatch = { kind: 'terminal', reason: 'VersionMismatch' }
  await expect(runAll({ parameters: { max_connections: '30' } })).rejects.toMatchObject(mismatch)
  expect((await observe(server, deadline())).running?.pid).toBe(pid)
  await stopServer(server, deadline())
})

it('a server that does not start with its settings runs with those of before, and is not stopped for them again', async () => {
  const { server, runAll } = openStages('unset')
  const [, , running] = await runAll()
  const admin = { ...superuser, host: '127.0.0.1', port: running?.endpoint?.port ?? 0, database: 'postgres' }
  const show = (name: string) => withConnection(admin, deadline(), (sql) => sql.query(`SHOW ${name}`))
  const pidNow = async () => (await observe(server, deadline())).running?.pid
  const refused = (complaint: string) => ({
    kind: 'terminal',
    reason: 'ConfigurationInvalid',
    message: expect.stringMatching(`^cannot start the server: ${complaint}; it runs with the settings`) as string,
  })
  const tooFew = { parameters: { max_connections: '3', work_mem: '9MB' } }
  const contradiction = refused('.*must be less than "?max_connections"? \\(3\\)')
  // As of a server that an earlier version of Setpoint has started.
  await rm(join(server.directory, 'proven.conf'))
  await runAll()
  await expect(runAll(tooFew)).rejects.toMatchObject(contradiction)
  const pid = await pidNow()
  expect(await show('max_connections')).toEqual([{ max_connections: '50' }])
  await expect(runAll(tooFew)).rejects.toMatchObject(contradiction)
  expect(await pidNow()).toBe(pid)

  const missing = { parameters: { shared_preload_libraries: 'no_such_library' } }
  await expect(runAll(missing)).rejects.toMatchObject(refused('could not access file "no_such_library".*'))
  // It may be there when a server that was down is started.
  process.kill((await pidNow()) ?? 0, 'SIGKILL')
  await expect.poll(pidNow).toBeUndefined()
  await expect(runAll(missing)).rejects.toMatchObject({ reason: 'ConfigurationInvalid' })
  expect(await pidNow()).toBeDefined()

  await runAll({ parameters: { max_connections: '30' } })
  expect(await show('max_connections')).toEqual([{ max_connections: '30' }])
  expect(await readdir(server.directory)).not.toContain('refused.conf')
  await stopServer(server, deadline())
})

it('a server whose data is gone gets no empty one in its place, and goes on when it is back', longOnly, async () => {
  const { server, runAll } = openStages('gone')
  await runAll()
  await stopServer(server, deadline())
  const [data, away] = [join(server.directory, 'data'), join(server.directory, 'away')]
  await rename(data, away)
  const gone = { kind: 'retryable', reason: 'DataGone', message: expect.stringContaining(server.directory) }
  for (let i = 0; i < 2; i++) await expect(runAll()).rejects.toMatchObject(gone)
  expect(await observe(server, deadline())).toMatchObject({ initialised: false })
  await rename(away, data)
  const [, , running] = await runAll()
  expect(running?.endpoint).toBeDefined()
  await stopServer(server, deadline())
})

it('a server whose first initdb failed is made by the next run: it never had any data', longOnly, async () => {
  const { server, runAll } = openStages('unlucky')
  const refused = { superuser: { ...superuser, user: 'pg_refused' } }
  await expect(runAll(refused)).rejects.toMatchObject({ kind: 'retryable', reason: 'InitialisationFailed' })
  const [, , running] = await runAll()
  expect(running?.endpoint).toBeDefined()
  await stopServer(server, deadline())
})

it('a server is looked at every ten seconds, and its outages are counted where they stay', longOnly, async () => {
  let outage: string | undefined
  const local = localProvider(join(bench.server('other').directory, '..'))
  const provider: PostgresProvider = {
    ...local,
    stages: [
      {
        condition: 'Running',
        run: async () => {
          const found = outage === undefined ? {} : { outage }
          outage = undefined
          return { ...found, endpoint: { host: 'h', port: 1, version: '18', startedAt: '2026-01-01T00:00:00Z' } }
        },
      },
    ],
  }
  await using env = await createTestEnv({ tickMs: 1_000, reconcilers: [clusterReconciler(provider)] })
  await env.apply(PostgresCluster, { metadata: { name: 'main' }, spec: {} })
  await env.settle()
  expect((await env.get(PostgresCluster, 'main'))?.status).not.toHaveProperty('restarts')
  for (const restarts of [1, 2]) {
    outage = 'the server had ended by itself'
    await env.advance('11s')
    expect((await env.get(PostgresCluster, 'main'))?.status).toMatchObject({ restarts })
  }
  expect(await env.explain(PostgresCluster, 'main')).toContain('ServerEnded')
  await env.advance('3h')
  expect((await env.get(PostgresCluster, 'main'))?.status).toMatchObject({ restarts: 2 })
})

it("a role's password is the same each time, another for each, and says nothing of the superuser's", () => {
  const derive = (password: string, uid: string, role = 'orders') => derivePassword(password, { uid, role })
  expect(derive('s', 'u')).toBe(derive('s', 'u'))
  expect(new Set([derive('s', 'u'), derive('s', 'v'), derive('t', 'u'), derive('s', 'u', 'other')]).size).toBe(4)
  expect(derive('s', 'u')).toMatch(/^[\w-]{24}$/)
})
