import * as z from 'zod'
import { ConfigMap, defineKind, defineReconciler, done, type Controller } from 'setpoint'

export const Greeting = defineKind({
  group: 'example.dev',
  version: 'v1',
  kind: 'Greeting',
  spec: z.object({ name: z.string().min(1) }),
  status: z.object({ text: z.string() }),
})

export const greetings: Controller = defineReconciler(Greeting, {
  owns: [ConfigMap],
  async reconcile(greeting, ctx) {
    const text = `Hello, ${greeting.spec.name}!`
    await ctx.apply(ConfigMap, { metadata: { name: greeting.metadata.name }, data: { text } })
    return done({ status: { text } })
  },
})
