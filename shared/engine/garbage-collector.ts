import { digest } from '../model/digest.ts'
import { hasCode } from '../model/errors.ts'
import { isDeleting, parseApiVersion, type ApiObject, type OwnerReference } from '../model/object.ts'
import { keyOf, keyText, type ObjectKey } from '../model/object-key.ts'
import { touches } from '../model/stored-object.ts'
import type { ObjectIndex } from '../ports/object-index.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import type { KindCatalog } from '../resources/kind-catalog.ts'
import type { Resources } from '../resources/resources.ts'
import type { TurnRunner } from './reconcile-key.ts'
import type { Route } from './routes.ts'

/**
 * Children go with their owners. Keys are the children's: one is looked at when an owner of it was removed or when it gets
 * owners, and deleted if all its owners are gone; of very many, a share of them at a time. "Gone" is by uid: a new object of the same name is another owner.
 * Objects deleted with `orphan` or `foregroundDeletion` are looked at too: their children are let go or deleted first.
 */
export interface GarbageCollectorOptions {
  readonly store: ObjectStore
  readonly index: ObjectIndex
  readonly resources: Resources
  readonly catalog: KindCatalog
}

export const garbageCollectorName = 'garbage-collector'

export function garbageRoute(index: ObjectIndex): Route {
  return {
    name: garbageCollectorName,
    debounceMs: 0,
    isNeverHeld: true,
    targets: async ({ type, touched, stored }) => {
      const { object } = stored
      const key = keyOf(object)
      const owners = (object.metadata.ownerReferences ?? []).flatMap((owner) => ownerKeys(owner, object))
      if (type === 'removed') {
        const children = fewKeys(object.metadata.uid, await index.ownedBy(object.metadata.uid)).map((child) => ({
          key: child,
          lane: 'background' as const,
          reason: `its owner ${key.kind} ${key.name} is gone`,
        }))
        const parents = owners.map((owner) => ({
          key: owner,
          lane: 'background' as const,
          reason: `its child ${key.kind} ${key.name} is gone`,
        }))
        return [...children, ...parents]
      }
      const concerned =
        (touches(touched, 'delete', 'meta') && propagation(object) !== undefined) ||
        (owners.length > 0 && touches(touched, 'spec', 'meta'))
      return concerned ? [{ key, stored, lane: 'background', reason: 'its owners or its deletion changed' }] : []
    },
  }
}

/**
 * The relay sends as many wake-ups as take it a moment, however many children there are: from a number of them on, each is for a share
 * of the children, which whoever receives it looks up.
 */
function fewKeys(uid: string, children: readonly ObjectKey[]): readonly ObjectKey[] {
  if (children.length <= sharedFrom) return children
  const count = Math.ceil(children.length / shareOf)
  return Array.from({ length: count }, (_, i) => ({ ...sharesKind, namespace: uid, name: `${i}.${count}` }))
}

function isOfShare({ name }: ObjectKey, child: ObjectKey): boolean {
  const [share = 0, count = 1] = name.split('.').map(Number)
  return Number.parseInt(digest(keyText(child)).slice(0, 8), 16) % count === share
}

/** No object is of this kind: a share of the children of the owner whose uid stands for the namespace. */
const sharesKind = { group: 'garbage.setpoint.dev', kind: 'Children' }
const sharedFrom = 200
/** So many are looked at in one turn, about, well within its time. */
const shareOf = 100

function propagation({ metadata }: ApiObject): 'orphan' | 'foregroundDeletion' | undefined {
  return (['orphan', 'foregroundDeletion'] as const).find((name) => metadata.finalizers?.includes(name))
}

/** Where an owner can be: in the child's namespace, or in none. */
function ownerKeys({ apiVersion, kind, name }: OwnerReference, child: ApiObject): readonly ObjectKey[] {
  const { namespace = '' } = child.metadata
  const key = { group: parseApiVersion(apiVersion).group, kind, name }
  return namespace === ''
    ? [{ ...key, namespace }]
    : [
        { ...key, namespace },
        { ...key, namespace: '' },
      ]
}

