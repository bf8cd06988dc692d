import type { Controller } from '../../shared/index.ts'
import { crateController } from './kinds/crate.ts'
import { gadgetController } from './kinds/gadget.ts'
import { linkController } from './kinds/link.ts'
import { witnessController } from './kinds/witness.ts'
import type { Life } from './life.ts'
import type { OutsideClient } from './outside.ts'
import type { RunWatcher } from './runs.ts'
import type { Scenario } from './scenario.ts'

export interface ReconcilersOptions {
  readonly life: Life
  readonly outside: OutsideClient
  readonly watcher: RunWatcher
  readonly isCalm: () => boolean
}

/** The reconcilers of the kinds that a scenario knows, as one process runs them. */
export function controllersFor(
  { steps, herd, resyncMinutes }: Scenario,
  { life, outside, watcher, isCalm }: ReconcilersOptions,
): readonly Controller[] {
  const resync = resyncMinutes === 0 ? false : (`${resyncMinutes}m` as const)
  const has = (kind: string): boolean => steps.some((step) => step.kind === kind)
  return [
    gadgetController({ life, outside, watcher, resync, isCalm }),
    ...(has('Link') || herd > 0 ? [linkController({ life, watcher, resync })] : []),
    ...(has('Crate') ? [crateController({ life, watcher, resync })] : []),
    ...(has('Witness') ? [witnessController({ life, outside, watcher })] : []),
  ]
}
