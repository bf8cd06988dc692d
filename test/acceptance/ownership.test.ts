import { afterEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { ConfigMap, defineKind, done, type ConfigMapObject, type Context } from '../../shared/index.ts'
import type { ObjectKey } from '../../shared/model/object-key.ts'
import { createTestEnv, type TestEnv, type TestEnvOptions } from '../../shared/testing/test-env.ts'
import { Widget, widgets } from './support/widgets.ts'

/** Children go with their owner, in the way that is asked for. */

let env: TestEnv
afterEach(() => env.close())

const child = (): Promise<ConfigMapObject | undefined> => env.get(ConfigMap, 'child')

async function startWithChild(options: TestEnvOptions = {}): Promise<void> {
  env = await createTestEnv({
    ...options,
    reconcilers: [
      widgets(
        [],
        async (_, ctx) => {
          await ctx.apply(ConfigMap, { metadata: { name: 'child' }, data: { a: '1' } })
          return done()
        },
        { owns: [ConfigMap] },
      ),
    ],
  })
  await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
  await env.settle()
}

const hold = (name: string, kind: 'child' | 'owner'): Promise<unknown> =>
  kind === 'child'
    ? env.patch(ConfigMap, name, { metadata: { finalizers: ['example.com/held'] } })
    : env.patch(Widget, name, { metadata: { finalizers: ['example.com/held'] } })

describe('an owner', () => {
  it('A32 D6 is set on what is applied, as its controller that blocks its deletion', async () => {
    await startWithChild()
    const widget = await env.get(Widget, 'w')
    expect((await child())?.metadata.ownerReferences).toEqual([
      {
        apiVersion: 'test.setpoint.dev/v1',
        kind: 'Widget',
        name: 'w',
        uid: widget?.metadata.uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ])
  })

  it('keeps its child from another that wants one of that name, which says so until it is free', async () => {
    await startWithChild()
    const owner = (): Promise<string | undefined> => child().then((one) => one?.metadata.ownerReferences?.[0]?.name)
    await env.apply(Widget, { metadata: { name: 'second' }, spec: {} })
    await env.advance('1m')
    expect(await owner()).toBe('w')
    expect(await env.get(Widget, 'second')).toMatchObject({
      status: {
        conditions: [{ status: 'False', message: expect.stringContaining('ConfigMap child is a child of Widget w') }],
      },
    })
    await env.delete(Widget, 'w')
    await env.advance('5m')
    expect(await owner()).toBe('second')
    expect(await env.get(Widget, 'second')).toMatchObject({ status: { conditions: [{ status: 'True' }] } })
  })

  it('made again under its name may write to the child of the one before, which is going', async () => {
    await startWithChild()
    await hold('child', 'child')
    await env.delete(Widget, 'w')
    await env.settle()
    await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
    await env.settle()
    expect(await env.get(Widget, 'w')).toMatchObject({ status: { conditions: [{ status: 'True' }] } })
  })

  it('A32 deleted in the background goes at once, and its child after it', async () => {
    await startWithChild()
    await hold('child', 'child')
    await env.delete(Widget, 'w')
    await env.settle()
    expect(await env.get(Widget, 'w')).toBeUndefined()
    expect((await child())?.metadata.deletionTimestamp).toBeDefined()
    await env.patch(ConfigMap, 'child', { metadata: { finalizers: null } })
    await env.settle()
    expect(await child()).toBeUndefined()
  })

  it('A32 deleted in the foreground waits for the child that blocks it', async () => {
    await startWithChild()
    await hold('child', 'child')
    await env.delete(Widget, 'w', { propagation: 'Foreground' })
    await env.settle()
    expect((await env.get(Widget, 'w'))?.metadata.deletionTimestamp).toBeDefined()
    await env.patch(ConfigMap, 'child', { metadata: { finalizers: null } })
    await env.settle()
    expect(await child()).toBeUndefined()
    expect(await env.get(Widget, 'w')).toBeUndefined()
  })

  it('A32 deleted in the foreground goes within a day though the child that blocks it is let go by hand', async () => {
    await startWithChild({ tickMs: 900_000 })
    await hold('child', 'child')
    await env.delete(Widget, 'w', { propagation: 'Foreground' })
    await env.settle()
    await env.patch(ConfigMap, 'child', { metadata: { ownerReferences: null } })
    await env.advance('26h')
    expect(await env.get(Widget, 'w')).toBeUndefined()
    expect((await child())?.metadata.finalizers).toEqual(['example.com/held'])
  })

  it('A32 deleted with orphan lets its child go', async () => {
    await startWithChild()
    await env.delete(Widget, 'w', { propagation: 'Orphan' })
    await env.advance('5s')
    expect(await env.get(Widget, 'w')).toBeUndefined()
    expect((await child())?.metadata).not.toHaveProperty('ownerReferences')
    await env.advance('1h')
    expect(await child()).toMatchObject({ data: { a: '1' } })
  })

  it.each([
    ['with a clean-up', { cleanup: async () => done() }],
    ['without one', {}],
  ])('A32 %s, deleted with orphan, lets its child go though a run under way would take it', async (_how, cleaning) => {
    let isSlow = false
    env = await createTestEnv({
      reconcilers: [
        widgets(
          [],
          async (_, ctx) => {
            if (isSlow) await ctx.sleep('10s')
            await ctx.apply(ConfigMap, { metadata: { name: 'child' }, data: { a: '1' } })
            return done()
          },
          { owns: [ConfigMap], ...cleaning },
        ),
      ],
    })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
    await env.settle()
    isSlow = true
    await env.patch(Widget, 'w', { spec: { size: 3 } })
    await env.advance('2s')
    await env.delete(Widget, 'w', { propagation: 'Orphan' })
    await env.advance('1h')
    expect(await env.get(Widget, 'w')).toBeUndefined()
    expect(await child()).toMatchObject({ data: { a: '1' } })
    expect((await child())?.metadata).not.toHaveProperty('ownerReferences')
  })

  it('A32 an owner takes what nobody has', async () => {
    await startWithChild()
    await env.patch(ConfigMap, 'child', { metadata: { ownerReferences: null } })
    await env.settle()
    expect((await child())?.metadata.ownerReferences).toMatchObject([{ name: 'w' }])
  })

  it('A32 D26 takes all of very many children with it', async () => {
    env = await createTestEnv({
      reconcilers: [
        widgets(
          [],
          async (_, ctx) => {
            for (let i = 0; i < 250; i++) await ctx.apply(ConfigMap, { metadata: { name: `child-${i}` } })
            return done()
          },
          { owns: [ConfigMap] },
        ),
      ],
    })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
    await env.settle()
    expect(await env.list(ConfigMap)).toHaveLength(250)
    await env.delete(Widget, 'w')
    await env.advance('1m')
    expect(await env.list(ConfigMap)).toEqual([])
  })

  it('A32 of the same name is another: a child goes with the uid it names', async () => {
    await startWithChild()
    await hold('w', 'owner')
    await env.delete(Widget, 'w')
    await env.patch(Widget, 'w', { metadata: { finalizers: null } })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
    await env.advance('1m')
    const widget = await env.get(Widget, 'w')
    expect((await child())?.metadata.ownerReferences).toMatchObject([{ uid: widget?.metadata.uid }])
  })
})

describe('what is in no namespace', () => {
  const Zone = defineKind({
    group: 'test.setpoint.dev',
    version: 'v1',
    kind: 'Zone',
    scope: 'Cluster',
    spec: z.object({}),
  })
  const zone = () => env.get(Zone, { name: 'z', namespace: '' })

  it('has no owner in a namespace: the run is told so, and what is not owned stays', async () => {
    let owned = true
    const run = async (_: unknown, ctx: Context) => {
      await ctx.apply(Zone, { metadata: { name: 'z' }, spec: {} }, { owned })
      return done()
    }
    env = await createTestEnv({ reconcilers: [widgets([], run, { owns: [Zone] })], kinds: [Zone] })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
    await env.settle()
    const message = 'Widget default/w cannot own z outside its namespace; apply it with { owned: false }'
    expect(await env.get(Widget, 'w')).toMatchObject({ status: { conditions: [{ type: 'Ready', message }, {}] } })
    expect(await zone()).toBeUndefined()
    owned = false
    await env.patch(Widget, 'w', { spec: { size: 2 } })
    await env.advance('1m')
    expect(await zone()).toBeDefined()
  })

  it('stays if somebody names such an owner for it, also when that goes', async () => {
    env = await createTestEnv({ kinds: [Zone] })
    await env.apply(ConfigMap, { metadata: { name: 'owner' }, data: {} })
    const uid = (await env.get(ConfigMap, 'owner'))?.metadata.uid ?? ''
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }]
    const metadata = { name: 'z', ownerReferences }
    await env.applyManifest({ apiVersion: 'test.setpoint.dev/v1', kind: 'Zone', metadata, spec: {} })
    await env.advance('1m')
    expect(await zone()).toBeDefined()
    await env.delete(ConfigMap, 'owner')
    await env.advance('1m')
    expect((await zone())?.metadata).not.toHaveProperty('deletionTimestamp')
  })
})

