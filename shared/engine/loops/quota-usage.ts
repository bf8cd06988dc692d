import { keyOf, type ObjectKey } from '../../model/object-key.ts'
import { onNewest } from '../../model/on-newest.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import { equal } from '../../model/json.ts'
import type { Hold } from '../../model/engine-state.ts'
import { touches, wakesItself, type StoredObject } from '../../model/stored-object.ts'
import { parseTimestamp } from '../../model/time.ts'
import type { Change } from '../../ports/change-feed.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import { isOf } from '../../reconciler/kind.ts'
import { freshKindsMs, type KindCatalog } from '../../resources/kind-catalog.ts'
import { listPages } from '../../resources/list-pages.ts'
import { limitNamesOf, resourceQuotaKind } from '../../resources/quota-kind.ts'
import { isYoung, namesIn, secondOf, withCounts, withoutQuestion, type Count } from '../../resources/quota-usage.ts'
import type { TurnRunner } from '../state/turn.ts'
import type { Route } from '../wake/routes.ts'

/**
 * Counts what is used of a quota: when its limits are written, when something old was removed, and each hour, since
 * a process may end between a write and its note.
 */
export interface QuotaUsageOptions {
  readonly store: ObjectStore
  readonly catalog: Pick<KindCatalog, 'listStored'>
  readonly clock: Clock
  /** What others make or remove so long after the quota was made, they may not have noted. */
  readonly lagMs: number
}

export const quotaUsageName = 'quota-usage'
/** Until it is known what became of an object that was to be written, and whether every process knows the quota. */
const openMs = 45_000
/** Of many removals one count tells. */
const debounceMs = 1_000

export function quotaRoutes(): readonly Route[] {
  const route = (isWoken: (change: Change) => boolean, waitMs: number): Route => ({
    name: quotaUsageName,
    debounceMs: waitMs,
    targets: (change) => {
      const { type, stored } = change
      if (!isOf(stored.object, resourceQuotaKind) || type === 'removed' || !isWoken(change)) return []
      return [{ key: keyOf(stored.object), stored, lane: 'background', reason: 'its use is counted' }]
    },
  })
  return [
    route(({ touched }) => wakesItself(touched), 0),
    // Whoever asks says so by a time of its own clock, which may be ahead.
    route(({ touched, stored }) => touches(touched, 'engine') && stored.engine.wakeAtMs !== undefined, debounceMs),
  ]
}

export function createQuotaUsage({ store, catalog, clock, lagMs }: QuotaUsageOptions): TurnRunner {
  return async (turn) => {
    const begun = await beginCount(store, turn.key)
    if (begun === undefined) return turn.settle()
    const nowS = Math.floor(clock.nowMs() / 1_000)
    const names = namesIn(begun.object)
    const kinds = (await catalog.listStored(freshKindsMs)).filter(
      (kind) => kind.namespaced && limitNamesOf(kind).some((name) => names.has(name)),
    )
    const counts = new Map<string, Count>()
    for (const kind of kinds) {
      const count = await countObjects(store, kind, { namespace: turn.key.namespace, nowS })
      for (const name of limitNamesOf(kind)) counts.set(name, count)
    }
    // A clock that was ahead may have made it in what is still to come.
    const isNew = Math.abs(clock.nowMs() - (parseTimestamp(begun.object.metadata.creationTimestamp) ?? 0)) < lagMs
    const isHeld = await onNewest(async () => {
      const newest = await store.get(turn.key)
      // Of other limits other objects are counted: the change of the limits has a wake-up of its own.
      if (newest === undefined || !isSameSpec(newest, begun)) return false
      const { next: counted, isOpen } = withCounts(newest, begun, { counts, nowS })
      const holds = (isOpen || isNew) && !turn.isNearReceiveLimit
      const next = holds ? withHold(counted, { handle: turn.handle, untilMs: clock.nowMs() + openMs }) : counted
      const isSame = next.object === newest.object && equal(next.engine, newest.engine)
      if (!isSame) await store.replace(next, next.object === newest.object ? ['engine'] : ['status', 'engine'])
      return holds
    })
    // If the message is lost, the count of the hour makes up for it.
    return isHeld ? turn.hold(openMs) : turn.settle()
  }
}

function beginCount(store: ObjectStore, key: ObjectKey): Promise<StoredObject | undefined> {
  return onNewest(async () => {
    const quota = await store.get(key)
    const begun = quota && withoutQuestion(quota)
    return begun === undefined || begun === quota ? begun : store.replace(begun, ['engine'])
  })
}

function isSameSpec({ object: { metadata } }: StoredObject, { object: before }: StoredObject): boolean {
  return metadata.uid === before.metadata.uid && metadata.generation === before.metadata.generation
}

/** A change of the limits ends the hold. */
function withHold(stored: StoredObject, hold: Hold): StoredObject {
  return { ...stored, engine: { ...stored.engine, hold } }
}

async function countObjects(
  store: ObjectStore,
  { group, kind }: ServedKind,
  { namespace, nowS }: { readonly namespace: string; readonly nowS: number },
): Promise<Count> {
  const bySecond = new Map<number, number>()
  let total = 0
  for await (const page of listPages(store, { group, kind, namespace })) {
    total += page.items.length + (page.damaged?.length ?? 0)
    for (const { object } of page.items) {
      const second = secondOf(object)
      if (isYoung(second, nowS)) bySecond.set(second, (bySecond.get(second) ?? 0) + 1)
    }
  }
  return { total, bySecond }
}
