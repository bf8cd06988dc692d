import * as z from 'zod'
import { defineKind, defineReconciler, done, type Controller } from 'setpoint'

const Counter = defineKind({
  group: 'example.dev',
  version: 'v1',
  kind: 'Counter',
  spec: z.object({
    to: z.number().int(),
    /** Whether it is counted by the role of its namespace. */
    byRole: z.boolean().default(false),
  }),
  status: z.object({ counted: z.number().int(), keyId: z.string().optional() }),
})

/** With a clean-up, so that its objects cannot go without it. */
export const counters: Controller = defineReconciler(Counter, {
  async reconcile({ spec: { to, byRole } }, ctx) {
    if (!byRole) return done({ status: { counted: to } })
    const { accessKeyId } = await ctx.outside.assumeRole()
    return done({ status: { counted: to, keyId: accessKeyId } })
  },
  cleanup: async () => done(),
})
