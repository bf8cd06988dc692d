import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BackupPolicy, CronJob, Job } from '../../../functions/reconcilers/backup/kinds.ts'
import { backupReconcilersOver } from '../../../functions/reconcilers/backup/reconcilers.ts'
import { createTestEnv, type TestEnv } from '../../../shared/testing/test-env.ts'
import {
  createMemoryArchive,
  createTestDump,
  databaseManifest,
  readyDatabases,
  type MemoryArchive,
} from './test-world.ts'
import { longOnly } from '../../support/strength.ts'

/** The walk through a BackupPolicy in the second source document, with real children. */

let env: TestEnv
let archive: MemoryArchive
const dump = createTestDump()

beforeEach(async () => {
  archive = createMemoryArchive(() => env.nowMs())
  const reconcilers = [...backupReconcilersOver(archive, dump.run), readyDatabases]
  env = await createTestEnv({ reconcilers, tickMs: 60_000 })
  dump.reset()
  await env.applyManifest(databaseManifest('orders'))
  await env.settle()
})
afterEach(() => env.close())

interface Fields {
  readonly schedule?: string
  readonly retentionDays?: number
  readonly suspended?: boolean
  readonly deletionPolicy?: 'Delete' | 'Retain'
  readonly targets?: readonly { readonly name: string }[]
}

async function policy(fields: Fields = {}): Promise<void> {
  const spec = {
    schedule: '0 2 * * *',
    retentionDays: 30,
    ...fields,
    targets: [...(fields.targets ?? [{ name: 'orders' }])],
  }
  await env.apply(BackupPolicy, { metadata: { name: 'nightly' }, spec })
  await env.settle()
}

const get = async () => env.get(BackupPolicy, 'nightly')
const cronJob = async () => env.get(CronJob, 'nightly-backup')
const condition = async (type: string) => (await get())?.status?.conditions?.find((one) => one.type === type)

