import * as z from 'zod'
import { defineKind, defineReconciler, done, type Controller } from '../../shared/index.ts'
import { runLocalProcess } from '../../shared/runtime/local/process.ts'

/**
 * The program behind `npm start` with definitions that cannot work, or a module with a bug in it: `WRONG` says which.
 */
const Gadget = defineKind({ group: 'test.setpoint.dev', version: 'v1', kind: 'Gadget', spec: z.object({}) })

function gadgets(name: string, concurrency = 1): Controller {
  return defineReconciler(Gadget, { name, concurrency, reconcile: async () => done() })
}

const wrong: Readonly<Record<string, () => readonly Controller[]>> = {
  twice: () => [gadgets('one'), gadgets('other')],
  concurrency: () => [gadgets('one', 0)],
  bug: () => {
    throw new TypeError('nobody has thought of this')
  },
}

await runLocalProcess(() => wrong[process.env['WRONG'] ?? '']?.() ?? [])