describe('a child of two owners', () => {
  const owners = async (): Promise<readonly unknown[]> =>
    ((await child())?.metadata.ownerReferences ?? []).map(({ name }) => name)

  /** The second owner's controller knows nothing of the child. */
  async function startWithTwoOwners(): Promise<void> {
    await startWithChild()
    await env.apply(ConfigMap, { metadata: { name: 'other' }, data: {} })
    const other = await env.get(ConfigMap, 'other')
    const ownerReferences = [
      ...((await child())?.metadata.ownerReferences ?? []),
      { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: other?.metadata.uid ?? '' },
    ]
    await env.patch(ConfigMap, 'child', { metadata: { ownerReferences } })
    await env.settle()
  }

  it.each(['Background', 'Foreground'] as const)('A32 stays with the other when one is deleted, %s', async (how) => {
    await startWithTwoOwners()
    await env.delete(Widget, 'w', { propagation: how })
    await env.settle()
    expect(await env.get(Widget, 'w')).toBeUndefined()
    expect((await child())?.metadata).not.toHaveProperty('deletionTimestamp')
    expect(await owners()).toContain('other')
  })

  it('A32 goes with the last of them', async () => {
    await startWithTwoOwners()
    await env.delete(Widget, 'w', { propagation: 'Foreground' })
    await env.settle()
    await env.delete(ConfigMap, 'other')
    await env.settle()
    expect(await child()).toBeUndefined()
  })

  it('A32 that gets another in the moment when it is to go stays', async () => {
    await startWithChild()
    await env.apply(ConfigMap, { metadata: { name: 'other' }, data: {} })
    const other = await env.get(ConfigMap, 'other')
    const adopted = { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: other?.metadata.uid ?? '' }
    // Nobody but the garbage collector asks for an owner outside of all namespaces, as one could be.
    env.faults.once('store.get', { kind: 'delay', ms: 1_000 }, ([key]) => isOwnerOutside(key as ObjectKey))
    await env.delete(Widget, 'w')
    await env.settle()
    await env.patch(ConfigMap, 'child', { metadata: { ownerReferences: [adopted] } })
    await env.advance('1m')
    expect((await child())?.metadata).not.toHaveProperty('deletionTimestamp')
  })
})

function isOwnerOutside({ kind, namespace }: ObjectKey): boolean {
  return kind === 'Widget' && namespace === ''
}
