import { expect, it } from 'vitest'
import { cronJobReconciler } from '../../../functions/reconcilers/backup/cron-job.ts'
import { CronJob, Job } from '../../../functions/reconcilers/backup/kinds.ts'
import type { Controller } from '../../../shared/index.ts'
import { createTestEnv } from '../../../shared/testing/test-env.ts'

const hourMs = 3_600_000

/** The same, with a clock that is so much ahead. */
function aheadBy(ms: () => number): Controller {
  const { reconcile } = cronJobReconciler
  return {
    ...cronJobReconciler,
    reconcile: (cron, ctx) => reconcile(cron, Object.assign(ctx, { now: laterBy(ctx.now, ms) })),
  }
}

function laterBy(now: () => number, ms: () => number): () => number {
  return () => now() + ms()
}

it.each(['Allow', 'Forbid'] as const)(
  'a CronJob (%s) whose clock was five years ahead goes on',
  async (concurrencyPolicy) => {
    let aheadMs = 5 * 365 * 24 * hourMs
    await using env = await createTestEnv({ reconcilers: [aheadBy(() => aheadMs)], tickMs: 60_000 })
    const jobTemplate = { spec: { databases: [{ name: 'orders' }], folder: 'hourly' } }
    await env.apply(CronJob, {
      metadata: { name: 'hourly' },
      spec: { schedule: '0 * * * *', jobTemplate, concurrencyPolicy },
    })
    await env.advance('62m')
    expect((await env.get(CronJob, 'hourly'))?.status?.lastScheduleTime).toMatch(/^203/)
    aheadMs = 0
    for (const { metadata } of await env.list(Job)) await env.delete(Job, metadata.name)
    await env.patch(CronJob, 'hourly', { metadata: { annotations: { look: 'now' } } })
    await env.advance('3h')
    expect((await env.list(Job)).length).toBeGreaterThan(0)
    expect((await env.get(CronJob, 'hourly'))?.status?.lastScheduleTime).toMatch(/^2026/)
  },
)

it('a clock that was ahead by seconds repeats no run', async () => {
  let aheadMs = 0
  await using env = await createTestEnv({ reconcilers: [aheadBy(() => aheadMs)], tickMs: 500 })
  const spec = { schedule: '0 * * * *', jobTemplate: { spec: { databases: [{ name: 'orders' }], folder: 'hourly' } } }
  await env.apply(CronJob, { metadata: { name: 'hourly' }, spec: { ...spec, concurrencyPolicy: 'Replace' } })
  await env.advance('59m')
  await env.advance('58s')
  const look = async (ms: number): Promise<readonly string[]> => {
    aheadMs = ms
    await env.patch(CronJob, 'hourly', { metadata: { annotations: { look: String(ms) } } })
    await env.settle()
    return (await env.list(Job)).map(({ metadata: { uid } }) => uid)
  }
  const before = await look(3_000)
  expect(before).toHaveLength(1)
  await look(0)
  await env.advance('1m')
  expect(await look(0)).toEqual(before)
})
