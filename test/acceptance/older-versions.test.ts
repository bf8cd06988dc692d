import * as z from 'zod'
import { describe, expect, it } from 'vitest'
import { defineKind, defineReconciler, done, type Controller } from '../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'

/** A kind whose version moves on while its clients and its objects stay with the one of before. */
const names = { group: 'test.setpoint.dev', kind: 'Disk' } as const
const oldSpec = z.object({ size: z.string(), tier: z.string().default('slow') })
const OldDisk = defineKind({ ...names, version: 'v1alpha1', spec: oldSpec })
const Disk = defineKind({
  ...names,
  version: 'v1',
  spec: z.object({
    gigabytes: z.number().int().max(1_000),
    tier: z.enum(['slow', 'fast']),
    zones: z.array(z.string()).default([]),
  }),
  status: z.object({ bytes: z.number() }).partial(),
  olderVersions: (older) => [
    older('v1alpha1', {
      spec: oldSpec,
      deprecated: true,
      upgrade: ({ spec }) => {
        if (spec.tier !== 'slow' && spec.tier !== 'fast') throw new Error(`there is no tier ${spec.tier}`)
        return { spec: { gigabytes: Number.parseInt(spec.size, 10), tier: spec.tier, zones: [] } }
      },
      downgrade: ({ spec }) => ({ spec: { size: `${spec.gigabytes}G`, tier: spec.tier } }),
    }),
  ],
})

/** A request in one of the versions: a method, and what follows the plural. */
const old = (env: TestEnv, line: string, sent?: object, type = 'application/json') =>
  request(env, line.replace(' ', ' /apis/test.setpoint.dev/v1alpha1/namespaces/default/disks'), sent, type)
const present = (env: TestEnv, line: string, sent?: object, type = 'application/merge-patch+json') =>
  request(env, line.replace(' ', ' /apis/test.setpoint.dev/v1/namespaces/default/disks'), sent, type)

// oxlint-disable-next-line typescript/no-explicit-any -- tests reach into replies of every shape
type Reply = any

async function request(env: TestEnv, line: string, sent: object | undefined, type: string): Promise<Reply> {
  const { status, body: reply } = await env.api({
    ...asked(line),
    header: (name) => (name === 'content-type' && sent !== undefined ? type : undefined),
    body: async () => new TextEncoder().encode(sent === undefined ? '' : JSON.stringify(sent)),
  })
  return { ...(JSON.parse(String(reply)) as object), code: status }
}

function asked(line: string): Parameters<TestEnv['api']>[0] {
  const [method = '', path = '', query = ''] = line.split(/[ ?]/)
  return {
    method,
    path,
    query: new URLSearchParams(query),
    header: () => {},
    fieldsUnder: () => [],
    body: async () => new Uint8Array(),
    signal: new AbortController().signal,
  }
}

const body = (name: string, spec: object) => ({
  apiVersion: 'test.setpoint.dev/v1alpha1',
  kind: 'Disk',
  metadata: { name },
  spec,
})

const ran: unknown[] = []
const reconciler: Controller = defineReconciler(Disk, {
  reconcile: async ({ apiVersion, spec }) => {
    ran.push({ apiVersion, ...spec })
    return done({ status: { bytes: spec.gigabytes * 1e9 } })
  },
})
const former: Controller = defineReconciler(OldDisk, { name: 'disk', reconcile: async () => done() })

/** Two objects of the version of before, and a control plane that knows the next one. */
async function upgraded(): Promise<TestEnv> {
  const env = await createTestEnv({ tickMs: 60_000, reconcilers: [former] })
  await env.apply(OldDisk, { metadata: { name: 'a' }, spec: { size: '5G' } })
  await env.apply(OldDisk, { metadata: { name: 'b' }, spec: { size: '7G', tier: 'odd' } })
  await env.settle()
  ran.length = 0
  await env.crash([reconciler])
  return env
}

it('what is stored in a version of before is converted for its reconciler, and stored anew by the next write', async () => {
  await using env = await upgraded()
  await env.advance('11h')
  expect(ran).toContainEqual({ apiVersion: 'test.setpoint.dev/v1', gigabytes: 5, tier: 'slow', zones: [] })
  expect(await env.get(Disk, 'a')).toMatchObject({
    apiVersion: 'test.setpoint.dev/v1',
    spec: { gigabytes: 5, tier: 'slow', zones: [] },
    status: { bytes: 5e9, conditions: [{ type: 'Ready', status: 'True' }] },
  })
  expect(await old(env, 'GET /a')).toMatchObject({
    apiVersion: 'test.setpoint.dev/v1alpha1',
    spec: { size: '5G', tier: 'slow' },
  })
})

