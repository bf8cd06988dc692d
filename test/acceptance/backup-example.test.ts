import * as z from 'zod'
import { afterEach, describe, expect, it } from 'vitest'
import {
  again,
  conditionOf,
  ConfigMap,
  defineKind,
  defineReconciler,
  done,
  type Controller,
  type Outcome,
} from '../../shared/index.ts'
import type { ObjectKey } from '../../shared/model/object-key.ts'
import type { StoredObject } from '../../shared/model/stored-object.ts'
import type { PortCall } from '../../shared/testing/observed-ports.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { writesOf } from './support/primary.ts'

/** The example of the second source document: a BackupPolicy that owns a CronJob. */
const CronJob = defineKind({
  group: 'batch.test',
  version: 'v1',
  kind: 'CronJob',
  spec: z.object({ schedule: z.string(), suspend: z.boolean().default(false), image: z.string().default('backup:1') }),
})

const BackupPolicy = defineKind({
  group: 'storage.test',
  version: 'v1',
  kind: 'BackupPolicy',
  plural: 'backuppolicies',
  spec: z.object({ schedule: z.string(), suspended: z.boolean().default(false) }),
  status: z.object({ lastScheduleTime: z.string().nullable() }),
})

function backups(runs: string[] = []): Controller {
  return defineReconciler(BackupPolicy, {
    owns: [CronJob],
    async reconcile(policy, ctx) {
      runs.push(policy.spec.schedule)
      const { schedule, suspended } = policy.spec
      await ctx.apply(CronJob, { metadata: { name: policy.metadata.name }, spec: { schedule, suspend: suspended } })
      const reason = suspended ? 'Suspended' : 'CronJobCreated'
      return done({ status: { lastScheduleTime: null }, conditions: { Ready: { status: 'True', reason } } })
    },
  })
}

const nightly = { metadata: { name: 'nightly' }, spec: { schedule: '0 3 * * *' } }

let env: TestEnv
afterEach(() => env.close())

async function ready(): Promise<ReturnType<typeof conditionOf>> {
  const policy = await env.get(BackupPolicy, 'nightly')
  return policy && conditionOf(policy, 'Ready')
}

const writes = (from = 0): readonly string[] =>
  env.calls.slice(from).flatMap(({ call }) => (/^store\.(create|replace|remove)$/.test(call) ? [call] : []))

