import { afterEach, expect, it } from 'vitest'
import { defineReconciler, done, type Controller } from '../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { Widget } from './support/widgets.ts'

let env: TestEnv
afterEach(() => env.close())

/** It makes something outside, notes its id, and takes it away by that. */
function makeOutside(outside: Set<string>): Controller {
  return defineReconciler(Widget, {
    finalizer: 'example.com/of-version-2',
    resync: '10m',
    reconcile: async ({ metadata: { uid } }, ctx) => {
      if (ctx.notes.get('id') !== undefined) return done()
      outside.add(uid)
      ctx.notes.set('id', uid)
      await ctx.notes.keep()
      return done()
    },
    cleanup: async (_, ctx) => {
      outside.delete(String(ctx.notes.get('id')))
      return done()
    },
  })
}

const reconcile = async () => done()
const versions1 = {
  'has no clean-up': () => defineReconciler(Widget, { reconcile }),
  'has a finalizer of another name': () =>
    defineReconciler(Widget, { reconcile, cleanup: async () => done(), finalizer: 'example.com/of-version-1' }),
}

// The finalizer stands for what is outside, whichever version of the code comes to it.
it.each(Object.entries(versions1))(
  'what is outside goes with its object that was deleted while a version ran that %s',
  async (_, version1) => {
    const outside = new Set<string>()
    env = await createTestEnv({ reconcilers: [makeOutside(outside)] })
    await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
    await env.settle()
    expect(outside.size).toBe(1)
    await env.crash([version1()])
    await env.delete(Widget, 'w')
    await env.advance('1m')
    expect(outside.size).toBe(1)
    await env.crash([makeOutside(outside)])
    await env.advance('15m')
    expect([...outside, (await env.get(Widget, 'w'))?.metadata.finalizers]).toEqual([undefined])
  },
)
