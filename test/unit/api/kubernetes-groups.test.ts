import * as z from 'zod'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { defineKind } from '../../../shared/index.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import { createHarness, type Harness } from './harness.ts'

/** A kind of Kubernetes itself, brought by a reconciler in the place of the empty one. */
const CronJob = defineKind({
  group: 'batch',
  version: 'v1',
  kind: 'CronJob',
  spec: z.object({
    schedule: z.string(),
    suspend: z.boolean().default(false),
    args: z.array(z.string()).default([]),
    containers: z.array(z.object({ name: z.string() })).default([]),
  }),
})
const cronJobs = '/apis/batch/v1/namespaces/default/cronjobs'
const strategic = 'application/strategic-merge-patch+json'

let harness: Harness
beforeEach(async () => {
  harness = await createHarness()
})
afterEach(() => harness.close())

const bring = () =>
  harness.send('POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    body: CronJob.definition as unknown as JsonObject,
  })
const verbsOf = async (plural: string): Promise<readonly string[]> => {
  const { body } = await harness.send('GET /apis/batch/v1')
  const named = body.resources.filter(({ name }: { name: string }) => name === plural)
  return named.map(({ verbs }: { verbs: readonly string[] }) => verbs.includes('create'))
}

it('CronJobs are none until a definition brings them, and stand once in discovery', async () => {
  expect(await harness.send(`GET ${cronJobs}`)).toMatchObject({ status: 200, body: { items: [] } })
  expect((await harness.send(`POST ${cronJobs}`, { body: { metadata: { name: 'a' } } })).status).toBe(405)
  expect([await verbsOf('cronjobs'), await verbsOf('jobs')]).toEqual([[false], [false]])

  expect((await bring()).status).toBe(201)
  expect([await verbsOf('cronjobs'), await verbsOf('jobs')]).toEqual([[true], [false]])
  const body = { metadata: { name: 'a' }, spec: { schedule: '@daily' } }
  expect(await harness.send(`POST ${cronJobs}`, { body })).toMatchObject({ status: 201, body: { kind: 'CronJob' } })
  expect((await harness.send(`GET ${cronJobs}`)).body.items).toHaveLength(1)
})

it.each([
  { spec: { suspend: true }, status: 200 },
  { spec: { args: ['--retention=30'] }, status: 200 },
  { spec: { containers: [{ name: 'b' }] }, status: 415 },
  { spec: { '$setElementOrder/containers': [{ name: 'b' }] }, status: 415 },
])(
  'a strategic patch, as kubectl sends for kinds it is compiled with: $spec is a $status',
  async ({ spec, status }) => {
    await bring()
    await harness.send(`POST ${cronJobs}`, { body: { metadata: { name: 'a' }, spec: { schedule: '@daily' } } })
    const patched = await harness.send(`PATCH ${cronJobs}/a`, { type: strategic, body: { spec } as JsonObject })
    expect(patched.status).toBe(status)
    if (status === 200) expect(patched.body.spec).toMatchObject(spec)
    else expect(patched.body.message).toContain('use kubectl patch --type=merge or kubectl apply --server-side')
  },
)
