import * as z from 'zod'
import { defineKind, defineReconciler, done, type Controller, type JsonObject } from '../../../shared/index.ts'
import type { Life } from '../life.ts'
import type { RunWatcher } from '../runs.ts'

/** A kind that had another shape before. Only the present one has notes. */
export const Relic = defineKind({
  group: 'simulation.setpoint.dev',
  version: 'v1',
  kind: 'Relic',
  spec: z.object({ width: z.number().int(), height: z.number().int(), note: z.string().optional() }),
  status: z.object({ area: z.number().int() }),
  olderVersions: (older) => [
    older('v1alpha1', {
      spec: z.object({ size: z.string() }),
      status: z.object({ covers: z.string() }),
      upgrade: ({ spec, status }) => ({
        spec: sidesOf(spec.size),
        ...(status?.covers !== undefined && { status: { area: Number(status.covers) } }),
      }),
      downgrade: ({ spec, status }) => ({
        spec: { size: `${spec.width}x${spec.height}` },
        ...(status?.area !== undefined && { status: { covers: String(status.area) } }),
      }),
    }),
  ],
})

/** The same as the version of the code before has it, which stores it in the version that it knows as its own. */
const RelicBefore = defineKind({
  group: 'simulation.setpoint.dev',
  version: 'v1alpha1',
  kind: 'Relic',
  spec: z.object({ size: z.string() }),
  status: z.object({ covers: z.string() }),
  olderVersions: (older) => [
    older('v1', {
      spec: z.object({ width: z.number().int(), height: z.number().int(), note: z.string().optional() }),
      status: z.object({ area: z.number().int() }),
      upgrade: ({ spec, status }) => ({
        spec: { size: `${spec.width}x${spec.height}` },
        ...(status?.area !== undefined && { status: { covers: String(status.area) } }),
      }),
      downgrade: ({ spec, status }) => ({
        spec: sidesOf(spec.size),
        ...(status?.covers !== undefined && { status: { area: Number(status.covers) } }),
      }),
    }),
  ],
})

interface Sides {
  readonly width: number
  readonly height: number
}

function sidesOf(size: string): Sides {
  const [width = 0, height = 0] = size.split('x').map(Number)
  return { width, height }
}

/** A spec of either version as the present one has it, its fields in one order. */
export function presentSpecOf(spec: JsonObject): JsonObject {
  const { width, height } = typeof spec['size'] === 'string' ? sidesOf(spec['size']) : (spec as unknown as Sides)
  return { width, height, ...(spec['note'] === undefined ? {} : { note: spec['note'] }) }
}

export interface RelicOptions {
  readonly life: Life
  readonly watcher: RunWatcher
  readonly resync: `${number}m` | false
  /** Two versions of the code run, and each stores its own version of the kind. */
  readonly isDeploying: boolean
}

export function relicController({ life, watcher, resync, isDeploying }: RelicOptions): Controller {
  if (isDeploying && life.version === 1)
    return defineReconciler(RelicBefore, {
      resync,
      timeout: '30s',
      reconcile: (relic, ctx) =>
        watcher.run('reconcile', relic, life, async () => {
          ctx.signal.throwIfAborted()
          const { width, height } = sidesOf(relic.spec.size)
          return done({ status: { covers: String(width * height) } })
        }),
    })
  return defineReconciler(Relic, {
    resync,
    timeout: '30s',
    reconcile: (relic, ctx) =>
      watcher.run('reconcile', relic, life, async () => {
        ctx.signal.throwIfAborted()
        return done({ status: { area: relic.spec.width * relic.spec.height } })
      }),
  })
}
