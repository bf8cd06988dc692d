import { isObject } from '../../../shared/model/json.ts'
import { parseTimestamp } from '../../../shared/model/time.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import { isClear, objectsOf, type Checker, type Scene } from './checker.ts'

/**
 * Quotas: there are never more objects than the limit in force, which is the one of the last count, from the time on
 * when every process knows of it and has had what was made before counted; and in the end its status says how many
 * there are, and has the limit of its spec. A creation that is refused leaves nothing, which promise 1 looks at.
 */
export function createQuotas({ world, scenario, table, report }: Scene): Checker {
  /** Since when each quota has the limit in force: it limits nothing before the first count. */
  const inForce = new Map<string, { readonly most: number; readonly sinceMs: number }>()
  /** When there was one more or one less of what it counts. */
  const movedMs = new Map<string, number>()
  const knownMs = knownMsOf(scenario)

  const quotas = (): readonly StoredObject[] =>
    objectsOf(table, 'ResourceQuota').filter(({ object }) => object.metadata.deletionTimestamp === undefined)
  const within = ({ object: { metadata } }: StoredObject): readonly StoredObject[] =>
    objectsOf(table, 'ConfigMap').filter(({ object }) => object.metadata.namespace === metadata.namespace)

  /** Of what was made by those who know the quota there is never too much; where nothing goes wrong, of all. */
  const lookAt = (quota: StoredObject): void => {
    const { most, sinceMs } = inForce.get(quota.object.metadata.uid) ?? { most: Infinity, sinceMs: Infinity }
    const fromMs = sinceMs + knownMs
    const all = within(quota)
    const known = all.filter(({ object }) => (parseTimestamp(object.metadata.creationTimestamp) ?? 0) > fromMs)
    const isCounted = isClear(scenario) && world.nowMs() > fromMs + countMs
    const count = isCounted ? all.length : known.length
    if (count > most) report(`quotas: there are ${count} ConfigMaps, and ${most} may be`)
  }

  return {
    write: ({ type, after }) => {
      const { object } = after
      const { uid } = object.metadata
      const isCounted = object.kind === 'ResourceQuota' && part(after, 'status', 'hard')['configmaps'] !== undefined
      const most = hardOf(after, 'status')
      if (isCounted && inForce.get(uid)?.most !== most) inForce.set(uid, { most, sinceMs: world.nowMs() })
      if (type !== 'modified' || isCounted) movedMs.set(object.metadata.namespace ?? '', world.nowMs())
      if (type !== 'added' || object.kind !== 'ConfigMap') return
      for (const quota of quotas()) if (quota.object.metadata.namespace === object.metadata.namespace) lookAt(quota)
    },
    unmet: () =>
      quotas().flatMap((quota) => {
        const [wanted, holds] = [hardOf(quota, 'spec'), hardOf(quota, 'status')]
        if (wanted !== holds)
          return [`quotas: ${quota.object.metadata.name} allows ${holds}, and is to allow ${wanted}`]
        const [used, is] = [String(part(quota, 'status', 'used')['configmaps']), String(within(quota).length)]
        const agoMs = world.nowMs() - (movedMs.get(quota.object.metadata.namespace ?? '') ?? 0)
        if (used !== is && isClear(scenario) && agoMs > 2 * countMs)
          report(
            `quotas: ${quota.object.metadata.name} says ${used} are used, and there have been ${is} for ${agoMs} ms`,
          )
        return used === is ? [] : [`quotas: ${quota.object.metadata.name} says ${used} are used, and there are ${is}`]
      }),
  }
}

function part(
  { object }: StoredObject,
  field: 'spec' | 'status',
  name: 'hard' | 'used',
): Readonly<Record<string, unknown>> {
  const within = object[field]
  return isObject(within) && isObject(within[name]) ? within[name] : {}
}

function hardOf(quota: StoredObject, field: 'spec' | 'status'): number {
  return Number(part(quota, field, 'hard')['configmaps'] ?? Infinity)
}

/** Two counts, and the hold between them. */
const countMs = 180_000

/** Until every process knows of a quota, and has finished what it began before. */
function knownMsOf({ climate, local }: Scene['scenario']): number {
  const stillMs = climate.pause > 0 ? climate.pauseMsMax : 0
  if (local !== undefined) return 5_000 + 4 * climate.latencyMsMax + stillMs + 2 * climate.skewMsMax
  return 10_000 + 29_000 + 5_000 + 4 * climate.skewMsMax + 4 * climate.latencyMsMax
}
