import * as z from 'zod'
import { ConfigMap, defineKind, defineReconciler, workflow, type Controller } from '../../../shared/index.ts'
import type { Life } from '../life.ts'
import type { RunWatcher } from '../runs.ts'
import { Gadget } from './gadget.ts'
import { watched } from './watched.ts'

/** An object whose children are a workflow: a plan first, and what is made by it behind. */
export const Kit = defineKind({
  group: 'simulation.setpoint.dev',
  version: 'v1',
  kind: 'Kit',
  spec: z.object({ value: z.number().int() }),
})

const parts = workflow(Kit, {
  plan: {
    kind: ConfigMap,
    desired: ({ metadata: { name }, spec }) => ({ metadata: { name }, data: { value: String(spec.value) } }),
  },
  // Not wanted for every third value.
  gadget: {
    kind: Gadget,
    dependsOn: ['plan'],
    wantedWhen: ({ spec }) => spec.value % 3 !== 0,
    desired: ({ metadata: { name }, spec }) => ({ metadata: { name: `${name}-0` }, spec: { value: spec.value } }),
    readyWhen: (gadget, { spec }) => gadget.status?.value === spec.value,
  },
})

/** Every third value wants none. */
export function wantsGadget(value: number): boolean {
  return value % 3 !== 0
}

export interface KitOptions {
  readonly life: Life
  readonly watcher: RunWatcher
  readonly resync: `${number}m` | false
}

export function kitController({ life, watcher, resync }: KitOptions): Controller {
  const { owns, reconcile, cleanup } = parts
  return watched(defineReconciler(Kit, { owns, reconcile, cleanup, resync, timeout: '30s' }), watcher, life)
}
