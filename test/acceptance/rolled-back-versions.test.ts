import * as z from 'zod'
import { describe, expect, it } from 'vitest'
import { defineKind, defineReconciler, done, type Controller } from '../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'

/** A kind whose version moved on with a release that is rolled back, and comes again. */
const names = { group: 'test.setpoint.dev', kind: 'Disk' } as const
const oldSpec = z.object({ size: z.string(), tier: z.string().default('slow') })
const spec = z.object({
  gigabytes: z.number().int().optional(),
  tier: z.string(),
  zones: z.array(z.string()).default([]),
})
const OldDisk = defineKind({ ...names, version: 'v1alpha1', spec: oldSpec })
const Disk = defineKind({
  ...names,
  version: 'v1',
  spec,
  olderVersions: (older) => [
    older('v1alpha1', {
      spec: oldSpec,
      upgrade: (old) => ({ spec: { gigabytes: Number.parseInt(old.spec.size, 10), tier: old.spec.tier, zones: [] } }),
      downgrade: ({ spec: { gigabytes = 0, tier } }) => ({ spec: { size: `${gigabytes}G`, tier } }),
    }),
  ],
})
const Shelf = defineKind({ ...names, kind: 'Shelf', version: 'v1', spec: z.object({ size: z.string() }) })

const former: Controller = defineReconciler(OldDisk, { name: 'disk', reconcile: async () => done() })
const present: Controller = defineReconciler(Disk, { name: 'disk', reconcile: async () => done() })
const formerShelf: Controller = defineReconciler(Shelf, {
  name: 'shelf',
  owns: [OldDisk],
  reconcile: async ({ spec: { size } }, ctx) => {
    await ctx.apply(OldDisk, { metadata: { name: 'part' }, spec: { size } })
    return done()
  },
})
const presentShelf: Controller = defineReconciler(Shelf, {
  name: 'shelf',
  owns: [Disk],
  reconcile: async ({ spec: { size } }, ctx) => {
    await ctx.apply(Disk, { metadata: { name: 'part' }, spec: { gigabytes: Number.parseInt(size, 10), tier: 'slow' } })
    return done()
  },
})

// oxlint-disable-next-line typescript/no-explicit-any -- tests reach into replies of every shape
type Reply = any

const contentTypes = { apply: 'application/apply-patch+yaml', merge: 'application/merge-patch+json' } as const

async function send(
  env: TestEnv,
  line: string,
  sent?: object,
  type: keyof typeof contentTypes = 'merge',
): Promise<Reply> {
  const [method = '', version = '', name = '', query = ''] = line.split(/[ /?]/)
  const { status, body } = await env.api({
    method,
    path: `/apis/test.setpoint.dev/${version}/namespaces/default/disks/${name}`,
    query: new URLSearchParams(query),
    header: (header) => (header === 'content-type' && sent !== undefined ? contentTypes[type] : undefined),
    fieldsUnder: () => [],
    signal: new AbortController().signal,
    body: async () => new TextEncoder().encode(sent === undefined ? '' : JSON.stringify(sent)),
  })
  return { ...(JSON.parse(String(body)) as object), code: status }
}

const applied = (name: string, given: object) => ({
  apiVersion: 'test.setpoint.dev/v1alpha1',
  kind: 'Disk',
  metadata: { name },
  spec: given,
})
const apply = (env: TestEnv, name: string, given: object): Promise<Reply> =>
  send(env, `PATCH v1alpha1/${name}?fieldManager=me`, applied(name, given), 'apply')

const lacks = (name: string, from: string, to: string) =>
  `Disk.test.setpoint.dev "default/${name}" cannot be converted from ${from} to ${to}: this release has no functions for that; deploy one that has both versions (olderVersions of defineKind)`

/** Two disks, of which `moved` was written since the later release ran; now the earlier one runs again. */
async function rolledBack(): Promise<TestEnv> {
  const env = await createTestEnv({ reconcilers: [former, formerShelf] })
  await env.apply(OldDisk, { metadata: { name: 'moved' }, spec: { size: '5G' } })
  await env.crash([present, presentShelf])
  await env.settle()
  await send(env, 'PATCH v1/moved', { metadata: { labels: { by: 'later' } } })
  await env.crash([former, formerShelf])
  await env.settle()
  return env
}

async function goForward(env: TestEnv): Promise<void> {
  await env.crash([present, presentShelf])
  await env.advance('1h')
}

