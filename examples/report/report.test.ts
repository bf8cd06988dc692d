import { expect, it } from 'vitest'
import { createTestEnv } from 'setpoint/testing'
import { Job, Report, reports } from './report.ts'

it('says when the job takes too long, over a restart, and takes a late result all the same', async () => {
  await using env = await createTestEnv({ reconcilers: [reports] })
  await env.apply(Report, { metadata: { name: 'sales' }, spec: { query: 'sum' } })
  await env.settle()
  expect(await env.get(Report, 'sales')).toMatchObject({ status: { conditions: [{ reason: 'JobRunning' }] } })

  await env.advance('5m')
  await env.crash()
  await env.advance('6m')
  expect(await env.get(Report, 'sales')).toMatchObject({ status: { conditions: [{ reason: 'JobLate' }] } })

  await env.patch(Job, 'sales', { status: { result: '42' } }, { subresource: 'status' })
  await env.settle()
  expect(await env.get(Report, 'sales')).toMatchObject({ status: { text: '42', conditions: [{ status: 'True' }] } })
})
