import * as z from 'zod'
import { defineKind, defineReconciler, done, waiting, type Controller } from '../../../shared/index.ts'
import type { Life } from '../life.ts'
import type { Pace } from './pace.ts'
import type { RunWatcher } from '../runs.ts'
import { Gadget } from './gadget.ts'

/** An object whose children have children, finalizers and entities of their own. */
export const Crate = defineKind({
  group: 'simulation.setpoint.dev',
  version: 'v1',
  kind: 'Crate',
  spec: z.object({ value: z.number().int(), size: z.number().int() }),
  status: z.object({ ready: z.number().int() }),
})

export interface CrateOptions {
  readonly life: Life
  readonly watcher: RunWatcher
  readonly resync: `${number}m` | false
  readonly pace: Pace
}

export function crateController({ life, watcher, resync, pace }: CrateOptions): Controller {
  return defineReconciler(Crate, {
    ...pace,
    owns: [Gadget],
    resync,
    timeout: '30s',
    reconcile: (crate, ctx) =>
      watcher.run('reconcile', crate, life, async () => {
        const { value, size } = crate.spec
        let ready = 0
        for (let i = 0; i < size; i++) {
          const name = `${crate.metadata.name}-${i}`
          const child = await ctx.apply(Gadget, { metadata: { name }, spec: { value: value * 10 + i } })
          if (child.status?.value === value * 10 + i) ready++
        }
        const surplus = (await ctx.children(Gadget)).filter(
          ({ metadata: { name } }) => Number(name.split('-').at(-1)) >= size,
        )
        for (const { metadata } of surplus) await ctx.delete(Gadget, metadata.name)
        return done({
          status: { ready },
          ready: ready === size ? true : waiting('Filling', 'its gadgets are not ready'),
        })
      }),
  })
}