it('an object that cannot be converted stops alone, with the reason, and takes writes beside its spec', async () => {
  await using env = await upgraded()
  await env.advance('11h')
  const message = 'Disk.test.setpoint.dev "default/b" cannot be converted from v1alpha1 to v1: there is no tier odd'
  expect(ran).not.toContainEqual(expect.objectContaining({ gigabytes: 7 }))
  const stopped = { status: 'False', reason: 'SpecInvalid', message }
  expect(await env.get(Disk, 'b')).toMatchObject({ status: { conditions: [{ type: 'Ready', ...stopped }, {}] } })
  const annotations = { 'setpoint.dev/paused': 'true' }
  expect(await present(env, 'PATCH /b', { metadata: { annotations } })).toMatchObject({ metadata: { annotations } })
  await env.settle()
  expect(await old(env, 'GET /b')).toMatchObject({ spec: { size: '7G', tier: 'odd' } })
  const mended = await present(env, 'PATCH /b', {
    metadata: { annotations: null },
    spec: { gigabytes: 8, tier: 'fast' },
  })
  expect(mended).toMatchObject({ spec: { gigabytes: 8, tier: 'fast', zones: [] } })
  await env.settle()
  expect(ran).toContainEqual({ apiVersion: 'test.setpoint.dev/v1', gigabytes: 8, tier: 'fast', zones: [] })
})

it('an object that cannot be converted can be deleted', async () => {
  await using env = await upgraded()
  await env.delete(Disk, 'b')
  await env.settle()
  expect(await env.get(Disk, 'b')).toBeUndefined()
})

it('a client of the version of before creates, patches, applies, replaces and lists in it', async () => {
  await using env = await createTestEnv({ reconcilers: [reconciler] })
  expect(await old(env, 'POST ', body('c', { size: '1G' }))).toMatchObject({
    code: 201,
    apiVersion: 'test.setpoint.dev/v1alpha1',
    spec: { size: '1G', tier: 'slow' },
  })
  expect(await present(env, 'GET /c')).toMatchObject({ spec: { gigabytes: 1, tier: 'slow', zones: [] } })
  await present(env, 'PATCH /c', { spec: { zones: ['x'] } })
  const merged = await old(env, 'PATCH /c', { spec: { size: '2G' } }, 'application/merge-patch+json')
  expect(merged).toMatchObject({ metadata: { generation: 3 }, spec: { size: '2G', tier: 'slow' } })
  expect(await present(env, 'GET /c')).toMatchObject({ spec: { gigabytes: 2, zones: ['x'] } })
  const applied = await old(
    env,
    'PATCH /c?fieldManager=me&force=true',
    body('c', { size: '3G', tier: 'fast' }),
    'application/apply-patch+yaml',
  )
  expect(applied).toMatchObject({ spec: { size: '3G', tier: 'fast' } })
  await env.settle()
  const { status: _, ...replaced } = await old(env, 'GET /c')
  const put = await old(env, 'PUT /c', { ...replaced, spec: { size: '4G', tier: 'slow' } })
  expect(put).toMatchObject({ spec: { size: '4G' } })
  expect(await present(env, 'GET /c')).toMatchObject({ spec: { gigabytes: 4, tier: 'slow', zones: ['x'] } })
  const list = await old(env, 'GET ')
  expect(list).toMatchObject({ apiVersion: 'test.setpoint.dev/v1alpha1', items: [{ spec: { size: '4G' } }] })
})

it('a dry run in the version of before converts and writes nothing', async () => {
  await using env = await createTestEnv({ reconcilers: [reconciler] })
  await old(env, 'POST ', body('c', { size: '1G' }))
  const tried = await old(env, 'PATCH /c?dryRun=All', { spec: { size: '9G' } }, 'application/merge-patch+json')
  expect(tried).toMatchObject({ spec: { size: '9G' } })
  expect(await present(env, 'GET /c')).toMatchObject({ spec: { gigabytes: 1 } })
})

it('a write in the version of before is refused where it cannot be converted, or does not fit what is stored', async () => {
  await using env = await createTestEnv({ reconcilers: [reconciler] })
  expect(await old(env, 'POST ', body('c', { size: '1G', tier: 'odd' }))).toMatchObject({
    code: 422,
    message:
      'Disk.test.setpoint.dev "c" is invalid: spec: Invalid value: Disk.test.setpoint.dev "default/c" cannot be converted from v1alpha1 to v1: there is no tier odd',
  })
  expect(await old(env, 'POST ', body('c', { size: '2000G' }))).toMatchObject({
    code: 422,
    message:
      'Disk.test.setpoint.dev "c" is invalid: spec.gigabytes: Invalid value: 2000: spec.gigabytes in body should be less than or equal to 1000 (in v1, which it is stored in)',
  })
})

async function firstLine(stream: AsyncIterable<string | Uint8Array>): Promise<string> {
  let line = ''
  for await (const piece of stream) {
    line += typeof piece === 'string' ? piece : new TextDecoder().decode(piece)
    if (line.trim() !== '') break
  }
  return line
}

