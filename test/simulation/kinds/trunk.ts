import * as z from 'zod'
import { defineKind, defineReconciler, done, type Controller } from '../../../shared/index.ts'
import type { Life } from '../life.ts'
import type { RunWatcher } from '../runs.ts'

/** An object that may be so large that its status has no room beside its spec. */
export const Trunk = defineKind({
  group: 'simulation.setpoint.dev',
  version: 'v1',
  kind: 'Trunk',
  spec: z.object({ value: z.number().int(), load: z.string() }),
  status: z.object({ value: z.number().int(), echo: z.string() }),
})

/** What a Trunk says in its status. */
export const echo = 'e'.repeat(1_000)

/** What a Trunk carries that leaves so many bytes of what an object may have; 0: next to nothing. */
export function loadOf(leftBytes: number): string {
  return leftBytes === 0 ? 'light' : 'x'.repeat(objectBytes - leftBytes)
}

export const objectBytes = 350 * 1_024

export interface TrunkOptions {
  readonly life: Life
  readonly watcher: RunWatcher
  readonly resync: `${number}m` | false
}

export function trunkController({ life, watcher, resync }: TrunkOptions): Controller {
  return defineReconciler(Trunk, {
    resync,
    timeout: '30s',
    reconcile: (trunk, ctx) =>
      watcher.run('reconcile', trunk, life, async () => {
        const { value } = trunk.spec
        if (ctx.notes.get('value') !== value) ctx.notes.set('value', value)
        if (value % 3 === 0) await ctx.notes.keep()
        await ctx.once('seen', async () => value, { of: value })
        return done({ status: { value, echo } })
      }),
    cleanup: (trunk) => watcher.run('cleanup', trunk, life, async () => done()),
  })
}
