import { controllerOf, type OwnerReference } from '../../../shared/model/object.ts'
import { dueAtMs } from '../../../shared/model/engine-state.ts'
import { touches, type StoredObject } from '../../../shared/model/stored-object.ts'
import { nextPassMs } from '../../../shared/model/wheel.ts'
import type { TableWrite } from '../plane.ts'
import type { KindName } from '../scenario.ts'
import { errandOf } from '../kinds/errand.ts'
import { namedBy } from '../kinds/ledger.ts'
import { licenseName } from '../kinds/parcel.ts'
import { textOf } from '../addresses.ts'
import { beginMs } from '../world.ts'
import { isClear, isFenceTried, isPoisoned, type Checker, type Scene } from './checker.ts'

/**
 * Promise 4: no run without a cause, and one cause leads to one run at most. Told where nothing goes wrong: there the
 * causes can be counted from what was written, by rules of their own.
 */
export function createCoalescing({ world, scenario, table, report }: Scene): Checker {
  const isQuick = scenario.climate.latencyMsMax <= quickMs
  // What is in one batch with a poisoned object comes again with it.
  const isTakenDown = isPoisoned(scenario) && scenario.climate.queueBatch > 1
  const isTold =
    isClear(scenario) &&
    isQuick &&
    !isFenceTried(scenario) &&
    !isTakenDown &&
    scenario.resyncMinutes === 0 &&
    scenario.herd === 0 &&
    // Who comes back looks at all there is.
    scenario.absent === undefined
  const causes = new Map<string, number>()
  const runs = new Map<string, number>()
  /** The uids of Parcels whose slot the hand of their wheel has passed. */
  const resynced = new Set<string>()
  /** When ConfigMaps were written. */
  let writesMs: readonly number[] = []

  /** A Link, an Errand or a Ledger that is new is woken, too, by what was written ahead of it and is told behind it. */
  const toldSince = (): number => {
    writesMs = writesMs.filter((atMs) => world.nowMs() - atMs <= scenario.climate.streamLagMsMax + relayMs)
    return writesMs.length
  }

  const cause = (kind: string, name: string, runsMost = 1): void =>
    void causes.set(`${kind} ${name}`, (causes.get(`${kind} ${name}`) ?? 0) + runsMost)

  /**
   * A change of what waits lets the message go that is held as its timer. Where a batch is one message, the change's
   * own comes behind it and alone: a run more. So it is if the relay finds the hold that the run of this change has
   * left.
   */
  const runsOf = (woken: StoredObject | undefined): number => {
    const { hold, change, wait } = woken?.engine ?? {}
    const isUnderWay = change !== undefined && wait === undefined
    return (hold !== undefined && scenario.climate.queueBatch === 1) || isUnderWay ? 2 : 1
  }

  /** Its own desired state; its timer; what its status begins to name; its owner's child; what it refers to. */
  const count = ({ before, after, touched, type }: TableWrite): void => {
    const { object } = after
    const { name } = object.metadata
    if (isOwnCause(object.kind, touched) || type === 'removed') cause(object.kind, name, runsOf(before))
    if (hasNewTimer(before, after)) cause(object.kind, name)
    if (hasNewReference(before, after)) cause(object.kind, name)
    if (type === 'added' && ['Link', 'Errand', 'Ledger'].includes(object.kind)) cause(object.kind, name, toldSince())
    if (!touches(touched, 'spec', 'labels', 'annotations', 'control', 'meta', 'fields', 'status', 'delete')) return
    for (const owner of ownersOf(before, after))
      cause(owner.kind, owner.name, runsOf(table.items.get(textOf(owner.kind as KindName, owner.name))))
    if (object.kind !== 'ConfigMap') return
    writesMs = [...writesMs, world.nowMs()]
    const isNews = type !== 'modified' || touches(touched, 'spec', 'delete')
    const errand = table.items.get(textOf('Errand', errandOf(name)))
    if (isNews && errand !== undefined) cause('Errand', errandOf(name), runsOf(errand))
    for (const ledger of new Set([before, after].flatMap((one) => (one && namedBy(one.object)) ?? [])))
      cause('Ledger', ledger, runsOf(table.items.get(textOf('Ledger', ledger))))
    for (const woken of table.items.values()) {
      const { kind, metadata } = woken.object
      if (kind === 'Link' || (kind === 'Parcel' && name === licenseName)) cause(kind, metadata.name, runsOf(woken))
    }
  }

  return {
    write: (write) => {
      if (isTold) count(write)
    },
    runBegins: ({ uid, kind, name, isPoison }) => {
      if (!isTold || isPoison) return
      if (
        kind === 'Parcel' &&
        !resynced.has(uid) &&
        nextPassMs(uid, beginMs - aheadMs, parcelPeriodMs) <= world.nowMs()
      ) {
        resynced.add(uid)
        cause(kind, name)
      }
      const key = `${kind} ${name}`
      const so = (runs.get(key) ?? 0) + 1
      runs.set(key, so)
      if (so > (causes.get(key) ?? 0)) report(`promise 4, coalescing: run ${so} of ${key} had no cause`)
    },
  }
}

/** The owner by now, and the one that the write took the object from. */
function ownersOf(before: StoredObject | undefined, after: StoredObject): readonly OwnerReference[] {
  const [was, is] = [before && controllerOf(before.object), controllerOf(after.object)]
  return [was, was?.uid === is?.uid ? undefined : is].filter((owner) => owner !== undefined)
}

/** An Errand has a predicate: what says nothing new about its spec is no cause. */
function isOwnCause(kind: string, touched: TableWrite['touched']): boolean {
  if (kind === 'Errand') return touches(touched, 'spec', 'control', 'delete')
  return touches(touched, 'spec', 'labels', 'annotations', 'control', 'meta', 'delete')
}

/** Where a call takes longer than the shortest wait, a wait may be over before it is written. */
const quickMs = 200

/** No seed says how often Parcels resync: this is what kinds have that do not say it. */
const parcelPeriodMs = 10 * 3_600_000

/** How long before the beginning a wheel was turned last, at most. */
const aheadMs = 120_000

/** How long the relay takes with what it has read, at most. */
const relayMs = 5_000

function hasNewTimer(before: StoredObject | undefined, { engine }: StoredObject): boolean {
  const dueMs = dueAtMs(engine)
  return dueMs !== undefined && dueMs !== (before && dueAtMs(before.engine))
}

/** Of a Link that refers by its status: what it names there may have changed before anybody knew that it does. */
function hasNewReference(before: StoredObject | undefined, { object }: StoredObject): boolean {
  return object.kind === 'Link' && object.status?.['to'] !== before?.object.status?.['to']
}