it('a watch in the version of before tells objects in it', async () => {
  await using env = await createTestEnv({ reconcilers: [reconciler] })
  const over = new AbortController()
  const { body: stream } = await env.api({
    ...asked('GET /apis/test.setpoint.dev/v1alpha1/disks'),
    query: new URLSearchParams({ watch: '1' }),
    signal: over.signal,
  })
  await old(env, 'POST ', body('c', { size: '1G' }))
  const [line] = await Promise.all([firstLine(stream as AsyncIterable<string | Uint8Array>), env.advance('5s')])
  expect(JSON.parse(line)).toMatchObject({
    type: 'ADDED',
    object: { apiVersion: 'test.setpoint.dev/v1alpha1', spec: { size: '1G', tier: 'slow' } },
  })
  over.abort()
})

/** Its version of before cannot say everything that the present one can. */
const narrow = defineKind({
  ...names,
  version: 'v1',
  spec: z.object({ gigabytes: z.number() }),
  olderVersions: (older) => [
    older('v1alpha1', {
      spec: z.object({ size: z.string() }),
      upgrade: ({ spec }) => ({ spec: { gigabytes: Number(spec.size) } }),
      downgrade: ({ spec }) => {
        if (spec.gigabytes > 9) throw new Error('too large to say')
        return { spec: { size: String(spec.gigabytes) } }
      },
    }),
  ],
})

describe('a watch in the version of before, of what cannot be shown in it', () => {
  const watchOld = (env: TestEnv, query: Record<string, string>, signal: AbortSignal) =>
    env.api({
      ...asked('GET /apis/test.setpoint.dev/v1alpha1/disks'),
      query: new URLSearchParams({ watch: '1', ...query }),
      signal,
    })
  const disk = (name: string, gigabytes: number) => ({ metadata: { name }, spec: { gigabytes } })

  async function linesOf(stream: unknown): Promise<readonly Reply[]> {
    let text = ''
    for await (const piece of stream as AsyncIterable<string | Uint8Array>)
      text += typeof piece === 'string' ? piece : new TextDecoder().decode(piece)
    return text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line))
  }

  const cut = {
    type: 'ERROR',
    object: {
      kind: 'Status',
      code: 410,
      reason: 'Expired',
      message:
        'the watch ends, list again: Disk.test.setpoint.dev "default/big" cannot be converted from v1 to v1alpha1: too large to say',
    },
  }

  it.each(['live', 'from the log'])('ends and says why (%s), behind what it can show', async (how) => {
    await using env = await createTestEnv({
      reconcilers: [defineReconciler(narrow, { reconcile: async () => done() })],
    })
    const { metadata } = await old(env, 'GET ')
    const over = new AbortController()
    const query = { resourceVersion: metadata.resourceVersion, timeoutSeconds: '60' }
    // The version of a list on AWS may lie a moment ahead: a watch from it waits for that.
    const start = async () => (await Promise.all([watchOld(env, query, over.signal), env.advance('1s')]))[0]
    const early = how === 'live' ? await start() : undefined
    await env.apply(narrow, disk('small', 1))
    await env.apply(narrow, disk('big', 10))
    const { body: stream } = early ?? (await start())
    const [lines] = await Promise.all([linesOf(stream), env.advance('2m')])
    expect(lines[0]).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'small' }, spec: { size: '1' } } })
    expect(lines.at(-1)).toMatchObject(cut)
  })

  it('goes on where its name or namespace leaves the object out', async () => {
    await using env = await createTestEnv({
      reconcilers: [defineReconciler(narrow, { reconcile: async () => done() })],
    })
    const over = new AbortController()
    const query = { fieldSelector: 'metadata.name=small', timeoutSeconds: '60' }
    const { body: stream } = await watchOld(env, query, over.signal)
    await env.apply(narrow, disk('big', 10))
    await env.apply(narrow, disk('small', 1))
    const [lines] = await Promise.all([linesOf(stream), env.advance('2m')])
    expect(lines.map(({ type }) => type)).not.toContain('ERROR')
    expect(lines[0]).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'small' } } })
  })

  it('warns of those that were there at the start', async () => {
    await using env = await createTestEnv({
      reconcilers: [defineReconciler(narrow, { reconcile: async () => done() })],
    })
    await env.apply(narrow, disk('big', 10))
    await env.apply(narrow, disk('small', 1))
    // On AWS a watch repeats what was written in the last ten seconds.
    await env.advance('1m')
    const over = new AbortController()
    const query = {
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: 'true',
      timeoutSeconds: '60',
    }
    const { headers, body: stream } = await watchOld(env, query, over.signal)
    expect(JSON.stringify(headers)).toContain('test.setpoint.dev/Disk/default/big')
    const [lines] = await Promise.all([linesOf(stream), env.advance('2m')])
    expect(lines.filter(({ type }) => type !== 'BOOKMARK').map(({ object }) => object.metadata.name)).toEqual(['small'])
    expect(lines.find(({ type }) => type === 'BOOKMARK')).toMatchObject({
      object: { metadata: { annotations: { 'setpoint.dev/left-out': 'test.setpoint.dev/Disk/default/big' } } },
    })
  })
})

