import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Job } from '../../../functions/reconcilers/backup/kinds.ts'
import { backupReconcilersOver } from '../../../functions/reconcilers/backup/reconcilers.ts'
import { PostgresFailure } from '../../../functions/reconcilers/postgres/failure.ts'
import { OperatingError, Secret } from '../../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../../shared/testing/test-env.ts'
import {
  createMemoryArchive,
  createTestDump,
  databaseManifest,
  readyDatabases,
  type MemoryArchive,
} from './test-world.ts'

let env: TestEnv
let archive: MemoryArchive
const dump = createTestDump()

beforeEach(async () => {
  archive = createMemoryArchive(() => env.nowMs())
  env = await createTestEnv({
    tickMs: 60_000,
    reconcilers: [...backupReconcilersOver(archive, dump.run), readyDatabases],
  })
  dump.reset()
  for (const name of ['orders', 'users']) await env.applyManifest(databaseManifest(name))
  await env.settle()
})
afterEach(() => env.close())

interface Fields {
  readonly databases?: readonly string[]
  readonly backoffLimit?: number
  readonly activeDeadlineSeconds?: number
  readonly ttlSecondsAfterFinished?: number
}

async function job({ databases = ['orders', 'users'], ...fields }: Fields = {}): Promise<void> {
  const spec = { databases: databases.map((name) => ({ name })), folder: 'now', ...fields }
  await env.apply(Job, { metadata: { name: 'now' }, spec })
  await env.settle()
}

const get = async () => env.get(Job, 'now')
const isDatabase = (key: unknown) => (key as { readonly kind?: string }).kind === 'PostgresDatabase'
const condition = async (type: string) => (await get())?.status?.conditions?.find((one) => one.type === type)

