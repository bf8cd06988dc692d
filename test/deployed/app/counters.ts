import * as z from 'zod'
import { defineKind, defineReconciler, done, secretTarget, type Controller } from 'setpoint'

const Counter = defineKind({
  group: 'example.dev',
  version: 'v1',
  kind: 'Counter',
  spec: z.object({
    to: z.number().int(),
    /** Whether it is counted by the role of its namespace. */
    byRole: z.boolean().default(false),
    /** Where in AWS it is noted what was counted. */
    keepIn: secretTarget.optional(),
  }),
  status: z.object({ counted: z.number().int(), keyId: z.string().optional() }),
})

/** With a clean-up, so that its objects cannot go without it. */
export const counters: Controller = defineReconciler(Counter, {
  vault: { writes: [{ secretsManager: 'made/{namespace}/' }] },
  async reconcile({ spec: { to, byRole, keepIn } }, ctx) {
    if (keepIn !== undefined) await ctx.outside.keepSecret(keepIn, { counted: String(to) })
    if (!byRole) return done({ status: { counted: to } })
    const { accessKeyId } = await ctx.outside.assumeRole()
    return done({ status: { counted: to, keyId: accessKeyId } })
  },
  async cleanup({ spec: { keepIn } }, ctx) {
    if (keepIn !== undefined) await ctx.outside.removeSecret(keepIn)
    return done()
  },
})
