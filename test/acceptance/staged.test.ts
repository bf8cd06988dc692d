import * as z from 'zod'
import { afterEach, describe, expect, it } from 'vitest'
import {
  again,
  conditionOf,
  ConfigMap,
  defineKind,
  defineReconciler,
  degraded,
  done,
  progressing,
  Secret,
  waiting,
  type ApiObject,
  type ConditionPatch,
  type Controller,
} from '../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'

/**
 * The staged cluster of the fourth source document: every stage is a child, and the primary comes after the bootstrap.
 */
const Cluster = defineKind({
  group: 'd.test',
  version: 'v1',
  kind: 'Cluster',
  spec: z.object({ replicas: z.number().int().default(1) }),
  status: z.object({ primary: z.string() }),
})

interface World {
  readonly bootstrapped: Set<string>
  /** The entity outside that only the clean-up removes. */
  readonly outside: Set<string>
  /** Stages as they were begun. */
  readonly stages: string[]
}

const newWorld = (): World => ({ bootstrapped: new Set(), outside: new Set(), stages: [] })

function clusters({ bootstrapped, outside, stages }: World): Controller {
  return defineReconciler(Cluster, {
    owns: [Secret, ConfigMap],

    async reconcile({ metadata: { name }, spec }, ctx) {
      const stage = async (what: string, make: () => Promise<unknown>): Promise<void> => {
        stages.push(what)
        await make()
      }
      await stage('secret', () =>
        ctx.apply(Secret, { metadata: { name: `${name}-secret` }, stringData: { password: 'x' } }),
      )
      await stage('config', () =>
        ctx.apply(ConfigMap, { metadata: { name: `${name}-config` }, data: { replicas: String(spec.replicas) } }),
      )
      await stage('outside', async () => outside.add(name))
      if (!bootstrapped.has(name))
        return again('10s', { ready: waiting('Bootstrapping', 'the first member is coming up') })
      await stage('primary', () => ctx.apply(ConfigMap, { metadata: { name: `${name}-primary` }, data: { at: '0' } }))
      return done({ status: { primary: `${name}-0` } })
    },

    async cleanup({ metadata: { name } }) {
      outside.delete(name)
      return done()
    },
  })
}

const main = { metadata: { name: 'main' }, spec: { replicas: 3 } }

let env: TestEnv
afterEach(() => env.close())

/** The writes of children that were not cut off, in their order. */
function childWrites({ calls }: TestEnv, cut: unknown): readonly string[] {
  return calls.flatMap(({ call, args }) => {
    const [, verb] = /^store\.(create|replace|remove)$/.exec(call) ?? []
    if (verb === undefined || args === cut) return []
    const { kind, metadata } = (args[0] as { readonly object: ApiObject }).object
    return kind === 'Secret' || kind === 'ConfigMap' ? [`${verb} ${metadata.name}`] : []
  })
}

async function condition(type: string): Promise<ReturnType<typeof conditionOf>> {
  const cluster = await env.get(Cluster, 'main')
  return cluster && conditionOf(cluster, type)
}

describe('a staged reconcile', () => {
  it('D30 does not begin a stage behind one that is not ready, and tells which that is', async () => {
    const world = newWorld()
    env = await createTestEnv({ reconcilers: [clusters(world)] })
    await env.apply(Cluster, main)
    await env.advance('5s')
    expect(world.stages.slice(0, 3)).toEqual(['secret', 'config', 'outside'])
    expect(world.stages).not.toContain('primary')
    expect(await condition('Ready')).toMatchObject({ status: 'False', reason: 'Bootstrapping' })
    expect(await env.get(ConfigMap, 'main-primary')).toBeUndefined()

    world.bootstrapped.add('main')
    await env.advance('10s')
    expect(world.stages).toContain('primary')
    expect(await condition('Ready')).toMatchObject({ status: 'True' })
  })

  it('D3 A35 waits for what is not ready without an error, a failure or a warning', async () => {
    env = await createTestEnv({ reconcilers: [clusters(newWorld())] })
    await env.apply(Cluster, main)
    await env.advance('1m')
    expect(env.logs.filter(({ level }) => level === 'error')).toEqual([])
    expect(await env.get(Cluster, 'main')).toMatchObject({ status: { reconcile: { waiting: 'Requeue' } } })
    expect(await env.get(Cluster, 'main')).not.toHaveProperty('status.reconcile.attempt')
  })

  it.each([1, 2, 3, 4, 5, 6])('D30 A22 comes to the same end when the process is killed at write %i', async (fatal) => {
    const world = newWorld()
    world.bootstrapped.add('main')
    env = await createTestEnv({ reconcilers: [clusters(world)] })
    let writes = 0
    let cut: unknown
    const isFatal = (args: readonly unknown[]): boolean => {
      if (++writes === fatal) cut = args
      return cut === args
    }
    env.faults.once('store.create', { kind: 'crash' }, isFatal)
    env.faults.once('store.replace', { kind: 'crash' }, isFatal)
    // The user's own request dies with the process if it is the one that is hit, and is made again.
    await env.apply(Cluster, main).catch(() => {})
    await env.advance('2m')
    if ((await env.get(Cluster, 'main')) === undefined) await env.apply(Cluster, main)
    // On AWS what the process had in hand comes again after its visibility timeout, of four and a half minutes here.
    await env.advance('10m')
    expect(await condition('Ready')).toMatchObject({ status: 'True' })
    expect(await env.get(ConfigMap, 'main-primary')).toMatchObject({ data: { at: '0' } })
    expect((await env.list(Secret)).map(({ metadata }) => metadata.name)).toEqual(['main-secret'])
    // A stage that is finished is passed over by the runs that follow: each child is written once, whatever was cut
    // off.
    expect(cut).toBeDefined()
    const made = childWrites(env, cut)
    expect(made).toEqual(['create main-secret', 'create main-config', 'create main-primary'])
    expect(world.stages.slice(-4)).toEqual(['secret', 'config', 'outside', 'primary'])
    expect([...world.outside]).toEqual(['main'])
  })
})

