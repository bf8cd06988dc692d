import * as z from 'zod'
import { defineKind, defineReconciler, done, type Controller } from '../../../shared/index.ts'
import type { Life } from '../life.ts'
import type { OutsideClient } from '../outside.ts'
import type { Pace } from './pace.ts'
import type { RunWatcher } from '../runs.ts'

/** An object that has no finalizer: its reconciler is told of it once more when it is gone. */
export const Witness = defineKind({
  group: 'simulation.setpoint.dev',
  version: 'v1',
  kind: 'Witness',
  spec: z.object({ value: z.number().int() }),
  status: z.object({ value: z.number().int() }),
})

/** Of every so many, the first of the last runs go on after their time, whatever they are told. */
const dawdling = 5

export interface WitnessOptions {
  readonly life: Life
  readonly outside: OutsideClient
  readonly watcher: RunWatcher
  readonly pace: Pace
}

export function witnessController({ life, outside, watcher, pace }: WitnessOptions): Controller {
  return defineReconciler(Witness, {
    ...pace,
    onRemoved: 'reconcile',
    resync: false,
    timeout: '30s',
    reconcile: (witness, ctx) =>
      watcher.run(ctx.removed ? 'cleanup' : 'reconcile', witness, life, async () => {
        const { uid } = witness.metadata
        const { value } = witness.spec
        if (ctx.removed) {
          if (value % dawdling === 0 && ctx.attempt < 2) await life.pass(35_000)
          await outside.remove(uid)
          if ((await outside.observe(uid)) !== undefined) throw new Error('outside has it still')
          return done()
        }
        await outside.put(uid, value)
        if ((await outside.observe(uid)) !== value) throw new Error('outside is not as it should be yet')
        return done({ status: { value } })
      }),
  })
}
