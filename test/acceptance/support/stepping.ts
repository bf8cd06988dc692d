import { again, ConfigMap, defineReconciler, done, type Context, type Controller } from '../../../shared/index.ts'
import { Widget } from './widgets.ts'

/** A reconciler of four steps in a module of its own, so that a test can have the module loaded anew. */

/** Where it got to, as no reconciler should note it. */
let remembered = 0

/** Reads in the child how far it got. */
export function stepping(): Controller {
  return stepper(async (ctx) => Number((await ctx.get(ConfigMap, 'child'))?.data?.['step'] ?? 0))
}

/** Remembers in a variable of its module how far it got. */
export function remembering(): Controller {
  return stepper(async () => remembered++)
}

function stepper(stepsDone: (ctx: Context) => Promise<number>): Controller {
  return defineReconciler(Widget, {
    grants: [{ kind: ConfigMap, access: 'write' }],
    reconcile: async (widget, ctx) => {
      const step = await stepsDone(ctx)
      if (step >= 4) return done({ status: { size: widget.spec.size } })
      await ctx.apply(ConfigMap, { metadata: { name: 'child' }, data: { step: String(step + 1) } })
      return again('10s')
    },
  })
}
