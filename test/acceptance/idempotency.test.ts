import { afterEach, describe, expect, it } from 'vitest'
import { ConfigMap, defineReconciler, done, type ConfigMapObject, type Controller } from '../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { Widget } from './support/widgets.ts'

/** A pure builder, and the reconciler around it. */
function configOf({
  spec,
}: {
  readonly spec: { readonly size: number; readonly color?: string | undefined }
}): Readonly<Record<string, string>> {
  return { size: String(spec.size), color: spec.color ?? 'none' }
}

/** An external system with a log of what was written to it. */
function createVendor() {
  const sizes = new Map<string, number>()
  const writes: string[] = []
  return {
    writes,
    read: async (uid: string) => sizes.get(uid),
    write: async (uid: string, size: number) => {
      sizes.set(uid, size)
      writes.push(`${size}`)
    },
  }
}

function widgets(vendor = createVendor()): Controller {
  return defineReconciler(Widget, {
    owns: [ConfigMap],
    async reconcile(widget, ctx) {
      if ((await vendor.read(widget.metadata.uid)) !== widget.spec.size)
        await vendor.write(widget.metadata.uid, widget.spec.size)
      await ctx.apply(ConfigMap, { metadata: { name: widget.metadata.name }, data: configOf(widget) })
      return done({ status: { size: widget.spec.size } })
    },
  })
}

let env: TestEnv
afterEach(() => env.close())

const runAgain = async (token: string): Promise<void> => {
  await env.patch(Widget, 'w', { metadata: { annotations: { 'setpoint.dev/reconcile-requested-at': token } } })
  await env.settle()
}

describe('a reconciler', () => {
  it('A20 writes nothing outside after its first run, though it runs ten times more', async () => {
    const vendor = createVendor()
    env = await createTestEnv({ reconcilers: [widgets(vendor)] })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: { size: 3 } })
    await env.settle()
    for (let i = 0; i < 10; i++) await runAgain(`again ${i}`)
    expect(vendor.writes).toEqual(['3'])
  })

  it('D5 A33 keeps the fields of others in what it applies, and takes its own back', async () => {
    env = await createTestEnv({ reconcilers: [widgets()] })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: { size: 3 } })
    await env.settle()
    await env.patch(ConfigMap, 'w', { data: { theirs: 'kept', size: '99' } }, { manager: 'somebody' })
    await env.settle()
    expect((await env.get(ConfigMap, 'w')) as ConfigMapObject).toMatchObject({
      data: { theirs: 'kept', size: '3', color: 'none' },
    })
  })

  it('D21 meets a stale status without anybody hearing of it: the write is made again on the newest version', async () => {
    env = await createTestEnv({ reconcilers: [widgets()] })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: { size: 3 } })
    await env.settle()
    let isFirst = true
    const isStatus = (args: readonly unknown[]): boolean => isFirst && (args[1] as readonly string[]).includes('status')
    env.faults.once('store.replace', { kind: 'delay', ms: 1_000 }, (args) => isStatus(args) && !(isFirst = false))
    await env.patch(Widget, 'w', { spec: { size: 4 } })
    await env.advance('100ms')
    await env.patch(Widget, 'w', { metadata: { labels: { by: 'somebody' } } })
    await env.advance('1m')
    expect(await env.get(Widget, 'w')).toMatchObject({
      status: { size: 4, observedGeneration: 2 },
      metadata: { labels: { by: 'somebody' } },
    })
    expect(env.logs.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([])
  })
})
