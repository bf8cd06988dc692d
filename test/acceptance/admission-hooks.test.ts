import * as z from 'zod'
import { expect, it } from 'vitest'
import { defineKind, defineReconciler, done, type AdmissionContext, type ObjectOf } from '../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'

/** A kind whose hooks complete and refuse what a schema cannot say. */
const told: unknown[] = []
const Vault = defineKind({
  group: 'test.setpoint.dev',
  version: 'v1',
  kind: 'Vault',
  spec: z.object({ size: z.number().int(), path: z.string().optional(), owner: z.string() }),
  default: ({ metadata: { name }, spec }, { user }) =>
    spec.path === undefined ? { spec: { ...spec, path: `/${name}` }, labels: { by: user.name } } : undefined,
  validate: async ({ spec }, context) => {
    const { operation, old, user, dryRun } = context
    told.push({ operation, user: user.name, dryRun, size: spec.size, old: old?.spec.size })
    if (spec.owner === 'slow')
      await new Promise((_, reject) => context.signal.addEventListener('abort', () => reject(new Error('gave up'))))
    if (spec.owner === 'broken') throw new Error('no such owner')
    if (operation === 'DELETE') return spec.size > 5 ? ['it is not empty'] : undefined
    if (spec.size > 8) context.warn('it is large')
    return old !== undefined && spec.size < old.spec.size
      ? [{ field: 'spec.size', message: 'must not shrink' }]
      : undefined
  },
  olderVersions: (older) => [
    older('v1alpha1', {
      spec: z.object({ size: z.string(), owner: z.string() }),
      upgrade: ({ spec }) => ({ spec: { ...spec, size: Number(spec.size) } }),
      downgrade: ({ spec: { size, owner } }) => ({ spec: { size: String(size), owner } }),
    }),
  ],
})
type Vault = ObjectOf<typeof Vault>
const vaults = defineReconciler(Vault, { reconcile: async () => done({ status: {} }) })

async function open(): Promise<TestEnv> {
  told.length = 0
  return createTestEnv({ reconcilers: [vaults] })
}

const vault = (spec: object) => ({ metadata: { name: 'a' }, spec: { size: 1, owner: 'ann', ...spec } }) as never

it('default completes what is written, and validate sees it with the object of before', async () => {
  await using env = await open()
  expect(await env.apply(Vault, vault({}))).toMatchObject({
    metadata: { labels: { by: 'test' } },
    spec: { path: '/a' },
  })
  await env.settle()
  const updated = await env.patch(Vault, 'a', { spec: { size: 2 } })
  expect(updated.metadata.generation).toBe(2)
  expect(told).toEqual([
    { operation: 'CREATE', user: 'test', dryRun: false, size: 1, old: undefined },
    { operation: 'UPDATE', user: 'test', dryRun: false, size: 2, old: 1 },
  ])
})

it('validate refuses with the field, and leaves pause, status and no change alone', async () => {
  await using env = await open()
  await env.apply(Vault, vault({ size: 3 }))
  await expect(env.patch(Vault, 'a', { spec: { size: 2 } })).rejects.toThrow(
    'Vault.test.setpoint.dev "a" is invalid: spec.size: Invalid value: must not shrink',
  )
  told.length = 0
  await env.patch(Vault, 'a', { metadata: { annotations: { 'setpoint.dev/paused': 'true' } } })
  await env.patch(Vault, 'a', { spec: { size: 3 } })
  await env.patch(Vault, 'a', { status: { x: 1 } }, { subresource: 'status' })
  await env.settle()
  expect(told).toEqual([])
})

it('a write in another version is hooked in the one that is stored', async () => {
  await using env = await open()
  const manifest = (size: string) => ({
    apiVersion: 'test.setpoint.dev/v1alpha1',
    kind: 'Vault',
    metadata: { name: 'a' },
    spec: { size, owner: 'ann' },
  })
  await env.applyManifest(manifest('4'))
  expect(await env.get(Vault, 'a')).toMatchObject({ spec: { size: 4, path: '/a' } })
  await expect(env.applyManifest(manifest('3'))).rejects.toThrow('spec.size: Invalid value: must not shrink')
})

it('a hook that fails or takes too long keeps the write back', async () => {
  await using env = await open()
  await expect(env.apply(Vault, vault({ owner: 'broken' }))).rejects.toThrow(
    'the hook validate of Vault.test.setpoint.dev for "a" failed: no such owner',
  )
  const slow = env.apply(Vault, vault({ owner: 'slow' })).catch((error: unknown) => error)
  await env.advance('6s')
  expect(await slow).toMatchObject({ message: expect.stringContaining('failed: it took longer than 5 s') })
  expect(await env.get(Vault, 'a')).toBeUndefined()
})

const request = (method: string, query: string, body?: unknown): Parameters<TestEnv['api']>[0] => ({
  method,
  path: `/apis/test.setpoint.dev/v1/namespaces/default/vaults${method === 'POST' ? '' : '/a'}`,
  query: new URLSearchParams(query),
  header: (name) => (name === 'content-type' && body !== undefined ? 'application/json' : undefined),
  fieldsUnder: () => [],
  body: async () => new TextEncoder().encode(body === undefined ? '' : JSON.stringify(body)),
  signal: new AbortController().signal,
})

it('a client is warned, a dry run is told as one, and a deletion is asked about', async () => {
  await using env = await open()
  const body = { apiVersion: 'test.setpoint.dev/v1', kind: 'Vault', ...(vault({ size: 9 }) as object) }
  const tried = await env.api(request('POST', 'dryRun=All', body))
  expect(JSON.stringify(tried.headers)).toContain('it is large')
  expect(told).toMatchObject([{ operation: 'CREATE', user: 'test', dryRun: true }])
  await env.api(request('POST', '', body))
  const refused = await env.api(request('DELETE', ''))
  expect(refused.status).toBe(422)
  expect(String(refused.body)).toContain('it is not empty')
  await expect(env.delete(Vault, 'a')).rejects.toThrow('it is not empty')
})

it('the types of the hooks are those of the kind', () => {
  const context: AdmissionContext<Vault> | undefined = undefined as AdmissionContext<Vault> | undefined
  const size: number | undefined = context?.old?.spec.size
  expect(size).toBeUndefined()
})

it('hold for a kind that has no reconciler in a test, and so do its older versions', async () => {
  told.length = 0
  await using env = await createTestEnv({ kinds: [Vault] })
  const older = { apiVersion: 'test.setpoint.dev/v1alpha1', kind: 'Vault', metadata: { name: 'a' } }
  await env.applyManifest({ ...older, spec: { size: '7', owner: 'ann' } })
  expect((await env.get(Vault, 'a'))?.spec).toEqual({ size: 7, owner: 'ann', path: '/a' })
  await expect(env.apply(Vault, vault({ size: 6 }))).rejects.toThrow('spec.size: Invalid value: must not shrink')
})
