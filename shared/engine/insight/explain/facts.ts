import { absentIfDamaged } from '../../../model/damage.ts'
import { isObject, type JsonObject } from '../../../model/json.ts'
import { keyOf, type ObjectKey } from '../../../model/object-key.ts'
import { parseApiVersion, type ApiObject, type OwnerReference } from '../../../model/object.ts'
import type { ServedKind } from '../../../model/served-kind.ts'
import type { StoredObject } from '../../../model/stored-object.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { ObjectIndex } from '../../../ports/object-index.ts'
import type { ObjectStore } from '../../../ports/object-store.ts'
import { eventKind } from '../../../resources/built-in-kinds.ts'
import type { Resources } from '../../../resources/resources.ts'
import type { Controller } from '../../../reconciler/controller.ts'

/** All that an explanation is made of, read at one moment or close to it. */
export interface Facts {
  readonly kind: ServedKind
  readonly stored: StoredObject
  readonly nowMs: number
  /** Whoever reconciles the kind. */
  readonly controller: Controller | undefined
  readonly owners: readonly Relative[]
  readonly children: Relatives
  /** What the object refers to. */
  readonly references: Relatives
  /** Who refers to the object. */
  readonly referrers: Relatives
  /** The newest first. */
  readonly events: readonly ApiObject[]
}

/** Another object by its key, with its state if it is there. */
export interface Relative {
  readonly key: ObjectKey
  readonly object: ApiObject | undefined
  /** There is one, and it cannot be read. */
  readonly isDamaged?: true
}

export interface Relatives {
  /** So many as a person reads. */
  readonly shown: readonly Relative[]
  readonly more: number
}

export interface FactsOptions {
  /** All there are, the engine's own included. */
  readonly controllers: readonly Controller[]
  readonly store: ObjectStore
  readonly index: ObjectIndex
  readonly resources: Resources
  readonly clock: Clock
}

const relativesMax = 20
const eventsMax = 10

export async function gatherFacts(kind: ServedKind, stored: StoredObject, options: FactsOptions): Promise<Facts> {
  const { store, index, clock } = options
  const { object } = stored
  const controller = options.controllers.find((one) => one.kind.group === kind.group && one.kind.kind === kind.kind)
  const [children, references, referrers, owners, events] = await Promise.all([
    relatives(await index.childrenOf(object.metadata.uid), store),
    relatives(await index.references(keyOf(object)), store),
    relatives(await index.referrers(keyOf(object)), store),
    Promise.all((object.metadata.ownerReferences ?? []).map((owner) => findOwner(owner, object, store))),
    eventsAbout(object, options.resources),
  ])
  return { kind, stored, nowMs: clock.nowMs(), controller, owners, children, references, referrers, events }
}

async function relatives(keys: readonly ObjectKey[], store: ObjectStore): Promise<Relatives> {
  const shown = await Promise.all(keys.slice(0, relativesMax).map((key) => readRelative(key, store)))
  return { shown, more: keys.length - shown.length }
}

async function readRelative(key: ObjectKey, store: ObjectStore): Promise<Relative> {
  const read = await absentIfDamaged(async () => ({ key, object: (await store.get(key))?.object }))
  return read ?? { key, object: undefined, isDamaged: true }
}

async function findOwner(
  { apiVersion, kind, name, uid }: OwnerReference,
  child: ApiObject,
  store: ObjectStore,
): Promise<Relative> {
  const { namespace = '' } = child.metadata
  const key = { group: parseApiVersion(apiVersion).group, kind, name, namespace }
  const places = namespace === '' ? [key] : [key, { ...key, namespace: '' }]
  for (const place of places) {
    const found = await readRelative(place, store)
    if (found.isDamaged || found.object?.metadata.uid === uid) return found
  }
  return { key, object: undefined }
}

async function eventsAbout({ metadata }: ApiObject, resources: Resources): Promise<readonly ApiObject[]> {
  const { items } = await resources.list(eventKind, {
    namespace: metadata.namespace ?? 'default',
    selector: (event) => involvedOf(event)['uid'] === metadata.uid,
  })
  const events = items.map(({ object }) => object)
  return events.toSorted((a, b) => (lastSeen(a) < lastSeen(b) ? 1 : -1)).slice(0, eventsMax)
}

function involvedOf(event: ApiObject): JsonObject {
  return isObject(event['involvedObject']) ? event['involvedObject'] : {}
}

function lastSeen(event: ApiObject): string {
  const { lastObservedTime } = isObject(event['series']) ? event['series'] : {}
  return String(lastObservedTime ?? event['lastTimestamp'] ?? event['eventTime'] ?? event.metadata.creationTimestamp)
}
