import { keyOf, keyText, type ObjectKey } from '../model/object-key.ts'
import { controllerOf, parseApiVersion, type ApiObject } from '../model/object.ts'
import { wakesItself, type StoredObject, type Touched } from '../model/stored-object.ts'
import type { Change } from '../ports/change-feed.ts'
import type { ObjectIndex } from '../ports/object-index.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import type { Lane, WakeUp, WorkQueue } from '../ports/work-queue.ts'
import type { Controller } from './controller.ts'
import type { Kind } from './kind.ts'

/**
 * From changes to wake-ups. For each controller: its own objects when their desired state or metadata changed, the owner
 * when a child of an owned kind changed, those who refer when an object of a watched kind changed. A wake-up carries the
 * key only; and if its object's message is held back for a wait, the hold is ended, so that a change waits for no backoff.
 */
export interface RelayOptions {
  readonly controllers: readonly Controller[]
  readonly queueOf: (controller: { readonly name: string }) => WorkQueue
  readonly store: ObjectStore
  readonly index: ObjectIndex
  /** Routes of the engine's own controllers, whose keys follow other rules. */
  readonly builtIn?: readonly Route[]
}

/** Wake-ups for one queue that a change gives rise to. */
export interface Route {
  readonly name: string
  targets(change: Change): Promise<readonly Target[]>
}

export interface Target {
  readonly key: ObjectKey
  readonly lane: Lane
  readonly reason: string
  /** The target's state if the change carries it, so that it need not be read. */
  readonly stored?: StoredObject
}

/** Sends the wake-ups of changes, in their order; resolves when all of them are in the queues. */
export type Relay = (changes: readonly Change[]) => Promise<void>

export function createRelay(options: RelayOptions): Relay {
  const { queueOf, store, index } = options
  const routes = [
    ...options.controllers.flatMap((controller) => routesOf(controller, index)),
    ...(options.builtIn ?? []),
  ]

  return async (changes) => {
    const woken: Woken[] = []
    for (const change of changes) {
      for (const { name, targets } of routes) {
        for (const target of await targets(change)) woken.push({ name, target, wakeUp: wakeUpOf(target, change) })
      }
    }
    const byQueue = Map.groupBy(woken, ({ name }) => name)
    await Promise.all([...byQueue].map(([name, all]) => queueOf({ name }).send(all.map(({ wakeUp }) => wakeUp))))
    // Only now: whoever is woken alone would go back to sleep, and the wake-up would wait behind it.
    const targets = new Map(woken.map((one) => [`${one.name} ${keyText(one.target.key)}`, one]))
    for (const one of targets.values()) await endHold(one)
  }

  async function endHold({ name, target: { key, stored } }: Woken): Promise<void> {
    const hold = (stored ?? (await store.get(key)))?.engine.hold
    if (hold !== undefined) await queueOf({ name }).wake(hold.handle)
  }
}

interface Woken {
  readonly name: string
  readonly target: Target
  readonly wakeUp: WakeUp
}

function wakeUpOf({ key, lane, reason }: Target, { stored }: Change): WakeUp {
  const { uid, resourceVersion } = stored.object.metadata
  return { key, origin: 'change', dedupId: `${uid}:${resourceVersion}`, resourceVersion, lane, reason }
}

function routesOf(controller: Controller, index: ObjectIndex): readonly Route[] {
  return [
    ownRoute(controller, index),
    ...(controller.owns.length > 0 ? [ownerRoute(controller)] : []),
    ...(controller.watches.length > 0 ? [referrerRoute(controller, index)] : []),
  ]
}

function ownRoute({ name, kind, watches }: Controller, index: ObjectIndex): Route {
  return {
    name,
    targets: async ({ type, touched, stored }) => {
      if (!isOf(stored.object, kind) || type === 'removed' || !wakesItself(touched)) return []
      const key = keyOf(stored.object)
      if (watches.length > 0)
        await index.setReferences(
          key,
          watches.flatMap((watch) => watch.targets(stored.object)),
        )
      return [{ key, stored, lane: 'urgent', reason: `${touched.join(', ')} of ${describe(stored.object)} changed` }]
    },
  }
}

function ownerRoute({ name, kind, owns }: Controller): Route {
  return {
    name,
    targets: async ({ touched, stored: { object } }) => {
      const owner = controllerOf(object)
      if (
        owner === undefined ||
        !wakesOthers(touched) ||
        owner.kind !== kind.kind ||
        parseApiVersion(owner.apiVersion).group !== kind.group
      )
        return []
      if (!owns.some((owned) => isOf(object, owned))) return []
      const namespace = kind.namespaced ? (object.metadata.namespace ?? '') : ''
      return [
        {
          key: { group: kind.group, kind: kind.kind, namespace, name: owner.name },
          lane: 'background',
          reason: `child ${describe(object)} changed`,
        },
      ]
    },
  }
}

function referrerRoute({ name, kind, watches }: Controller, index: ObjectIndex): Route {
  return {
    name,
    targets: async ({ touched, stored: { object } }) => {
      if (!wakesOthers(touched) || !watches.some((watch) => isOf(object, watch.kind))) return []
      const referrers = await index.referrers(keyOf(object))
      return referrers
        .filter((key) => key.group === kind.group && key.kind === kind.kind)
        .map((key) => ({ key, lane: 'background', reason: `${describe(object)}, which it refers to, changed` }))
    },
  }
}

function wakesOthers(touched: Touched): boolean {
  return touched.some((part) => part !== 'engine')
}

/** Whether an object is of a kind, in whatever version. */
export function isOf(object: ApiObject, kind: Pick<Kind, 'group' | 'kind'>): boolean {
  return object.kind === kind.kind && parseApiVersion(object.apiVersion).group === kind.group
}

function describe({ kind, metadata }: ApiObject): string {
  return `${kind} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name}`
}