describe('a Job', () => {
  it('of hundreds of small databases is no hot loop, and ends within minutes', async () => {
    const databases = Array.from({ length: 130 }, (_, i) => `small-${i}`)
    for (const name of databases) await env.applyManifest(databaseManifest(name))
    await job({ databases })
    await env.advance('5m')
    expect([dump.count(), (await condition('HotLoop'))?.status, (await condition('Complete'))?.status]).toEqual([
      130,
      undefined,
      'True',
    ])
  })

  it('dumps each of its databases once, says where, and is complete', async () => {
    await job()
    const found = await get()
    const uid = found?.metadata.uid.slice(0, 8)
    expect(found?.status).toMatchObject({
      startTime: '2026-01-01T00:00:00Z',
      completionTime: '2026-01-01T00:00:00Z',
      active: 0,
      dumps: [
        { database: 'orders', name: `default/now/orders/20260101T000000Z-${uid}.sql.gz`, sizeBytes: 6 },
        { database: 'users', name: `default/now/users/20260101T000000Z-${uid}.sql.gz`, sizeBytes: 5 },
      ],
    })
    expect(await condition('Complete')).toMatchObject({ status: 'True' })
    expect(await condition('Ready')).toMatchObject({ status: 'True' })
    await env.advance('3h')
    expect(dump.count()).toBe(2)
  })

  it('says of a dump that pg_dump made that it did, in its name, in the status and in the event', async () => {
    dump.makeBy('pg_dump 18.6')
    await job({ databases: ['orders'] })
    const [made] = (await get())?.status?.dumps ?? []
    expect(made).toMatchObject({ madeBy: 'pg_dump 18.6', name: expect.stringMatching(/\.pgdump\.gz$/) })
    expect(await env.explain(Job, 'now')).toMatch(/stored .*\.pgdump\.gz, \d+ bytes, made by pg_dump 18\.6/)
  })

  it('repeats after a failure the database that failed, and no other', async () => {
    dump.fail(new Error('the connection broke'), 'users')
    await job()
    await env.advance('3s')
    expect(dump.count('orders')).toBe(1)
    expect(dump.count('users')).toBeGreaterThan(1)
    dump.mend()
    await env.advance('10s')
    expect(await condition('Complete')).toMatchObject({ status: 'True' })
    expect(dump.count('orders')).toBe(1)
  })

  it('goes on after a crash with the database that was not dumped, under the same name', async () => {
    dump.hold()
    await job()
    await env.crash()
    dump.release()
    await env.advance('1m')
    expect(await condition('Complete')).toMatchObject({ status: 'True' })
    expect(dump.count('orders')).toBe(2)
    expect(archive.stored.size).toBe(2)
  })

  it('fails when its attempts are over, and says by what', async () => {
    dump.fail(new Error('the connection broke'))
    await job({ databases: ['orders'], backoffLimit: 2 })
    await env.advance('1m')
    expect(dump.count()).toBe(3)
    const failed = { status: 'True', reason: 'BackoffLimitExceeded', message: 'the connection broke' }
    expect(await condition('Failed')).toMatchObject(failed)
    expect(await condition('Ready')).toMatchObject({ ...failed, status: 'False' })
    await env.advance('3h')
    expect(dump.count()).toBe(3)
    expect(await condition('Ready')).toMatchObject({ status: 'False' })
  })

  it('fails, too, when no attempt comes to its end in the time that a run has', async () => {
    dump.hold()
    await job({ databases: ['orders'], backoffLimit: 1 })
    await env.advance('27m')
    expect(await condition('Failed')).toBeUndefined()
    await env.advance('3m')
    expect(await condition('Failed')).toMatchObject({
      reason: 'BackoffLimitExceeded',
      message: expect.stringContaining('orders') as string,
    })
    expect(dump.count()).toBe(2)
  })

  it('fails at once where trying again would not help', async () => {
    dump.fail(new PostgresFailure('terminal', 'UnsupportedObjects', 'it has a partitioned table t'))
    await job({ databases: ['orders'] })
    expect(dump.count()).toBe(1)
    expect(await condition('Failed')).toMatchObject({
      reason: 'UnsupportedObjects',
      message: 'it has a partitioned table t',
    })
  })

  it('dumps the others, and fails at its end', async () => {
    dump.fail(new PostgresFailure('terminal', 'UnsupportedObjects', `it has a table ${'t'.repeat(1_000)}`), 'orders')
    await job({ databases: ['missing', 'orders', 'users'], activeDeadlineSeconds: 600 })
    await env.advance('1m')
    const { dumps, failures } = (await get())?.status ?? {}
    expect(dumps?.map(({ database }) => database)).toEqual(['users'])
    const failure = {
      database: 'orders',
      reason: 'UnsupportedObjects',
      message: expect.stringMatching(/^it has a.{492}$/) as string,
    }
    expect([failures, await condition('Failed')]).toEqual([[failure], undefined])
    await env.advance('10m')
    expect(await condition('Failed')).toMatchObject({ status: 'True', reason: 'DeadlineExceeded' })
  })

  it('gives up no database for the failures of another', async () => {
    dump.fail(new Error('the connection broke'))
    await job({ backoffLimit: 3 })
    for (let i = 0; i < 60 && dump.count('orders') < 3; i++) await env.advance('1s')
    // As when its server is started anew: it is not ready, and the other one fails by the same outage.
    await env.applyManifest(databaseManifest('orders', 'away'))
    for (let i = 0; i < 60 && dump.count('users') < 1; i++) await env.advance('1s')
    dump.mend()
    await env.applyManifest(databaseManifest('orders'))
    await env.advance('2m')
    const { dumps, failures } = (await get())?.status ?? {}
    expect([dumps?.map(({ database }) => database).toSorted(), failures]).toEqual([['orders', 'users'], undefined])
  })

  it('gives up a database that cannot be read, after the others', async () => {
    const isOrders = (key: unknown) => isDatabase(key) && (key as { readonly name: string }).name === 'orders'
    env.faults.always('store.get', { kind: 'error', error: new OperatingError('DAMAGED', 'it is damaged') }, ([key]) =>
      isOrders(key),
    )
    await job({ backoffLimit: 2 })
    await env.advance('10m')
    const { dumps, failures } = (await get())?.status ?? {}
    expect(dumps?.map(({ database }) => database)).toEqual(['users'])
    expect([failures, await condition('Failed')]).toEqual([undefined, expect.objectContaining({ status: 'True' })])
  })

  it('tells no part of a password', async () => {
    dump.fail(new Error(`${'text '.repeat(97)}x correct horse battery staple is refused`), 'orders')
    await job({ databases: ['orders', 'users'], backoffLimit: 0 })
    await env.advance('1m')
    expect((await get())?.status?.failures).toHaveLength(1)
    expect(JSON.stringify(await get())).not.toContain('correct')
  })

  it('says at its end what the first database failed by', async () => {
    dump.fail(new PostgresFailure('terminal', 'UnsupportedObjects', 'it has a type t'))
    await job({ databases: ['orders', 'users'] })
    await env.advance('1m')
    expect((await get())?.status?.failures?.map(({ database }) => database)).toEqual(['orders', 'users'])
    expect(await condition('Failed')).toMatchObject({ reason: 'UnsupportedObjects', message: 'it has a type t' })
    expect(dump.count()).toBe(2)
  })

  it('waits for a database that is not there or not ready, and begins when it is', async () => {
    await job({ databases: ['late'] })
    expect(await condition('Ready')).toMatchObject({ status: 'False', reason: 'DatabaseNotFound' })
    await env.applyManifest(databaseManifest('late', 'away'))
    await env.settle()
    expect(await condition('Ready')).toMatchObject({ reason: 'DatabaseNotReady' })
    await env.applyManifest(databaseManifest('late'))
    await env.settle()
    expect(await condition('Complete')).toMatchObject({ status: 'True' })
  })

  it('begins within seconds of the return of a login that somebody deleted, while the database stays ready', async () => {
    const paused = { ...databaseManifest('orders').metadata, annotations: { 'setpoint.dev/paused': 'true' } }
    await env.applyManifest({ ...databaseManifest('orders'), metadata: paused })
    await env.delete(Secret, 'orders-connection')
    await job({ databases: ['orders'] })
    expect(await condition('Ready')).toMatchObject({ status: 'False', reason: 'LoginNotFound' })
    await env.advance('2m')
    expect(env.logs.filter(({ message }) => message === 'advice')).toEqual([])
    await env.applyManifest(databaseManifest('orders'))
    await env.advance('6s')
    expect(await condition('Complete')).toMatchObject({ status: 'True' })
  })

  it('waits no longer than its deadline, and works no longer either', async () => {
    await job({ databases: ['late'], activeDeadlineSeconds: 90 })
    await env.advance('89s')
    expect(await condition('Failed')).toBeUndefined()
    await env.advance('2s')
    expect(await condition('Failed')).toMatchObject({ reason: 'DeadlineExceeded' })
    expect((await get())?.status?.completionTime).toBe('2026-01-01T00:01:30Z')
  })

  it('fails by a deadline that passes while it looks for the login', async () => {
    await job({ databases: ['orders', 'missing'], activeDeadlineSeconds: 10 })
    await env.advance('9995ms')
    env.faults.always('store.get', { kind: 'delay', ms: 20 }, ([key]) => isDatabase(key))
    await env.patch(Job, 'now', { metadata: { annotations: { look: 'now' } } })
    await env.advance('1h')
    expect(await condition('Failed')).toMatchObject({ status: 'True', reason: 'DeadlineExceeded' })
  })

  it('is stopped in the middle of a dump by its deadline', async () => {
    dump.hold()
    await job({ activeDeadlineSeconds: 90 })
    await env.advance('95s')
    expect(await condition('Failed')).toMatchObject({ reason: 'DeadlineExceeded' })
    expect(archive.stored.size).toBe(0)
  })

  it('stops what it does when it is deleted, and goes', async () => {
    dump.hold()
    await job()
    await env.delete(Job, 'now')
    await env.advance('5s')
    expect(await get()).toBeUndefined()
    dump.release()
    await env.advance('1m')
    expect(archive.stored.size).toBe(0)
  })

  it('may be kept for as long as one of Kubernetes, and no longer', async () => {
    await expect(job({ ttlSecondsAfterFinished: 2_147_483_648 })).rejects.toThrow('ttlSecondsAfterFinished')
    await job({ ttlSecondsAfterFinished: 2_147_483_647 })
    await env.advance('1h')
    expect(await condition('Complete')).toMatchObject({ status: 'True' })
  })

  it('is deleted so long after its end', async () => {
    await job({ ttlSecondsAfterFinished: 60 })
    await env.advance('59s')
    expect(await get()).toBeDefined()
    await env.advance('2s')
    expect(await get()).toBeUndefined()
    expect(archive.stored.size).toBe(2)
  })
})
