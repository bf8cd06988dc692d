import { expect, it } from 'vitest'
import { createTestEnv } from 'setpoint/testing'
import { BackupPolicy, backupPolicies, CronJob } from './storage.ts'

const at = { name: 'nightly', namespace: 'default' }
const spec = { schedule: '0 2 * * *', retentionDays: 30, targets: [{ namespace: 'production' }] }

it('makes the CronJob with the retention, corrects it, suspends it, and takes it along', async () => {
  await using env = await createTestEnv({ reconcilers: [backupPolicies] })
  const container = async () =>
    (await env.get(CronJob, 'nightly-backup'))?.spec.jobTemplate.spec.template.spec.containers[0]
  const reason = async () => (await env.get(BackupPolicy, 'nightly'))?.status?.conditions?.[0]?.reason
  await env.apply(BackupPolicy, { metadata: at, spec })
  await env.settle()
  expect(await container()).toMatchObject({
    args: ['--retention=30'],
    env: [{ name: 'NAMESPACES', value: 'production' }],
  })
  expect([await reason(), (await env.get(BackupPolicy, 'nightly'))?.status?.lastScheduleTime]).toEqual([
    'CronJobCreated',
    null,
  ])

  await env.patch(CronJob, 'nightly-backup', { spec: { suspend: true } })
  await env.settle()
  expect((await env.get(CronJob, 'nightly-backup'))?.spec.suspend).toBe(false)

  await env.patch(BackupPolicy, 'nightly', { spec: { suspended: true, retentionDays: 7 } })
  await env.settle()
  expect((await env.get(CronJob, 'nightly-backup'))?.spec.suspend).toBe(true)
  expect([(await container())?.args, await reason()]).toEqual([['--retention=7'], 'Suspended'])

  await env.delete(BackupPolicy, 'nightly')
  await env.settle()
  expect(await env.get(CronJob, 'nightly-backup')).toBeUndefined()
})