describe('a backup policy', () => {
  it('B7 makes a child with an owner, tells of it, and is done', async () => {
    env = await createTestEnv({ reconcilers: [backups()], kinds: [CronJob] })
    await env.apply(BackupPolicy, nightly)
    await env.settle()
    const policy = await env.get(BackupPolicy, 'nightly')
    expect(await env.get(CronJob, 'nightly')).toMatchObject({
      spec: { schedule: '0 3 * * *' },
      metadata: { ownerReferences: [{ kind: 'BackupPolicy', name: 'nightly', controller: true }] },
    })
    expect(policy).toMatchObject({ status: { lastScheduleTime: null } })
    expect(await ready()).toMatchObject({
      status: 'True',
      reason: 'CronJobCreated',
    })
    expect(policy).not.toHaveProperty('status.reconcile')
  })

  it('B8 patches only what it declares of its child', async () => {
    env = await createTestEnv({ reconcilers: [backups()], kinds: [CronJob] })
    await env.apply(BackupPolicy, nightly)
    await env.settle()
    await env.patch(CronJob, 'nightly', { spec: { image: 'backup:2' } })
    await env.patch(BackupPolicy, 'nightly', { spec: { suspended: true } })
    await env.settle()
    expect(await env.get(CronJob, 'nightly')).toMatchObject({ spec: { suspend: true, image: 'backup:2' } })
    expect(await ready()).toMatchObject({
      status: 'True',
      reason: 'Suspended',
    })
  })

  it('B9 B10 puts its child back when somebody deletes or edits it', async () => {
    env = await createTestEnv({ reconcilers: [backups()], kinds: [CronJob] })
    await env.apply(BackupPolicy, nightly)
    await env.settle()
    await env.delete(CronJob, 'nightly')
    await env.settle()
    expect(await env.get(CronJob, 'nightly')).toMatchObject({ spec: { schedule: '0 3 * * *' } })
    await env.patch(CronJob, 'nightly', { spec: { schedule: '* * * * *' } }, { manager: 'somebody' })
    await env.settle()
    expect(await env.get(CronJob, 'nightly')).toMatchObject({ spec: { schedule: '0 3 * * *' } })
  })

  it('B11 D6 takes its child along', async () => {
    env = await createTestEnv({ reconcilers: [backups()], kinds: [CronJob] })
    await env.apply(BackupPolicy, nightly)
    await env.settle()
    expect(await env.get(CronJob, 'nightly')).toBeDefined()
    await env.delete(BackupPolicy, 'nightly')
    await env.settle()
    expect(await env.get(CronJob, 'nightly')).toBeUndefined()
  })

  it('B5 D23 writes nothing when the same trigger comes twice, nor after a restart', async () => {
    const runs: string[] = []
    env = await createTestEnv({ reconcilers: [backups(runs)], kinds: [CronJob] })
    await env.apply(BackupPolicy, nightly)
    await env.settle()
    const before = { runs: runs.length, writes: writesOf(env, 'CronJob', 'nightly').length }
    const note = (text: string) => env.patch(BackupPolicy, 'nightly', { metadata: { annotations: { note: text } } })
    for (const text of ['1', '2']) {
      await note(text)
      await env.settle()
    }
    expect(runs).toHaveLength(before.runs + 2)
    await env.crash()
    await note('3')
    await env.settle()
    expect(runs.length).toBeGreaterThan(before.runs + 2)
    expect(writesOf(env, 'CronJob', 'nightly').slice(before.writes)).toEqual([])
  })

  it('B5 D32 has each effect once though the same trigger is delivered twice, and converges after a redeployment', async () => {
    const runs: string[] = []
    env = await createTestEnv({ reconcilers: [backups(runs)], kinds: [CronJob] })
    // What was relayed is never noted, so that the process that comes next relays it once more.
    env.faults.always('relayed.save', { kind: 'lost' })
    await env.apply(BackupPolicy, nightly)
    await env.advance('10s')
    const before = { runs: runs.length, children: writesOf(env, 'CronJob', 'nightly').length }
    const policy = await env.get(BackupPolicy, 'nightly')
    await env.crash([backups(runs)])
    await env.advance('10s')
    expect(runs.length).toBeGreaterThan(before.runs)
    expect(writesOf(env, 'CronJob', 'nightly')).toHaveLength(before.children)
    expect(await env.get(BackupPolicy, 'nightly')).toEqual(policy)
    await env.patch(BackupPolicy, 'nightly', { spec: { schedule: '0 4 * * *' } })
    await env.settle()
    expect(await env.get(CronJob, 'nightly')).toMatchObject({ spec: { schedule: '0 4 * * *' } })
  })

  it('D1 comes to the same from the same state, whatever has woken it', async () => {
    const triggers: Readonly<Record<string, () => Promise<unknown>>> = {
      'its creation': async () => {},
      'a change of its labels': () => env.patch(BackupPolicy, 'nightly', { metadata: { labels: { a: 'b' } } }),
      'a request': () =>
        env.patch(BackupPolicy, 'nightly', {
          metadata: { annotations: { 'setpoint.dev/reconcile-requested-at': '1' } },
        }),
      'a change of its child': () => env.patch(CronJob, 'nightly', { spec: { schedule: 'edited' } }),
      'the end of its child': () => env.delete(CronJob, 'nightly'),
      'the resync': () => env.advance('11h'),
      'a restart': () => env.crash(),
    }
    const ends: unknown[] = []
    const woken: string[] = []
    for (const [trigger, act] of Object.entries(triggers)) {
      const runs: string[] = []
      env = await createTestEnv({ tickMs: 60_000, reconcilers: [backups(runs)], kinds: [CronJob] })
      await env.apply(BackupPolicy, nightly)
      await env.settle()
      const before = runs.length
      await act()
      await env.advance('1m')
      if (runs.length > before) woken.push(trigger)
      const { spec, status: { lastHandledReconcileAt: _, ...status } = {} } = (await env.get(
        BackupPolicy,
        'nightly',
      )) as { readonly spec: unknown; readonly status?: Readonly<Record<string, unknown>> }
      ends.push({ spec, status, child: (await env.get(CronJob, 'nightly'))?.spec })
      await env.close()
    }
    env = await createTestEnv()
    for (const end of ends) expect(end).toEqual(ends[0])
    // Its creation had woken it before, and a restart need not.
    expect(woken).toEqual(expect.arrayContaining(Object.keys(triggers).slice(1, -1)))
    expect(ends[0]).toMatchObject({
      child: { schedule: '0 3 * * *', suspend: false },
      status: { observedGeneration: 1 },
    })
  })

  it('B2 D20 comes to its last wish and to rest, however fast the edits come', async () => {
    const runs: string[] = []
    env = await createTestEnv({ tickMs: 60_000, reconcilers: [backups(runs)], kinds: [CronJob] })
    await env.apply(BackupPolicy, nightly)
    for (let minute = 1; minute <= 5; minute++)
      await env.patch(BackupPolicy, 'nightly', { spec: { schedule: `${minute} * * * *` } })
    await env.advance('1h')
    expect(await env.get(CronJob, 'nightly')).toMatchObject({ spec: { schedule: '5 * * * *' } })
    expect(runs.length).toBeLessThanOrEqual(6)
    const from = env.calls.length
    await env.advance('1h')
    expect(writes(from)).toEqual([])
  })
})

