import { afterEach, describe, expect, it } from 'vitest'
import { ConfigMap, done, type ConfigMapObject } from '../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { Widget, widgets } from './support/widgets.ts'

/** Children go with their owner, in the way that is asked for. */

let env: TestEnv
afterEach(() => env.close())

const child = (): Promise<ConfigMapObject | undefined> => env.get(ConfigMap, 'child')

async function startWithChild(): Promise<void> {
  env = await createTestEnv({
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

  it('A32 deleted with orphan lets its child go', async () => {
    await startWithChild()
    await env.delete(Widget, 'w', { propagation: 'Orphan' })
    await env.advance('5s')
    expect(await env.get(Widget, 'w')).toBeUndefined()
    expect((await child())?.metadata).not.toHaveProperty('ownerReferences')
    await env.advance('1h')
    expect(await child()).toMatchObject({ data: { a: '1' } })
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
