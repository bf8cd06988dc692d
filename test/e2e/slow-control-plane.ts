import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { defineKind, defineReconciler, done } from '../../shared/index.ts'
import { runLocalProcess } from '../../shared/runtime/local/process.ts'

/**
 * The program behind `npm start` with a reconciler that ends in a minute, whatever its signal says, and leaves a
 * promise behind first; loading it takes as many milliseconds as `LOADS_MS` says.
 */
const Gadget = defineKind({ group: 'test.setpoint.dev', version: 'v1', kind: 'Gadget', spec: z.object({}) })

const reconciler = defineReconciler(Gadget, {
  reconcile: async ({ metadata: { name } }) => {
    process.stdout.write(`reconcile of ${name} begins\n`)
    void Promise.reject(new Error(`nobody waits for ${name}`))
    await sleep(60_000)
    return done()
  },
})

await runLocalProcess(async () => {
  await sleep(Number(process.env['LOADS_MS'] ?? 0))
  return [reconciler]
})
