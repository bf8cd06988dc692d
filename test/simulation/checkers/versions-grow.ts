import { equal } from '../../../shared/model/json.ts'
import type { RemovedRecord } from '../../../shared/engine/state/removed-record.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import { presentSpecOf } from '../kinds/relic.ts'
import { presentTenantSpecOf } from '../kinds/tenant.ts'
import { named, type Checker, type Scene } from './checker.ts'

/** Versions only grow: resourceVersion with every write, generation with the desired state and with nothing else. */
export function createVersionsGrow({ users, report }: Scene): Checker {
  return {
    write: ({ before, after, touched }) => {
      if (before === undefined) return
      const [was, is] = [before.object.metadata, after.object.metadata]
      if (was.uid !== is.uid) report(`versions grow: ${named(after)} changes its uid`)
      if (Number(is.resourceVersion) <= Number(was.resourceVersion))
        report(`versions grow: ${named(after)} goes from version ${was.resourceVersion} to ${is.resourceVersion}`)
      const isNew =
        !equal(wantedBy(before), wantedBy(after)) ||
        // One more object is what a record of removed objects has to do.
        removedIn(after) > removedIn(before) ||
        (was.deletionTimestamp === undefined && is.deletionTimestamp !== undefined)
      const hasGeneration = was.generation !== undefined
      if (
        hasGeneration &&
        is.generation - was.generation !== (isNew ? 1 : 0) &&
        !['ConfigMap', 'Secret', 'Event', 'Namespace'].includes(after.object.kind)
      )
        report(
          `versions grow: ${named(after)} goes from generation ${was.generation} to ${is.generation}, touching ${touched.join(', ')}`,
        )
      const isClaimed = users.meddled.dubbed.has(is.uid)
      if (Number(after.object.status?.['observedGeneration'] ?? 0) > is.generation && !isClaimed)
        report(`versions grow: ${named(after)} observed a generation that there is not`)
    },
  }
}

/** The spec, whatever version it is stored in; the configurations of webhooks have none. */
function wantedBy({ object }: StoredObject): unknown {
  const { kind, spec } = object
  if (kind === 'Tenant' && spec !== undefined) return presentTenantSpecOf(spec)
  return kind === 'Relic' && spec !== undefined ? presentSpecOf(spec) : (spec ?? object['webhooks'])
}

function removedIn({ object }: StoredObject): number {
  return (object as Partial<RemovedRecord>).removed?.length ?? 0
}
