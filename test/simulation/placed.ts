import { keyOf, type ObjectKey } from '../../shared/model/object-key.ts'
import type { StoredObject } from '../../shared/model/stored-object.ts'
import { createSeededRandom } from '../../shared/testing/seeded-random.ts'
import { presentSpecOf } from './kinds/relic.ts'
import type { KindName, Scenario } from './scenario.ts'
import { simGroup } from './addresses.ts'
import { beginMs } from './world.ts'

interface Placed {
  readonly stored: StoredObject
  /** The object itself, and those it refers to. */
  readonly targets: readonly [ObjectKey, ...ObjectKey[]]
}

/** What was there before, and nobody is told of. */
export function placedIn(scenario: Scenario): readonly Placed[] {
  return [
    ...(scenario.misfit === true ? [createMisfit(scenario.seed)] : []),
    ...(scenario.relics === true ? relicsOf(scenario) : []),
    ...(scenario.tenants === true ? tenantsOf(scenario) : []),
    ...herdOf(scenario),
  ]
}

/** Relics that were stored in the version of before, at rest. */
function relicsOf({ seed }: Scenario): readonly Placed[] {
  const random = createSeededRandom(seed).fork('relic items')
  return relicNames.map((name, i) => {
    const object = {
      apiVersion: `${simGroup}/v1alpha1`,
      kind: 'Relic',
      metadata: metadataOf(name, random.uuid(), i),
      spec: { size: `${i + 2}x5` },
      status: { covers: String(5 * (i + 2)), ...reconciled() },
    }
    return { stored: { object, engine: {} }, targets: [keyOf(object)] }
  })
}

function placedRelicOf(name: string): string | undefined {
  const i = (relicNames as readonly string[]).indexOf(name)
  return i < 0 ? undefined : JSON.stringify({ spec: presentSpecOf({ size: `${i + 2}x5` }) })
}

export const relicNames = ['relic-0', 'relic-1', 'relic-2'] as const

/** Tenants that were stored in the version of before, at rest. */
function tenantsOf({ seed }: Scenario): readonly Placed[] {
  const random = createSeededRandom(seed).fork('tenant items')
  return tenantNames.map((name, i) => {
    const object = {
      apiVersion: `${simGroup}/v1alpha1`,
      kind: 'Tenant',
      metadata: metadataOf(name, random.uuid(), i),
      spec: { amount: String(i + 1) },
      status: { amount: String(i + 1), ...reconciled() },
    }
    return { stored: { object, engine: {} }, targets: [keyOf(object)] }
  })
}

export const tenantNames = ['tenant-old', 'tenant-older'] as const

function placedTenantOf(name: string): string | undefined {
  const i = (tenantNames as readonly string[]).indexOf(name)
  return i < 0 ? undefined : JSON.stringify({ spec: { value: i + 1 } })
}

/** What is said in the beginning, as the present version of its kind has it, by what was there before. */
export function placedAs(kind: KindName, name: string): string | undefined {
  if (kind === 'Relic') return placedRelicOf(name)
  return kind === 'Tenant' ? placedTenantOf(name) : undefined
}

function metadataOf(name: string, uid: string, order: number) {
  return {
    name,
    namespace: 'default',
    uid,
    resourceVersion: String(beginMs * 1_000 + order),
    generation: 1,
    creationTimestamp: new Date(beginMs).toISOString(),
  }
}

function reconciled() {
  const lastTransitionTime = new Date(beginMs).toISOString()
  const ready = { type: 'Ready', status: 'True', reason: 'Reconciled', message: '', observedGeneration: 1 }
  return { conditions: [{ ...ready, lastTransitionTime }], observedGeneration: 1 }
}

export const misfitName = 'misfit'

/** A Gadget that was stored under a schema by which its value was a text. */
function createMisfit(seed: number): Placed {
  const random = createSeededRandom(seed).fork('misfit item')
  const metadata = metadataOf(misfitName, random.uuid(), 0)
  const object = { apiVersion: `${simGroup}/v1`, kind: 'Gadget', metadata, spec: { value: 'seven', mood: 'plain' } }
  return { stored: { object, engine: {} }, targets: [keyOf(object)] }
}

/** Links that were there before, at rest; with whom they refer to. */
function herdOf({ seed, herd }: Scenario): readonly Placed[] {
  const random = createSeededRandom(seed)
  const settings = { group: '', kind: 'ConfigMap', namespace: 'default', name: 'settings0' }
  return Array.from({ length: herd }, (_, i) => {
    const object = {
      apiVersion: `${simGroup}/v1`,
      kind: 'Link',
      metadata: metadataOf(`herd-${i}`, random.uuid(), i),
      spec: { to: settings.name },
      status: { seen: 'nothing', ...reconciled() },
    }
    return { stored: { object, engine: {} }, targets: [keyOf(object), settings] as const }
  })
}
