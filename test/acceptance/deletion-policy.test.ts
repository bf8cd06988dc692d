import { afterEach, describe, expect, it } from 'vitest'
import { ConfigMap, defineReconciler, done, type Controller, type DeletionPolicy } from '../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { conditionOfWidget, Widget } from './support/widgets.ts'

/** What becomes of what is outside when its object goes (F113). */

let env: TestEnv
/** What there is outside, by the name of its object. */
let outside: Set<string>
let cleanups: number
let isAway: boolean
afterEach(() => env.close())

function widgets(deletionPolicy?: DeletionPolicy): Controller {
  return defineReconciler(Widget, {
    owns: [ConfigMap],
    ...(deletionPolicy && { deletionPolicy }),
    async reconcile({ metadata: { name } }, ctx) {
      outside.add(name)
      await ctx.apply(ConfigMap, { metadata: { name }, data: {} })
      return done()
    },
    async cleanup({ metadata: { name } }) {
      cleanups++
      if (isAway) throw new Error('the far side is away')
      outside.delete(name)
      return done()
    },
  })
}

async function start(deletionPolicy?: DeletionPolicy): Promise<void> {
  outside = new Set()
  cleanups = 0
  isAway = false
  env = await createTestEnv({ reconcilers: [widgets(deletionPolicy)] })
  await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
  await env.settle()
}

const annotate = (policy: string | null): Promise<unknown> =>
  env.patch(Widget, 'w', { metadata: { annotations: { 'setpoint.dev/deletion-policy': policy } } })

async function deleteIt(): Promise<void> {
  await env.delete(Widget, 'w')
  await env.settle()
}

describe('the deletion policy', () => {
  const rows: readonly {
    readonly controller: DeletionPolicy | undefined
    readonly object: string | null
    readonly stays: boolean
    readonly because: string
  }[] = [
    { controller: undefined, object: null, stays: false, because: 'Delete is the default' },
    { controller: 'Delete', object: null, stays: false, because: 'the controller says so' },
    { controller: 'Retain', object: null, stays: true, because: 'the controller says so' },
    { controller: 'Delete', object: 'Retain', stays: true, because: 'the object knows better' },
    { controller: 'Retain', object: 'Delete', stays: false, because: 'the object knows better' },
  ]

  it.each(rows)('$controller, of the object $object: outside stays: $stays: $because', async (row) => {
    await start(row.controller)
    await annotate(row.object)
    await deleteIt()
    expect([...outside]).toEqual(row.stays ? ['w'] : [])
    expect(cleanups).toBe(row.stays ? 0 : 1)
    expect(await env.get(Widget, 'w')).toBeUndefined()
    // Children in the control plane are not what it is about.
    expect(await env.get(ConfigMap, 'w')).toBeUndefined()
  })

  it('tells of what it leaves behind, since nobody else will', async () => {
    await start('Retain')
    await deleteIt()
    expect(await env.page('/api/v1/namespaces/default/events')).toContain('"reason":"Retained"')
  })

  it('that cannot be read deletes nothing: the object waits until it is mended', async () => {
    await start()
    await annotate('retian')
    await deleteIt()
    expect([...outside]).toEqual(['w'])
    expect(await conditionOfWidget(env, 'Stalled')).toMatchObject({
      reason: 'DeletionPolicyInvalid',
      message: 'setpoint.dev/deletion-policy is "retian", and not Delete or Retain',
    })
    await annotate('Retain')
    await env.settle()
    expect(await env.get(Widget, 'w')).toBeUndefined()
    expect([...outside]).toEqual(['w'])
  })

  it('may be changed while the clean-up is tried in vain, which lets the object go at once', async () => {
    await start()
    isAway = true
    await deleteIt()
    expect(await conditionOfWidget(env, 'Ready')).toMatchObject({ message: 'the far side is away' })
    await env.advance('10m')
    await annotate('Retain')
    await env.settle()
    expect(await env.get(Widget, 'w')).toBeUndefined()
    expect([...outside]).toEqual(['w'])
  })

  it('is told by explain while it is carried out', async () => {
    await start('Retain')
    await env.delete(Widget, 'w')
    expect(await env.explain(Widget, 'w')).toContain('leaves what it made outside, as its policy says')
  })

  it('decides nothing without a clean-up, and is refused', () => {
    const reconcile = async () => done()
    // @ts-expect-error -- there is nothing to decide
    expect(() => defineReconciler(Widget, { deletionPolicy: 'Retain', reconcile })).toThrow(TypeError)
  })
})
