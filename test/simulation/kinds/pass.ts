import * as z from 'zod'
import { defineKind, defineReconciler, done, type Controller } from '../../../shared/index.ts'
import type { Life } from '../life.ts'
import type { RunWatcher } from '../runs.ts'

/** A kind whose author sees each write of its objects, completes them, and refuses some. */
export const Pass = defineKind({
  group: 'simulation.setpoint.dev',
  version: 'v1',
  kind: 'Pass',
  spec: z.object({ value: z.number().int(), tier: z.string().optional() }),
  status: z.object({ tier: z.string() }),
  default: ({ spec }) => ({ spec: { ...spec, tier: tierOf(spec.value) }, labels: { tier: tierOf(spec.value) } }),
  validate: ({ spec: { value } }, { operation, old }) => {
    if (operation === 'DELETE') return isLocked(value) ? ['it is locked'] : []
    if (isBarred(value)) return [{ field: 'spec.value', message: 'it is barred' }]
    return old !== undefined && value < old.spec.value ? [{ field: 'spec.value', message: 'it falls' }] : []
  },
})

export function tierOf(value: number): string {
  return value % 2 === 0 ? 'even' : 'odd'
}

/** No Pass may have such a value. */
export function isBarred(value: number): boolean {
  return value % 5 === 4
}

/** No user may delete a Pass of such a value. */
export function isLocked(value: number): boolean {
  return value % 3 === 0
}

export interface PassOptions {
  readonly life: Life
  readonly watcher: RunWatcher
  readonly resync: `${number}m` | false
}

export function passController({ life, watcher, resync }: PassOptions): Controller {
  return defineReconciler(withSlowHooks(life), {
    resync,
    timeout: '30s',
    reconcile: (pass, ctx) =>
      watcher.run('reconcile', pass, life, async () => {
        ctx.signal.throwIfAborted()
        return done({ status: { tier: String(pass.spec.tier) } })
      }),
  })
}

/** Others write while the hooks of this process are asked. */
function withSlowHooks(life: Life): typeof Pass {
  const { hooks = {} } = Pass
  const slowly = (ask: (typeof hooks)['default']): NonNullable<typeof ask> => {
    return async (object, context) => {
      await life.pass(100)
      return ask?.(object, context)
    }
  }
  return { ...Pass, hooks: { default: slowly(hooks.default), validate: slowly(hooks.validate) } }
}