const Thing = defineKind({
  group: 'b.test',
  version: 'v1',
  kind: 'Thing',
  spec: z.object({ size: z.number().default(1) }),
})

interface Run {
  /** How many there have been, this one included. */
  readonly runs: number
  now(): number
  apply(name: string): Promise<unknown>
}

function things(run: (run: Run) => Promise<Outcome<Record<string, never>>>): Controller {
  let runs = 0
  return defineReconciler(Thing, {
    owns: [ConfigMap],
    reconcile: (_, ctx) =>
      run({
        runs: ++runs,
        now: ctx.now,
        apply: (name) => ctx.apply(ConfigMap, { metadata: { name }, data: { x: '1' } }),
      }),
  })
}

/** What a call of the store is to its object. */
function stepOf({ call, args }: PortCall): readonly string[] {
  if (call === 'store.get') return [`read ${(args[0] as ObjectKey).kind}`]
  if (call !== 'store.replace') return []
  const [{ object }, touched] = args as readonly [StoredObject, readonly string[]]
  return [`write ${touched.includes('status') ? 'status of ' : ''}${object.kind}`]
}

describe('a run', () => {
  it('B1 D1 A31 of an object that has gone is no failure', async () => {
    let runsSeen = 0
    env = await createTestEnv({
      reconcilers: [
        things(async ({ runs }) => {
          runsSeen = runs
          return done()
        }),
      ],
    })
    // The message of the creation is under way until the object has gone.
    const lift = env.faults.always('queue:thing.send', { kind: 'delay', ms: 5_000 })
    // On AWS the API sends it, too, and waits a moment for that.
    await Promise.all([env.apply(Thing, { metadata: { name: 't' }, spec: {} }), env.advance('1s')])
    await env.delete(Thing, 't')
    lift()
    await env.advance('1m')
    // It is done with: the object is not looked at again when the message would come again.
    const isLook = ({ call, args: [key] }: PortCall): boolean => call === 'store.get' && (key as ObjectKey).name === 't'
    const looks = (): number => env.calls.filter(isLook).length
    const looked = looks()
    await env.advance('10m')
    expect({ runsSeen, looked: looks() }).toEqual({ runsSeen: 0, looked })
    expect(looked).toBeGreaterThan(0)
    await env.apply(Thing, { metadata: { name: 't' }, spec: {} })
    await env.settle()
    expect(runsSeen).toBe(1)
    expect(env.logs.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([])
  })

  it('B1 reads the object, then what there is of it, acts on the difference, and tells the status last', async () => {
    const told: string[] = []
    env = await createTestEnv({
      reconcilers: [
        defineReconciler(Thing, {
          owns: [ConfigMap],
          async reconcile({ spec }, ctx) {
            const actual = (await ctx.get(ConfigMap, 'child'))?.data?.['size']
            const size = String(spec.size)
            told.push(`${size} declared, ${actual ?? 'nothing'} there`)
            if (actual !== size) await ctx.apply(ConfigMap, { metadata: { name: 'child' }, data: { size } })
            return done()
          },
        }),
      ],
    })
    await env.apply(Thing, { metadata: { name: 't' }, spec: {} })
    await env.settle()
    const before = { calls: env.calls.length, told: told.length }
    await env.patch(Thing, 't', { spec: { size: 2 } })
    await env.settle()
    const steps = env.calls.slice(before.calls).flatMap(stepOf)
    const afterEdit = steps.slice(steps.indexOf('write Thing') + 1)
    const inOrder = ['read Thing', 'read ConfigMap', 'write ConfigMap', 'write status of Thing']
    expect([...new Set(afterEdit)]).toEqual(inOrder)
    expect(afterEdit.filter((step) => step.startsWith('write'))).toEqual(inOrder.slice(2))
    // The write of the child brings one more run, which finds nothing to do.
    expect(told.slice(before.told)).toEqual(['2 declared, 1 there', '2 declared, 2 there'])
  })

  it('B3 goes on where the one before failed: what was done is not written again', async () => {
    env = await createTestEnv({
      reconcilers: [
        things(async ({ runs, apply }) => {
          await apply('first')
          if (runs === 1) throw new Error('after the first step')
          await apply('second')
          return done()
        }),
      ],
    })
    await env.apply(Thing, { metadata: { name: 't' }, spec: {} })
    await env.advance('10s')
    expect(await env.get(Thing, 't')).toMatchObject({ status: { observedGeneration: 1 } })
    // Writes of any sort: the second run writes nothing of the first step, and the third run nothing at all.
    const madeOnce = [{ call: 'store.create', touched: [] }]
    expect(['first', 'second'].map((name) => writesOf(env, 'ConfigMap', name))).toEqual([madeOnce, madeOnce])
    await env.patch(Thing, 't', { spec: { size: 2 } })
    await env.settle()
    expect(await env.get(Thing, 't')).toMatchObject({ status: { observedGeneration: 2 } })
    expect(['first', 'second'].map((name) => writesOf(env, 'ConfigMap', name))).toEqual([madeOnce, madeOnce])
  })

  it('B13 A8 that asks to come again in five minutes comes then, and not before', async () => {
    const at: number[] = []
    env = await createTestEnv({
      reconcilers: [
        things(async ({ now }) => {
          at.push(now())
          return again('5m')
        }),
      ],
    })
    await env.apply(Thing, { metadata: { name: 't' }, spec: {} })
    await env.advance('16m')
    expect(at.map((ms) => (ms - (at[0] ?? 0)) / 60_000)).toEqual([0, 5, 10, 15])
  })

  it('B14 D12 that fails is tried after 1 s, 2 s, 4 s and ever more rarely, up to a quarter of an hour', async () => {
    const at: number[] = []
    env = await createTestEnv({
      tickMs: 60_000,
      reconcilers: [
        things(async ({ now }) => {
          at.push(now())
          throw new Error('no')
        }),
      ],
    })
    await env.apply(Thing, { metadata: { name: 't' }, spec: {} })
    await env.advance('3h')
    const waits = at.slice(1).map((ms, i) => (ms - (at[i] ?? 0)) / 1_000)
    for (const [i, wait] of waits.entries()) {
      const longest = Math.min(1_000, 2 ** i)
      expect(wait).toBeLessThanOrEqual(longest)
      expect(wait).toBeGreaterThanOrEqual(longest / 2)
    }
    expect(waits.length).toBeGreaterThan(12)
  })

  it('B6 D15 D23 sees what it has just written, and so does the next', async () => {
    const seen: unknown[] = []
    env = await createTestEnv({
      reconcilers: [
        defineReconciler(Thing, {
          owns: [ConfigMap],
          async reconcile(thing, ctx) {
            seen.push((await ctx.get(ConfigMap, 'c'))?.data)
            await ctx.apply(ConfigMap, { metadata: { name: 'c' }, data: { size: String(thing.spec.size) } })
            seen.push((await ctx.get(ConfigMap, 'c'))?.data)
            return done()
          },
        }),
      ],
    })
    await env.apply(Thing, { metadata: { name: 't' }, spec: { size: 1 } })
    await env.settle()
    expect(seen.slice(0, 3)).toEqual([undefined, { size: '1' }, { size: '1' }])
  })

  it('B4 is given the object and a context, and nothing of what happened', async () => {
    const given: (readonly unknown[])[] = []
    env = await createTestEnv({
      reconcilers: [
        defineReconciler(Thing, {
          reconcile: async (...all) => {
            given.push(all)
            return done()
          },
        }),
      ],
    })
    await env.apply(Thing, { metadata: { name: 't' }, spec: {} })
    await env.settle()
    expect(given.map((all) => all.length)).toEqual([2])
    const [object, ctx] = given[0] as [object, object]
    expect(Object.keys(object).toSorted()).toEqual(['apiVersion', 'kind', 'metadata', 'spec', 'status'])
    expect(Object.keys(ctx).filter((name) => /reason|trigger|change|old|previous/i.test(name))).toEqual([])
  })
})
