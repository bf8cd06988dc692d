import { expect, it } from 'vitest'
import { backupReconcilersOver } from '../../../functions/reconcilers/backup/reconcilers.ts'
import { CronJob, Job } from '../../../functions/reconcilers/backup/kinds.ts'
import type { Controller } from '../../../shared/index.ts'
import { createTestEnv } from '../../../shared/testing/test-env.ts'
import { createMemoryArchive, createTestDump, databaseManifest, readyDatabases } from './test-world.ts'

/** CronJobs whose runs do all they have to do, and end without a word as long as this holds. */
function losing(controllers: readonly Controller[], isLost: () => boolean): readonly Controller[] {
  return controllers.map((controller) => {
    if (controller.kind.kind !== CronJob.kind) return controller
    return {
      ...controller,
      reconcile: async (cron, ctx) => {
        const outcome = await controller.reconcile(cron, ctx)
        if (isLost()) throw new Error('the run has ended too early')
        return outcome
      },
    }
  })
}

it('a CronJob that keeps no ended Jobs makes one for each time, though what its runs report is lost', async () => {
  const dump = createTestDump()
  let lost = false
  const archive = createMemoryArchive(() => env.nowMs())
  const env = await createTestEnv({
    reconcilers: [...losing(backupReconcilersOver(archive, dump.run), () => lost), readyDatabases],
    tickMs: 1_000,
  })
  await using _ = env
  await env.applyManifest(databaseManifest('orders'))
  const jobTemplate = { spec: { databases: [{ name: 'orders' }], folder: 'hourly' } }
  await env.apply(CronJob, {
    metadata: { name: 'hourly' },
    spec: { schedule: '0 * * * *', jobTemplate, successfulJobsHistoryLimit: 0 },
  })
  await env.advance('59m')
  lost = true
  await env.advance('2m')
  lost = false
  await env.advance('10m')
  expect(dump.count()).toBe(1)
  expect(await env.list(Job)).toEqual([])
  expect((await env.get(CronJob, 'hourly'))?.status).toMatchObject({ lastScheduleTime: '2026-01-01T01:00:00Z' })
})
