import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { defineKind, defineReconciler, done } from '../../shared/index.ts'
import { runLocalProcess } from '../../shared/runtime/local/process.ts'

/** The program behind `npm start` with a reconciler that ends the process for some objects: their specs say how. */
const Vial = defineKind({
  group: 'test.setpoint.dev',
  version: 'v1',
  kind: 'Vial',
  spec: z.object({ content: z.enum(['water', 'throws', 'exits', 'slow']) }),
  status: z.object({ content: z.string() }),
})

const reconciler = defineReconciler(Vial, {
  reconcile: async ({ spec: { content } }) => {
    if (content === 'throws') setTimeout(raise, 50)
    if (content === 'exits') process.exit(0)
    await sleep(content === 'water' ? 0 : content === 'slow' ? 1_000 : 60_000)
    return done({ status: { content } })
  },
})

function raise(): never {
  throw new Error('a timer that nobody watches')
}

await runLocalProcess(() => [reconciler])