describe('the eight steps of an envtest', () => {
  it('D27 B11 A32 create, poll, change, poll, edit by hand, poll, delete, and nothing is left', async () => {
    const world = newWorld()
    world.bootstrapped.add('main')
    env = await createTestEnv({ reconcilers: [clusters(world)] })
    const config = async (): Promise<unknown> => (await env.get(ConfigMap, 'main-config'))?.data

    await env.apply(Cluster, main)
    await env.eventually(async () => expect(await config()).toEqual({ replicas: '3' }))
    await env.patch(Cluster, 'main', { spec: { replicas: 5 } })
    await env.eventually(async () => expect(await config()).toEqual({ replicas: '5' }))
    await env.patch(ConfigMap, 'main-config', { data: { replicas: '1' } }, { manager: 'somebody' })
    await env.eventually(async () => expect(await config()).toEqual({ replicas: '5' }))
    await env.delete(Cluster, 'main')
    await env.eventually(async () => expect(await env.get(Cluster, 'main')).toBeUndefined())
    await env.eventually(async () => expect(await env.list(ConfigMap)).toEqual([]))
    expect(await env.list(Secret)).toEqual([])
    expect(world.outside.size).toBe(0)
  })
})

describe('what is observed', () => {
  it('A37 is found again when the status is wiped', async () => {
    const world = newWorld()
    world.bootstrapped.add('main')
    env = await createTestEnv({ reconcilers: [clusters(world)] })
    await env.apply(Cluster, main)
    await env.settle()
    await env.patch(Cluster, 'main', { status: null }, { subresource: 'status' })
    await env.patch(Cluster, 'main', { metadata: { annotations: { 'setpoint.dev/reconcile-requested-at': 'now' } } })
    await env.settle()
    expect(await env.get(Cluster, 'main')).toMatchObject({
      status: { primary: 'main-0', lastHandledReconcileAt: 'now' },
    })
  })

  it('D7 A17 moves no generation, and a status is written by its own path only', async () => {
    const world = newWorld()
    world.bootstrapped.add('main')
    env = await createTestEnv({ reconcilers: [clusters(world)] })
    await env.apply(Cluster, main)
    await env.settle()
    await env.patch(Cluster, 'main', { spec: { replicas: 4 }, status: { primary: 'other' } })
    await env.settle()
    expect(await env.get(Cluster, 'main')).toMatchObject({
      metadata: { generation: 2 },
      status: { primary: 'main-0', observedGeneration: 2 },
    })
    await env.patch(Cluster, 'main', { status: { primary: 'other' } }, { subresource: 'status' })
    expect(await env.get(Cluster, 'main')).toMatchObject({
      metadata: { generation: 2 },
      status: { primary: 'other', observedGeneration: 2 },
    })
  })

  it('D8 has one condition of a type, whose transition time moves only with its status', async () => {
    const world = newWorld()
    env = await createTestEnv({ reconcilers: [clusters(world)] })
    await env.apply(Cluster, main)
    await env.advance('5s')
    const before = await condition('Ready')
    await env.advance('1m')
    expect(await condition('Ready')).toEqual(before)
    world.bootstrapped.add('main')
    await env.advance('1m')
    const after = await condition('Ready')
    expect([before?.status, after?.status]).toEqual(['False', 'True'])
    expect(Date.parse(after?.lastTransitionTime ?? '')).toBeGreaterThan(Date.parse(before?.lastTransitionTime ?? ''))
    const types = (await env.get(Cluster, 'main'))?.status?.conditions?.map(({ type }) => type) ?? []
    expect(types).toEqual([...new Set(types)])
  })

  it('D8 tells of progress and of trouble beside Ready, by helpers, and of their end', async () => {
    const calm = { ...progressing(false), ...degraded(false) }
    let now: Readonly<Record<string, ConditionPatch>> = calm
    env = await createTestEnv({
      reconcilers: [defineReconciler(Cluster, { reconcile: async () => done({ conditions: now }) })],
    })
    await env.apply(Cluster, main)
    const look = async (replicas: number, conditions: typeof now): Promise<Readonly<Record<string, string>>> => {
      now = conditions
      await env.patch(Cluster, 'main', { spec: { replicas } })
      await env.advance('10s')
      const all = (await env.get(Cluster, 'main'))?.status?.conditions ?? []
      return Object.fromEntries(all.map(({ type, status, reason }) => [type, `${status} ${reason}`]))
    }
    expect(await look(4, calm)).toEqual({
      Ready: 'True Reconciled',
      Progressing: 'False Stable',
      Degraded: 'False AsDeclared',
    })
    const before = await condition('Degraded')
    expect(
      await look(5, { ...progressing(waiting('Upgrading', '1 of 3 members is new')), ...degraded(false) }),
    ).toMatchObject({ Progressing: 'True Upgrading', Degraded: 'False AsDeclared', Ready: 'True Reconciled' })
    expect(await look(6, { ...degraded({ reason: 'MemberLost', message: '2 of 3 members' }) })).toMatchObject({
      Degraded: 'True MemberLost',
      Progressing: 'True Upgrading',
    })
    const after = await condition('Degraded')
    expect(Date.parse(after?.lastTransitionTime ?? '') - Date.parse(before?.lastTransitionTime ?? '')).toBe(20_000)
    expect(await look(7, calm)).toMatchObject({ Progressing: 'False Stable', Degraded: 'False AsDeclared' })
  })
})
