import * as z from 'zod'
import {
  ConfigMap,
  defineKind,
  defineReconciler,
  done,
  reference,
  type Controller,
  type ObjectOf,
} from '../../../shared/index.ts'
import type { Life } from '../life.ts'
import type { Pace } from './pace.ts'
import type { RunWatcher } from '../runs.ts'

/** An object that refers to a ConfigMap of somebody else, and shows what that says. */
export const Link = defineKind({
  group: 'simulation.setpoint.dev',
  version: 'v1',
  kind: 'Link',
  spec: z.object({ to: z.string() }),
  status: z.object({ seen: z.string(), to: z.string().optional() }),
})

type LinkObject = ObjectOf<typeof Link>

export interface LinkOptions {
  readonly life: Life
  readonly watcher: RunWatcher
  readonly resync: `${number}m` | false
  readonly pace: Pace
  /** How long it takes to say what it has seen. */
  readonly pauseMs: number
  /** It refers to what its status names, which a run has noted there. */
  readonly refersByStatus: boolean
}

export function linkController({ life, watcher, resync, pace, pauseMs, refersByStatus }: LinkOptions): Controller {
  return defineReconciler(Link, {
    ...pace,
    watches: [refersByStatus ? reference(ConfigMap, namedInStatus) : reference(ConfigMap, namedInSpec)],
    resync,
    timeout: '30s',
    reconcile: (link, ctx) =>
      watcher.run('reconcile', link, life, async () => {
        const target = await ctx.get(ConfigMap, link.spec.to)
        if (pauseMs > 0) await life.pass(pauseMs)
        const seen = target?.data?.['value'] ?? 'nothing'
        if (!refersByStatus) return done({ status: { seen } })
        return done({ status: { seen, to: link.spec.to } })
      }),
  })
}

function namedInSpec({ spec }: LinkObject): { readonly name: string } {
  return { name: spec.to }
}

function namedInStatus({ status }: LinkObject): { readonly name: string } | undefined {
  return status?.to === undefined ? undefined : { name: status.to }
}