it('a list in the version of before leaves out what it cannot show, and names it', async () => {
  await using env = await createTestEnv({ reconcilers: [defineReconciler(narrow, { reconcile: async () => done() })] })
  await env.apply(narrow, { metadata: { name: 'big' }, spec: { gigabytes: 10 } })
  await env.apply(narrow, { metadata: { name: 'small' }, spec: { gigabytes: 1 } })
  const { headers, body: text } = await env.api(asked('GET /apis/test.setpoint.dev/v1alpha1/disks'))
  expect(JSON.parse(String(text)).items).toMatchObject([{ metadata: { name: 'small' }, spec: { size: '1' } }])
  expect(JSON.stringify(headers)).toContain('test.setpoint.dev/Disk/default/big')
  expect(await old(env, 'GET /big')).toMatchObject({
    code: 500,
    message: 'Disk.test.setpoint.dev "default/big" cannot be converted from v1 to v1alpha1: too large to say',
  })
})

const applying = 'application/apply-patch+yaml'
const config = (version: string, spec: object) => ({ apiVersion: `test.setpoint.dev/${version}`, kind: 'Disk', spec })

it('who applied in one version owns it against those who apply in the other', async () => {
  await using env = await createTestEnv({ reconcilers: [reconciler] })
  await old(env, 'PATCH /c?fieldManager=ann', config('v1alpha1', { size: '1G' }), applying)
  const bobs = config('v1', { gigabytes: 2, tier: 'slow', zones: ['x'] })
  expect(await present(env, 'PATCH /c?fieldManager=bob', bobs, applying)).toMatchObject({
    code: 409,
    message: 'Apply failed with 1 conflict: conflict with "ann": .spec.size',
  })
  const agreed = { ...bobs, spec: { ...bobs.spec, gigabytes: 1 } }
  expect(await present(env, 'PATCH /c?fieldManager=bob', agreed, applying)).toMatchObject({
    metadata: {
      managedFields: [
        { manager: 'ann', apiVersion: 'test.setpoint.dev/v1alpha1', fieldsV1: { 'f:spec': { 'f:size': {} } } },
        { manager: 'bob', apiVersion: 'test.setpoint.dev/v1', fieldsV1: { 'f:spec': { 'f:gigabytes': {} } } },
      ],
    },
  })
  const forced = await present(env, 'PATCH /c?fieldManager=bob&force=true', bobs, applying)
  expect(forced.metadata.managedFields.map(({ manager }: { manager: string }) => manager)).toEqual(['bob'])
  expect(await old(env, 'GET /c')).toMatchObject({ spec: { size: '2G' } })
})

it('an apply that leaves out what another owns in the other version does not remove it', async () => {
  await using env = await createTestEnv({ reconcilers: [reconciler] })
  await present(env, 'PATCH /c?fieldManager=bob', config('v1', { gigabytes: 1, tier: 'fast', zones: ['x'] }), applying)
  await old(env, 'PATCH /c?fieldManager=ann', config('v1alpha1', { size: '1G', tier: 'fast' }), applying)
  const less = await present(env, 'PATCH /c?fieldManager=bob', config('v1', { gigabytes: 1 }), applying)
  expect(less.spec).toMatchObject({ gigabytes: 1, tier: 'fast' })
})

it('the fields of the one writer are told in the version that they were written in', async () => {
  await using env = await createTestEnv({ reconcilers: [reconciler] })
  await old(env, 'POST ?fieldManager=ann', body('c', { size: '1G' }))
  expect((await present(env, 'GET /c')).metadata.managedFields).toMatchObject([
    { manager: 'ann', apiVersion: 'test.setpoint.dev/v1alpha1', fieldsV1: { 'f:spec': { 'f:size': {} } } },
  ])
  await old(env, 'PATCH /c?fieldManager=ann', { spec: { size: '3G' } }, 'application/merge-patch+json')
  await present(env, 'PATCH /c?fieldManager=bob', { spec: { gigabytes: 4 } })
  expect((await present(env, 'GET /c')).metadata.managedFields).toMatchObject([
    { manager: 'ann', fieldsV1: { 'f:spec': { 'f:tier': {} } } },
    { manager: 'bob', apiVersion: 'test.setpoint.dev/v1', fieldsV1: { 'f:spec': { 'f:gigabytes': {} } } },
  ])
})
