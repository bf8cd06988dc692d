import type { Controller } from '../../shared/index.ts'
import type { Rate } from '../../shared/model/reservations.ts'
import { crateController } from './kinds/crate.ts'
import { errandController } from './kinds/errand.ts'
import { gadgetController } from './kinds/gadget.ts'
import type { Pace } from './kinds/pace.ts'
import { kitController } from './kinds/kit.ts'
import { ledgerController } from './kinds/ledger.ts'
import { linkController } from './kinds/link.ts'
import { parcelController } from './kinds/parcel.ts'
import { passController } from './kinds/pass.ts'
import { relicController } from './kinds/relic.ts'
import { deedController } from './kinds/deed.ts'
import { tenantController } from './kinds/tenant.ts'
import { shelfController } from './kinds/shelf.ts'
import { trunkController } from './kinds/trunk.ts'
import { witnessController } from './kinds/witness.ts'
import type { Life } from './life.ts'
import type { OutsideClient } from './outside.ts'
import type { RegistryClient } from './registry.ts'
import type { RunWatcher } from './runs.ts'
import { runKinds, type KindName, type Scenario, type Slowed } from './scenario.ts'

export interface ReconcilersOptions {
  readonly life: Life
  readonly outside: OutsideClient
  /** Left out: there are no Deeds. */
  readonly registry?: RegistryClient
  readonly watcher: RunWatcher
  readonly isCalm: () => boolean
}

/** The kinds that a scenario has objects of, and ConfigMaps. */
export function kindsIn({ steps, herd }: Pick<Scenario, 'steps' | 'herd'>): readonly KindName[] {
  const has = (kind: KindName): boolean => steps.some((step) => step.kind === kind)
  return runKinds.filter((kind) => kind === 'Gadget' || has(kind) || (kind === 'Link' && herd > 0))
}

/** The reconcilers of the kinds that a scenario knows, as one process runs them. */
export function controllersFor(
  scenario: Scenario,
  { life, outside, registry, watcher, isCalm }: ReconcilersOptions,
): readonly Controller[] {
  const { resyncMinutes, limits = {}, slowed = {}, once, controls, slowLinks, statusLinks, deeds } = scenario
  const pauseMs = slowLinks === true ? 2_000 : 0
  const resync = resyncMinutes === 0 ? false : (`${resyncMinutes}m` as const)
  const kinds = kindsIn(scenario)
  const paceOf = (kind: KindName): Pace => paceBy(limits[kind], slowed[kind])
  return [
    gadgetController({
      life,
      outside,
      watcher,
      resync,
      isCalm,
      once: once === true,
      counts: controls === true,
      pace: paceOf('Gadget'),
    }),
    ...(kinds.includes('Link')
      ? [linkController({ life, watcher, resync, pace: paceOf('Link'), pauseMs, refersByStatus: statusLinks === true })]
      : []),
    ...(kinds.includes('Crate') ? [crateController({ life, watcher, resync, pace: paceOf('Crate') })] : []),
    ...(kinds.includes('Parcel') ? [parcelController({ life, outside, watcher, extras: scenario.parcels ?? {} })] : []),
    ...(deeds && registry ? [deedController({ life, registry, watcher, traits: deeds })] : []),
    ...(kinds.includes('Errand') ? [errandController({ life, watcher, resync })] : []),
    ...(kinds.includes('Ledger') ? [ledgerController({ life, watcher, resync })] : []),
    ...(kinds.includes('Shelf') ? [shelfController({ life, watcher, resync })] : []),
    ...(kinds.includes('Trunk') ? [trunkController({ life, watcher, resync })] : []),
    ...(kinds.includes('Kit') ? [kitController({ life, watcher, resync })] : []),
    ...(kinds.includes('Witness') ? [witnessController({ life, outside, watcher, pace: paceOf('Witness') })] : []),
    ...(kinds.includes('Tenant')
      ? [tenantController({ life, outside, watcher, isDeploying: scenario.climate.deploying })]
      : []),
    ...(kinds.includes('Pass') ? [passController({ life, watcher, resync })] : []),
    ...(kinds.includes('Relic')
      ? [relicController({ life, watcher, resync, isDeploying: scenario.climate.deploying })]
      : []),
  ]
}

function paceBy(controller?: Rate, { debounceSeconds, runs }: Slowed = {}): Pace {
  const object = runs && { runs: runs.most, within: `${runs.withinSeconds}s` as const }
  return {
    rateLimit: { ...(controller && { controller }), ...(object && { object }) },
    ...(debounceSeconds !== undefined && { debounce: `${debounceSeconds}s` as const }),
  }
}
