import { afterEach, describe, expect, it } from 'vitest'
import { backupReconcilersOver } from '../../../functions/reconcilers/backup/reconcilers.ts'
import { CronJob, Job } from '../../../functions/reconcilers/backup/kinds.ts'
import { createTestEnv, type TestEnv } from '../../../shared/testing/test-env.ts'
import { createMemoryArchive, createTestDump, databaseManifest, readyDatabases } from './test-world.ts'

let env: TestEnv
afterEach(() => env.close())

const dump = createTestDump()

async function start(): Promise<void> {
  env = await createTestEnv({
    reconcilers: [
      ...backupReconcilersOver(
        createMemoryArchive(() => env.nowMs()),
        dump.run,
      ),
      readyDatabases,
    ],
    tickMs: 60_000,
  })
  dump.reset()
  await env.applyManifest(databaseManifest('orders'))
  await env.settle()
}

interface Fields {
  readonly schedule?: string
  readonly startingDeadlineSeconds?: number
  readonly concurrencyPolicy?: 'Allow' | 'Forbid' | 'Replace'
  readonly suspend?: boolean
  readonly successfulJobsHistoryLimit?: number
}

const jobTemplate = { spec: { databases: [{ name: 'orders' }], folder: 'hourly', backoffLimit: 1 } }
const cron = (fields: Fields = {}) =>
  env.apply(CronJob, { metadata: { name: 'hourly' }, spec: { schedule: '0 * * * *', jobTemplate, ...fields } })
const jobs = async () => env.list(Job)
const times = async (): Promise<readonly string[]> =>
  (await jobs()).map(({ metadata: { name } }) =>
    new Date(Number(name.split('-')[1]) * 60_000).toISOString().slice(11, 16),
  )
const status = async () => (await env.get(CronJob, 'hourly'))?.status
const events = async (): Promise<string> => env.explain(CronJob, 'hourly')

describe('a CronJob', () => {
  it('makes a Job at each time, on time, and tells when it was and whether it went well', async () => {
    await start()
    await cron()
    await env.advance('59m')
    expect(await times()).toEqual([])
    await env.advance('62m')
    expect(await times()).toEqual(['01:00', '02:00'])
    expect((await jobs())[0]?.metadata).toMatchObject({
      annotations: { 'batch.setpoint.dev/cronjob-scheduled-timestamp': '2026-01-01T01:00:00Z' },
      ownerReferences: [{ kind: 'CronJob', name: 'hourly', controller: true }],
    })
    expect(await status()).toMatchObject({
      active: [],
      lastScheduleTime: '2026-01-01T02:00:00Z',
      lastSuccessfulTime: '2026-01-01T02:00:00Z',
    })
  })

  it('makes up for the last of the runs that were missed, once', async () => {
    await start()
    await cron({ suspend: true })
    await env.advance('5h30m')
    expect(await times()).toEqual([])
    await cron({ suspend: false })
    await env.advance('1m')
    expect(await times()).toEqual(['05:00'])
    await env.advance('20m')
    expect(await times()).toEqual(['05:00'])
  })

  it('lets a run go that is later than the starting deadline, and says so', async () => {
    await start()
    await cron({ suspend: true, startingDeadlineSeconds: 600 })
    await env.advance('90m')
    await cron({ suspend: false, startingDeadlineSeconds: 600 })
    await env.advance('10m')
    expect(await times()).toEqual([])
    expect(await events()).toContain('the run of 2026-01-01T01:00:00Z was missed, and it is too late for it')
    await env.advance('21m')
    expect(await times()).toEqual(['02:00'])
  })

  it('warns when more than a hundred runs were missed, and goes on', async () => {
    await start()
    await cron({ suspend: true })
    await env.advance('120h30m')
    await cron({ suspend: false })
    await env.advance('1m')
    expect(await times()).toEqual(['00:00'])
    expect(await events()).toContain('more than 100 runs were missed')
  })

  it.each([
    ['Allow', ['00:10', '00:20'], 2],
    ['Forbid', ['00:10'], 1],
    ['Replace', ['00:20'], 1],
  ] as const)('%s: when a run is due while one is active', async (concurrencyPolicy, expected, active) => {
    await start()
    dump.hold()
    await cron({ schedule: '*/10 * * * *', concurrencyPolicy })
    await env.advance('22m')
    expect(await times()).toEqual(expected)
    expect((await status())?.active).toHaveLength(active)
    dump.release()
    await env.advance('1m')
    // What Forbid held back begins now; only the last of it.
    expect((await times()).at(-1)).toBe('00:20')
    expect((await status())?.active).toEqual([])
  })

  it('keeps as many ended Jobs as its history is to hold, the newest', async () => {
    await start()
    await cron({ successfulJobsHistoryLimit: 2 })
    await env.advance('5h1m')
    expect(await times()).toEqual(['04:00', '05:00'])
    dump.fail(new Error('no'))
    await env.advance('3h')
    expect(await times()).toEqual(['04:00', '05:00', '08:00'])
    expect(await status()).toMatchObject({
      lastScheduleTime: '2026-01-01T08:00:00Z',
      lastSuccessfulTime: '2026-01-01T05:00:00Z',
    })
  })

  it('of every minute is no habit that the engine advises against', async () => {
    await start()
    await cron({ schedule: '* * * * *' })
    await env.advance('45m')
    expect(await status()).toMatchObject({ reconcile: { waiting: 'Resync', nextRunAt: '2026-01-01T00:46:00.000Z' } })
    expect(env.logs.filter(({ message }) => message === 'advice')).toEqual([])
  })

  it('does not make a Job again that somebody deleted', async () => {
    await start()
    await cron()
    await env.advance('61m')
    for (const { metadata } of await jobs()) await env.delete(Job, metadata.name)
    await env.advance('30m')
    expect(await times()).toEqual([])
  })

  it('makes one Job for a time, and one dump, at whatever write the process is killed on the way', async () => {
    const writes = 30
    let killed = 0
    for (let nth = 1; nth <= writes; nth++) {
      await start()
      await cron()
      await env.advance('59m')
      let left = nth
      const isNth = (): boolean => --left === 0
      for (const call of ['store.create', 'store.replace']) env.faults.once(call, { kind: 'crash' }, isNth)
      await env.advance('10m')
      expect([nth, await times()]).toEqual([nth, ['01:00']])
      expect([nth, (await jobs())[0]?.status?.dumps]).toEqual([nth, [expect.objectContaining({ database: 'orders' })]])
      expect([nth, await status()]).toEqual([
        nth,
        expect.objectContaining({ active: [], lastScheduleTime: '2026-01-01T01:00:00Z' }),
      ])
      if (left <= 0) killed++
      await env.close()
    }
    await start()
    expect(killed).toBeGreaterThan(8)
  })

  it('stops at a schedule that is none, and goes on when it is mended', async () => {
    await start()
    await cron({ schedule: '61 * * * *' })
    await env.settle()
    expect((await status())?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Stalled', status: 'True', reason: 'InvalidSchedule' }),
    )
    await expect(cron({ schedule: 'TZ=UTC 0 * * * *' })).rejects.toMatchObject({ code: 'INVALID' })
    await cron()
    await env.advance('61m')
    expect(await times()).toEqual(['01:00'])
  })
})