describe('while an earlier release runs, which has no functions for the version that is stored', () => {
  it('a spec in its version is refused and not lost, with what to do', async () => {
    await using env = await rolledBack()
    const message = lacks('new', 'v1alpha1', 'v1')
    expect(await apply(env, 'new', { size: '7G' })).toMatchObject({
      code: 422,
      reason: 'Invalid',
      message,
      details: { causes: [{ message }] },
    })
    expect(await apply(env, 'moved', { size: '6G' })).toMatchObject({
      code: 422,
      message: lacks('moved', 'v1', 'v1alpha1'),
    })
    await goForward(env)
    expect(await apply(env, 'new', { size: '7G' })).toMatchObject({ code: 201 })
    expect(await send(env, 'GET v1/moved')).toMatchObject({ spec: { gigabytes: 5 }, status: ready })
  })

  it('a spec in the version that is stored is taken, and read by the later release', async () => {
    await using env = await rolledBack()
    expect(await send(env, 'PATCH v1/moved', { spec: { gigabytes: 6 } })).toMatchObject({ code: 200 })
    await goForward(env)
    expect(await send(env, 'GET v1alpha1/moved')).toMatchObject({ spec: { size: '6G' } })
  })

  it('an object is not shown in a version that it is not in', async () => {
    await using env = await rolledBack()
    expect(await send(env, 'GET v1alpha1/moved')).toMatchObject({
      code: 422,
      message: lacks('moved', 'v1', 'v1alpha1'),
    })
    expect((await send(env, 'GET v1alpha1')).items).toEqual([])
  })

  it('metadata, finalizers and deletion go on', async () => {
    await using env = await rolledBack()
    const metadata = { annotations: { note: 'x' }, finalizers: ['test.setpoint.dev/held'] }
    expect(await send(env, 'PATCH v1/moved', { metadata })).toMatchObject({ code: 200, metadata })
    await send(env, 'DELETE v1/moved')
    await send(env, 'PATCH v1/moved', { metadata: { finalizers: null } })
    expect(await send(env, 'GET v1/moved')).toMatchObject({ code: 404 })
  })

  it('a reconciler that writes in its version tries again, until the later release runs', async () => {
    await using env = await rolledBack()
    await env.apply(Shelf, { metadata: { name: 's' }, spec: { size: '3G' } })
    await env.advance('1h')
    const message = lacks('part', 'v1alpha1', 'v1')
    expect(await env.get(Shelf, 's')).toMatchObject({
      status: { conditions: [{ type: 'Ready', reason: 'ReconcileFailed', message }] },
    })
    await goForward(env)
    expect(await env.get(Shelf, 's')).toMatchObject({ status: ready })
    expect(await env.get(Disk, 'part')).toMatchObject({ spec: { gigabytes: 3 }, status: ready })
  })
})

const ready = { conditions: [{ type: 'Ready', status: 'True' }] }

describe('what is stored in the version of before', () => {
  /** The later release stores its definition, and no object. */
  async function untouched(): Promise<TestEnv> {
    const env = await createTestEnv({ reconcilers: [former] })
    await env.apply(OldDisk, { metadata: { name: 'old' }, spec: { size: '5G' } })
    await env.settle()
    await env.crash([presentShelf])
    await env.settle()
    await env.crash([former])
    await env.settle()
    return env
  }

  it('stays under its name, whatever is written beside its spec', async () => {
    await using env = await untouched()
    expect(await send(env, 'PATCH v1/old', { metadata: { labels: { a: 'b' } } })).toMatchObject({ code: 200 })
    expect(await send(env, 'PATCH v1alpha1/old', { metadata: { labels: { c: 'd' } } })).toMatchObject({ code: 200 })
    expect(await send(env, 'GET v1alpha1/old')).toMatchObject({
      metadata: { labels: { a: 'b', c: 'd' } },
      spec: { size: '5G' },
    })
    await goForward(env)
    expect(await send(env, 'GET v1/old')).toMatchObject({ spec: { gigabytes: 5, zones: [] }, status: ready })
  })

  it.each(['v1', 'v1alpha1'])('takes no other spec, also not in %s', async (version) => {
    await using env = await untouched()
    expect(await send(env, `PATCH ${version}/old`, { spec: { tier: 'fast' } })).toMatchObject({
      code: 422,
      message: lacks('old', 'v1alpha1', 'v1'),
    })
    await goForward(env)
    expect(await send(env, 'GET v1/old')).toMatchObject({ spec: { gigabytes: 5, tier: 'slow' } })
  })

  it('takes none either where a hook has a say', async () => {
    await using env = await untouched()
    const hooked = defineKind({ ...names, version: 'v1alpha1', spec: oldSpec, validate: () => [] })
    await env.crash([defineReconciler(hooked, { name: 'disk', reconcile: async () => done() })])
    expect(await send(env, 'PATCH v1/old', { spec: { tier: 'fast' } })).toMatchObject({ code: 422 })
  })
})

it('a release that has functions, but not for the version that is stored, leaves what is in it', async () => {
  const next = defineKind({
    ...names,
    version: 'v2',
    spec: z.object({ terabytes: z.number(), tier: z.string() }),
    olderVersions: (older) => [
      older('v1', {
        spec,
        upgrade: (old) => ({ spec: { terabytes: (old.spec.gigabytes ?? 0) / 1_000, tier: old.spec.tier } }),
        downgrade: ({ spec: { terabytes, tier } }) => ({ spec: { gigabytes: terabytes * 1_000, tier, zones: [] } }),
      }),
      older('v1alpha1', {
        spec: oldSpec,
        upgrade: () => ({ spec: { terabytes: 0, tier: 'slow' } }),
        downgrade: () => ({ spec: { size: '0', tier: 'slow' } }),
      }),
    ],
  })
  const later = defineReconciler(next, { name: 'disk', reconcile: async () => done() })
  await using env = await createTestEnv({ reconcilers: [later] })
  await env.apply(next, { metadata: { name: 'a' }, spec: { terabytes: 2, tier: 'slow' } })
  await env.crash([present])
  for (const version of ['v1', 'v2'])
    expect(await send(env, `PATCH ${version}/a`, { spec: { tier: 'fast' } })).toMatchObject({
      code: 422,
      message: lacks('a', 'v2', 'v1'),
    })
  await env.crash([later])
  expect(await env.get(next, 'a')).toMatchObject({ spec: { terabytes: 2, tier: 'slow' } })
})