describe('a BackupPolicy', () => {
  it('makes its CronJob, with an owner, and is Ready because of it', async () => {
    await policy()
    expect(await cronJob()).toMatchObject({
      metadata: { ownerReferences: [{ kind: 'BackupPolicy', name: 'nightly', controller: true }] },
      spec: {
        schedule: '0 2 * * *',
        suspend: false,
        jobTemplate: { spec: { databases: [{ name: 'orders' }], folder: 'nightly' } },
      },
    })
    expect((await get())?.status).toMatchObject({
      cronJob: 'nightly-backup',
      lastScheduleTime: null,
      lastSuccessfulTime: null,
      dumps: 0,
    })
    expect(await condition('Ready')).toMatchObject({ status: 'True', reason: 'CronJobCreated' })
    expect(await condition('CronJobCreated')).toMatchObject({ status: 'True' })
  })

  it('tells of the last run, and of the last that went well', longOnly, async () => {
    await policy()
    await env.advance('2h1m')
    const times = { lastScheduleTime: '2026-01-01T02:00:00Z', lastSuccessfulTime: '2026-01-01T02:00:00Z' }
    expect((await get())?.status).toMatchObject(times)
    dump.fail(new Error('no'))
    await env.advance('24h')
    expect((await get())?.status).toMatchObject({ ...times, lastScheduleTime: '2026-01-02T02:00:00Z' })
  })

  it(
    'suspended, changes that one field of its CronJob; resumed, it makes up for the last run it missed',
    longOnly,
    async () => {
      await policy()
      const before = await cronJob()
      await policy({ suspended: true })
      expect((await cronJob())?.spec).toEqual({ ...before?.spec, suspend: true })
      expect(await condition('Ready')).toMatchObject({ status: 'True', reason: 'Suspended' })
      expect(await condition('Suspended')).toMatchObject({ status: 'True' })
      await env.advance('72h')
      expect(archive.stored.size).toBe(0)
      await policy()
      await env.advance('1m')
      expect(archive.stored.size).toBe(1)
      expect(await condition('Suspended')).toBeUndefined()
    },
  )

  it('puts its CronJob back when somebody deletes or edits it', async () => {
    await policy()
    await env.delete(CronJob, 'nightly-backup')
    await env.settle()
    expect(await cronJob()).toMatchObject({ spec: { schedule: '0 2 * * *' } })
    await env.patch(
      CronJob,
      'nightly-backup',
      { spec: { schedule: '* * * * *', suspend: true } },
      { manager: 'somebody' },
    )
    await env.settle()
    expect(await cronJob()).toMatchObject({ spec: { schedule: '0 2 * * *', suspend: false } })
  })

  it('removes dumps that are older than its retention, but never the newest of a database', longOnly, async () => {
    await policy({ retentionDays: 2 })
    await env.advance('123h')
    expect([...archive.stored.keys()].map((name) => name.slice(23, 31))).toEqual(['20260105', '20260106'])
    expect((await get())?.status).toMatchObject({ dumps: 2 })
    await policy({ retentionDays: 2, suspended: true })
    await env.advance('72h')
    expect([...archive.stored.keys()].map((name) => name.slice(23, 31))).toEqual(['20260106'])
  })

  it('counts a dump that a Job of its folder made by hand', async () => {
    await policy()
    const spec = { databases: [{ name: 'orders' }], folder: 'nightly' }
    await env.apply(Job, { metadata: { name: 'by-hand' }, spec })
    await env.settle()
    expect((await get())?.status).toMatchObject({ dumps: 1, lastScheduleTime: null })
  })

  it('names targets that do not exist, and keeps the rest going', async () => {
    await policy({ targets: [{ name: 'orders' }, { name: 'nowhere' }] })
    expect(await condition('TargetsFound')).toMatchObject({
      status: 'False',
      message: 'there is no PostgresDatabase nowhere',
    })
    await env.advance('2h10m')
    expect(archive.stored.size).toBe(1)
    await env.applyManifest(databaseManifest('nowhere'))
    await env.settle()
    expect(await condition('TargetsFound')).toMatchObject({ status: 'True' })
    await env.advance('1m')
    expect(archive.stored.size).toBe(2)
  })

  it('may have a name that is too long for a label', async () => {
    const name = 'n'.repeat(100)
    const spec = { schedule: '0 2 * * *', retentionDays: 30, targets: [{ name: 'orders' }] }
    await env.apply(BackupPolicy, { metadata: { name }, spec: { ...spec, deletionPolicy: 'Delete' } })
    await env.settle()
    expect((await env.get(CronJob, `${name}-backup`))?.spec.jobTemplate.spec.folder).toBe(name)
    await env.delete(BackupPolicy, name)
    await env.settle()
    expect(await env.get(BackupPolicy, name)).toBeUndefined()
  })

  it('refuses a schedule that is none', async () => {
    await policy({ schedule: '0 25 * * *' })
    expect(await condition('Stalled')).toMatchObject({ status: 'True', reason: 'InvalidSchedule' })
    expect(await cronJob()).toBeUndefined()
  })

  it.each([
    ['Retain', 1],
    ['Delete', 0],
  ] as const)(
    'takes its children along; with deletionPolicy %s %i of its dumps stay',
    longOnly,
    async (deletionPolicy, left) => {
      await policy({ deletionPolicy })
      await env.advance('25h59m')
      dump.hold()
      // A dump is being made when the policy is deleted.
      await env.advance('2m')
      await env.delete(BackupPolicy, 'nightly')
      await env.advance('10s')
      dump.release()
      await env.advance('1m')
      expect(await get()).toBeUndefined()
      expect(await cronJob()).toBeUndefined()
      expect(await env.list(Job)).toEqual([])
      expect(archive.stored.size).toBe(left)
    },
  )

  const jobsByHand = async (...names: readonly string[]): Promise<void> => {
    const labels = { 'storage.setpoint.dev/backup-policy': 'nightly' }
    const spec = { databases: [{ name: 'orders' }], folder: 'nightly' }
    for (const name of names) await env.apply(Job, { metadata: { name, labels }, spec })
  }

  const jobTemplate = { spec: { databases: [{ name: 'orders' }], folder: 'mine' } }
  const strangerOf = async (metadata: object = {}): Promise<void> => {
    const spec = { schedule: '0 3 * * *', jobTemplate }
    await env.apply(CronJob, { metadata: { name: 'nightly-backup', ...metadata }, spec })
    await env.settle()
  }

  it('takes no CronJob that somebody else has made, and leaves it when it goes', async () => {
    await strangerOf()
    await policy({ deletionPolicy: 'Delete' })
    expect(await condition('Stalled')).toMatchObject({
      status: 'True',
      reason: 'NameTaken',
      message: 'CronJob nightly-backup exists and is not of this policy',
    })
    await env.delete(BackupPolicy, 'nightly')
    await env.advance('5m')
    expect(await get()).toBeUndefined()
    expect(await cronJob()).toMatchObject({ spec: { schedule: '0 3 * * *', jobTemplate } })
    expect((await cronJob())?.metadata.ownerReferences ?? []).toEqual([])
  })

  it('takes over the CronJob that an earlier policy of its name has left, by its label', async () => {
    await strangerOf({ labels: { 'storage.setpoint.dev/backup-policy': 'nightly' } })
    await policy({ deletionPolicy: 'Delete' })
    expect(await cronJob()).toMatchObject({
      metadata: { ownerReferences: [{ kind: 'BackupPolicy', name: 'nightly' }] },
      spec: { schedule: '0 2 * * *', jobTemplate: { spec: { folder: 'nightly' } } },
    })
    await env.delete(BackupPolicy, 'nightly')
    await env.advance('5m')
    expect(await cronJob()).toBeUndefined()
  })

  it('with its dumps waits for no Job that has ended, whoever made it', async () => {
    await policy({ deletionPolicy: 'Delete' })
    await jobsByHand('by-hand')
    await env.settle()
    expect(archive.stored.size).toBe(1)
    await env.delete(BackupPolicy, 'nightly')
    await env.advance('1m')
    expect(await get()).toBeUndefined()
    expect(archive.stored.size).toBe(0)
  })

  it('with its dumps waits for the Jobs that still fill its folder, and names some of them', async () => {
    await policy({ deletionPolicy: 'Delete' })
    const elsewhere = { databases: [{ name: 'nowhere' }], folder: 'elsewhere' }
    await env.apply(Job, { metadata: { name: 'elsewhere' }, spec: elsewhere })
    const waiting = { databases: [{ name: 'nowhere' }], folder: 'nightly' }
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
    for (const name of names) await env.apply(Job, { metadata: { name }, spec: waiting })
    await env.settle()
    await env.delete(BackupPolicy, 'nightly')
    await env.advance('1m')
    expect(await condition('Ready')).toMatchObject({
      status: 'False',
      reason: 'JobsRunning',
      message: 'waits for job a, b, c, d, e and 2 more',
    })
    for (const name of names.slice(1)) await env.delete(Job, name)
    await env.advance('1m')
    expect(await condition('Ready')).toMatchObject({ message: 'waits for job a' })
    await env.applyManifest(databaseManifest('nowhere'))
    await env.advance('10m')
    expect(await get()).toBeUndefined()
    expect([...archive.stored.keys()].map((name) => name.split('/')[1])).toEqual(['elsewhere'])
  })

  it('writes nothing while nothing changes', async () => {
    await policy({ schedule: '0 2 1 6 *' })
    const from = env.calls.length
    await env.advance('12h')
    const writes = env.calls.slice(from).map(({ call }) => call)
    expect(writes.filter((call) => /^store\.(create|replace|remove)$/.test(call))).toEqual([])
  })
})
