import * as z from 'zod'
import { defineKind, defineReconciler, done, type Controller } from 'setpoint'

const Counter = defineKind({
  group: 'example.dev',
  version: 'v1',
  kind: 'Counter',
  spec: z.object({ to: z.number().int() }),
  status: z.object({ counted: z.number().int() }),
})

/** With a clean-up, so that its objects cannot go without it. */
export const counters: Controller = defineReconciler(Counter, {
  reconcile: async ({ spec: { to } }) => done({ status: { counted: to } }),
  cleanup: async () => done(),
})
