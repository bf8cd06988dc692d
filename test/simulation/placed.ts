import { keyOf, type ObjectKey } from '../../shared/model/object-key.ts'
import type { StoredObject } from '../../shared/model/stored-object.ts'
import { createSeededRandom } from '../../shared/testing/seeded-random.ts'
import type { Scenario } from './scenario.ts'
import { simGroup } from './users.ts'
import { beginMs } from './world.ts'

interface Placed {
  readonly stored: StoredObject
  /** The object itself, and those it refers to. */
  readonly targets: readonly [ObjectKey, ...ObjectKey[]]
}

/** What was there before, and nobody is told of. */
export function placedIn(scenario: Scenario): readonly Placed[] {
  return [...(scenario.misfit === true ? [createMisfit(scenario.seed)] : []), ...herdOf(scenario)]
}

export const misfitName = 'misfit'

/** A Gadget that was stored under a schema by which its value was a text. */
function createMisfit(seed: number): Placed {
  const random = createSeededRandom(seed).fork('misfit item')
  const at = new Date(beginMs).toISOString()
  const metadata = {
    name: misfitName,
    namespace: 'default',
    uid: random.uuid(),
    resourceVersion: String(beginMs * 1_000),
    generation: 1,
    creationTimestamp: at,
  }
  const object = { apiVersion: `${simGroup}/v1`, kind: 'Gadget', metadata, spec: { value: 'seven', mood: 'plain' } }
  return { stored: { object, engine: {} }, targets: [keyOf(object)] }
}

/** Links that were there before, at rest; with whom they refer to. */
function herdOf({ seed, herd }: Scenario): readonly Placed[] {
  const random = createSeededRandom(seed)
  const settings = { group: '', kind: 'ConfigMap', namespace: 'default', name: 'settings0' }
  return Array.from({ length: herd }, (_, i) => {
    const at = new Date(beginMs).toISOString()
    const object = {
      apiVersion: `${simGroup}/v1`,
      kind: 'Link',
      metadata: {
        name: `herd-${i}`,
        namespace: 'default',
        uid: random.uuid(),
        resourceVersion: String(beginMs * 1_000 + i),
        generation: 1,
        creationTimestamp: at,
      },
      spec: { to: settings.name },
      status: {
        seen: 'nothing',
        conditions: [
          {
            type: 'Ready',
            status: 'True',
            reason: 'Reconciled',
            message: '',
            lastTransitionTime: at,
            observedGeneration: 1,
          },
        ],
        observedGeneration: 1,
      },
    }
    return { stored: { object, engine: {} }, targets: [keyOf(object), settings] as const }
  })
}