export function createGarbageCollector({ store, index, resources, catalog }: GarbageCollectorOptions): TurnRunner {
  return async (turn) => {
    await (turn.key.group === sharesKind.group ? lookAtShare(turn.key) : look(turn.key))
    await turn.settle()
  }

  /** One that cannot be dealt with holds up no other, but the turn comes again. */
  async function lookAtShare(share: ObjectKey): Promise<void> {
    const children = (await index.ownedBy(share.namespace)).filter((child) => isOfShare(share, child)).values()
    const failures: unknown[] = []
    const work = async (): Promise<void> => {
      for (const child of children) await look(child).catch((error: unknown) => failures.push(error))
    }
    await Promise.all(Array.from({ length: looksAtOnce }, work))
    if (failures.length > 0) throw failures[0]
  }

  /** Once more if anything came between: what is deleted or let go is what was seen. */
  async function look(key: ObjectKey, tries = triesMax): Promise<void> {
    const stored = await store.get(key)
    if (stored === undefined) return
    try {
      await settlePropagation(stored.object)
      await deleteIfAbandoned(stored.object)
    } catch (error) {
      if (!hasCode(error, 'VERSION_CONFLICT') || tries === 1) throw error
      await look(key, tries - 1)
    }
  }

  async function deleteIfAbandoned(object: ApiObject): Promise<void> {
    const owners = object.metadata.ownerReferences ?? []
    if (owners.length === 0 || isDeleting(object) || (await hasOwner(object))) return
    await remove(object)
  }

  /** Whether any of its owners is there, or any but one. */
  async function hasOwner(object: ApiObject, but?: ApiObject): Promise<boolean> {
    const owners = (object.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== but?.metadata.uid)
    for (const owner of owners) if (await exists(owner, object)) return true
    return false
  }

  async function exists(owner: OwnerReference, child: ApiObject): Promise<boolean> {
    for (const key of ownerKeys(owner, child))
      if ((await store.get(key))?.object.metadata.uid === owner.uid) return true
    return false
  }

  async function settlePropagation(object: ApiObject): Promise<void> {
    const how = propagation(object)
    if (how === undefined || !isDeleting(object)) return
    let waits = false
    for (const child of await childrenOf(object)) {
      if (how === 'orphan' || (!isDeleting(child) && (await hasOwner(child, object)))) await letGo(child, object)
      else {
        if (!isDeleting(child)) await remove(child, 'Foreground')
        waits ||= blocks(child, object)
      }
    }
    if (!waits) await dropFinalizer(object, how)
  }

  async function childrenOf({ metadata: { uid } }: ApiObject): Promise<readonly ApiObject[]> {
    const found = await Promise.all((await index.ownedBy(uid)).map((key) => store.get(key)))
    return found.flatMap((child) =>
      child?.object.metadata.ownerReferences?.some((owner) => owner.uid === uid) ? [child.object] : [],
    )
  }

  async function letGo(child: ApiObject, owner: ApiObject): Promise<void> {
    const ownerReferences = (child.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.metadata.uid)
    await edit(child, { ownerReferences })
  }

  async function dropFinalizer(object: ApiObject, name: string): Promise<void> {
    await edit(object, { finalizers: (object.metadata.finalizers ?? []).filter((finalizer) => finalizer !== name) })
  }

  /** Names the version it read: throws VERSION_CONFLICT if anything came between. */
  async function edit(object: ApiObject, metadata: Record<string, string[] | OwnerReference[]>): Promise<void> {
    const kind = await catalog.byKind(parseApiVersion(object.apiVersion).group, object.kind)
    if (kind === undefined) return
    const { resourceVersion, name, namespace = '' } = object.metadata
    await resources.patch(
      kind,
      { name, namespace },
      { type: 'merge', body: { metadata: { ...metadata, resourceVersion } } },
      { manager: garbageCollectorName },
    )
  }

  /** Names the version, too: it may have got another owner. */
  async function remove(
    object: ApiObject,
    propagationPolicy: 'Background' | 'Foreground' = 'Background',
  ): Promise<void> {
    const kind = await catalog.byKind(parseApiVersion(object.apiVersion).group, object.kind)
    if (kind === undefined) return
    const { uid, resourceVersion, name, namespace = '' } = object.metadata
    const preconditions = { uid, resourceVersion }
    try {
      await resources.delete(kind, { name, namespace }, { propagation: propagationPolicy, preconditions })
    } catch (error) {
      if (!hasCode(error, 'NOT_FOUND')) throw error
    }
  }
}

function blocks(child: ApiObject, owner: ApiObject): boolean {
  return (child.metadata.ownerReferences ?? []).some(
    ({ uid, blockOwnerDeletion }) => uid === owner.metadata.uid && blockOwnerDeletion === true,
  )
}

const triesMax = 10
const looksAtOnce = 10
