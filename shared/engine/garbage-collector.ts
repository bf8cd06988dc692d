import { hasCode } from '../model/errors.ts'
import { isDeleting, parseApiVersion, type ApiObject, type OwnerReference } from '../model/object.ts'
import { keyOf, type ObjectKey } from '../model/object-key.ts'
import { touches } from '../model/stored-object.ts'
import type { ObjectIndex } from '../ports/object-index.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import type { KindCatalog } from '../resources/kind-catalog.ts'
import type { Resources } from '../resources/resources.ts'
import type { TurnRunner } from './reconcile-key.ts'
import type { Route } from './routes.ts'

/**
 * Children go with their owners. Keys are the children's: one is looked at when an owner of it was removed or when it gets
 * owners, and deleted if all its owners are gone. "Gone" is by uid: a new object of the same name is another owner.
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
    targets: async ({ type, touched, stored }) => {
      const { object } = stored
      const key = keyOf(object)
      const owners = (object.metadata.ownerReferences ?? []).flatMap((owner) => ownerKeys(owner, object))
      if (type === 'removed') {
        const children = (await index.ownedBy(object.metadata.uid)).map((child) => ({
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
    const stored = await store.get(turn.key)
    if (stored !== undefined) {
      await settlePropagation(stored.object)
      await deleteIfAbandoned(stored.object)
    }
    await turn.settle()
  }

  async function deleteIfAbandoned(object: ApiObject): Promise<void> {
    const owners = object.metadata.ownerReferences ?? []
    if (owners.length === 0 || isDeleting(object)) return
    for (const owner of owners) if (await exists(owner, object)) return
    await remove(object)
  }

  async function exists(owner: OwnerReference, child: ApiObject): Promise<boolean> {
    for (const key of ownerKeys(owner, child))
      if ((await store.get(key))?.object.metadata.uid === owner.uid) return true
    return false
  }

  async function settlePropagation(object: ApiObject): Promise<void> {
    const how = propagation(object)
    if (how === undefined || !isDeleting(object)) return
    const children = await childrenOf(object)
    if (how === 'orphan') for (const child of children) await letGo(child, object)
    if (how === 'foregroundDeletion')
      for (const child of children) if (!isDeleting(child)) await remove(child, 'Foreground')
    const waits = how === 'foregroundDeletion' && children.some((child) => blocks(child, object))
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

  /** Names the version it read: if anything came between, the turn fails and comes again. */
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

  async function remove(
    object: ApiObject,
    propagationPolicy: 'Background' | 'Foreground' = 'Background',
  ): Promise<void> {
    const kind = await catalog.byKind(parseApiVersion(object.apiVersion).group, object.kind)
    if (kind === undefined) return
    const { uid, name, namespace = '' } = object.metadata
    try {
      await resources.delete(kind, { name, namespace }, { propagation: propagationPolicy, preconditions: { uid } })
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
