import { afterEach, describe, expect, it } from 'vitest'
import { ConfigMap, defineReconciler, done, type ConfigMapObject, type Controller } from '../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { writesOf } from './support/primary.ts'
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
  let reads = 0
  return {
    writes,
    reads: () => reads,
    read: async (uid: string) => {
      reads++
      return sizes.get(uid)
    },
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
    const before = { reads: vendor.reads(), children: writesOf(env, 'ConfigMap', 'w').length }
    for (let i = 0; i < 10; i++) await runAgain(`again ${i}`)
    expect(vendor.reads() - before.reads).toBeGreaterThanOrEqual(10)
    expect(vendor.writes).toEqual(['3'])
    expect(writesOf(env, 'ConfigMap', 'w')).toHaveLength(before.children)
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
    await env.patch(Widget, 'w', { spec: { size: 4 } })
    await env.settle()
    expect(await env.get(ConfigMap, 'w')).toMatchObject({ data: { theirs: 'kept', size: '4' } })
  })

  it('D5 A33 a field that it applies no more goes, the fields of others stay, and who has which is on record', async () => {
    let hasColor = true
    const coloring = defineReconciler(Widget, {
      owns: [ConfigMap],
      reconcile: async ({ metadata: { name } }, ctx) => {
        await ctx.apply(ConfigMap, { metadata: { name }, data: { size: '1', ...(hasColor && { color: 'blue' }) } })
        return done()
      },
    })
    env = await createTestEnv({ reconcilers: [coloring] })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
    await env.settle()
    const applied = (await env.get(ConfigMap, 'w')) as ConfigMapObject
    expect(applied.data).toEqual({ size: '1', color: 'blue' })
    expect(applied.metadata.managedFields).toMatchObject([{ manager: 'widget', operation: 'Apply' }])
    await env.patch(ConfigMap, 'w', { data: { theirs: 'kept' } }, { manager: 'somebody' })
    await env.settle()
    hasColor = false
    await runAgain('without the color')
    const after = (await env.get(ConfigMap, 'w')) as ConfigMapObject
    expect(after.data).toEqual({ size: '1', theirs: 'kept' })
    expect(after.metadata.managedFields?.map(({ manager }) => manager).toSorted()).toEqual(['somebody', 'widget'])
  })

  it('D5 A33 a conflict over a field is told to who applies without force, and names who has it', async () => {
    env = await createTestEnv({ reconcilers: [widgets()] })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: { size: 3 } })
    await env.settle()
    const apply = (query: Readonly<Record<string, string>>) =>
      env.api({
        method: 'PATCH',
        path: '/api/v1/namespaces/default/configmaps/w',
        query: new URLSearchParams({ fieldManager: 'somebody', ...query }),
        header: (name) => (name === 'content-type' ? 'application/apply-patch+yaml' : undefined),
        fieldsUnder: () => [],
        body: async () =>
          new TextEncoder().encode(
            JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'w' }, data: { size: '99' } }),
          ),
        signal: new AbortController().signal,
      })
    const refused = await apply({})
    expect(refused.status).toBe(409)
    expect(JSON.parse(String(refused.body))).toMatchObject({
      reason: 'Conflict',
      message: expect.stringContaining('"widget"'),
    })
    expect(await env.get(ConfigMap, 'w')).toMatchObject({ data: { size: '3' } })
    expect((await apply({ force: 'true' })).status).toBe(200)
    await env.settle()
    // The reconciler has declared the field, and takes it back.
    expect(await env.get(ConfigMap, 'w')).toMatchObject({ data: { size: '3' } })
  })

  it('D21 meets a stale status without anybody hearing of it: the write is made again on the newest version', async () => {
    env = await createTestEnv({ reconcilers: [widgets()] })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: { size: 3 } })
    await env.settle()
    const statusWrites = (): number =>
      writesOf(env, 'Widget', 'w').filter(({ touched }) => touched.includes('status')).length
    const before = statusWrites()
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
    // The stale one was refused, and this is the one that came after it.
    expect(statusWrites() - before).toBeGreaterThan(1)
    expect(env.logs.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([])
  })
})
