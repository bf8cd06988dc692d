import * as z from 'zod'
import { ConfigMap, defineKind, defineReconciler, done, reference, type Controller } from '../../../shared/index.ts'
import type { Life } from '../life.ts'
import type { Pace } from './pace.ts'
import type { RunWatcher } from '../runs.ts'

/** An object that refers to a ConfigMap of somebody else, and shows what that says. */
export const Link = defineKind({
  group: 'simulation.setpoint.dev',
  version: 'v1',
  kind: 'Link',
  spec: z.object({ to: z.string() }),
  status: z.object({ seen: z.string() }),
})

export interface LinkOptions {
  readonly life: Life
  readonly watcher: RunWatcher
  readonly resync: `${number}m` | false
  readonly pace: Pace
  /** How long it takes to say what it has seen. */
  readonly pauseMs: number
}

export function linkController({ life, watcher, resync, pace, pauseMs }: LinkOptions): Controller {
  return defineReconciler(Link, {
    ...pace,
    watches: [reference(ConfigMap, ({ spec }) => ({ name: spec.to }))],
    resync,
    timeout: '30s',
    reconcile: (link, ctx) =>
      watcher.run('reconcile', link, life, async () => {
        const target = await ctx.get(ConfigMap, link.spec.to)
        if (pauseMs > 0) await life.pass(pauseMs)
        return done({ status: { seen: target?.data?.['value'] ?? 'nothing' } })
      }),
  })
}
