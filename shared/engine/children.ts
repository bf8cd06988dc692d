import { OperatingError } from '../model/errors.ts'
import { isObject, type JsonObject } from '../model/json.ts'
import { keyOf } from '../model/object-key.ts'
import { controllerOf, parseApiVersion, type ApiObject, type OwnerReference } from '../model/object.ts'
import type { ServedKind } from '../model/served-kind.ts'
import type { Place } from '../resources/resources.ts'
import type { EngineOptions } from './reconcile-key.ts'

/** The objects of a kind that an owner controls, by namespace and name. Each is read strongly; an index that lags may miss the newest. */
export async function childrenOf(
  owner: ApiObject,
  { group, kind }: Pick<ServedKind, 'group' | 'kind'>,
  { index, store }: Pick<EngineOptions, 'index' | 'store'>,
): Promise<readonly ApiObject[]> {
  const keys = (await index.ownedBy(owner.metadata.uid)).filter((key) => key.group === group && key.kind === kind)
  const found = await Promise.all(keys.map((key) => store.get(key)))
  return found
    .flatMap((child) => (child === undefined ? [] : [child.object]))
    .filter((child) => controllerOf(child)?.uid === owner.metadata.uid)
    .sort((a, b) => (placeText(a) < placeText(b) ? -1 : 1))
}

function placeText(object: ApiObject): string {
  const { namespace, name } = keyOf(object)
  return `${namespace}/${name}`
}

/** A child names its owner; an owner with a namespace cannot own what is outside it. */
export function withOwner(child: JsonObject, at: Place, owner: ApiObject): JsonObject {
  const { namespace } = owner.metadata
  if (namespace !== undefined && at.namespace !== namespace) {
    throw new OperatingError(
      'BAD_REQUEST',
      `${owner.kind} ${namespace}/${owner.metadata.name} cannot own ${at.name} outside its namespace; apply it with { owned: false }`,
    )
  }
  const metadata = isObject(child['metadata']) ? child['metadata'] : {}
  return { ...child, metadata: { ...metadata, ownerReferences: [ownerReference(owner)] } }
}

/** One object's child is taken over by none of another name: both would say that all is well, and only one would have it. */
export function refuseAnothersChild(child: ApiObject, owner: ApiObject): void {
  const there = controllerOf(child)
  if (there === undefined || isOf(there, owner)) return
  throw new OperatingError(
    'APPLY_CONFLICT',
    `${child.kind} ${child.metadata.name} is a child of ${there.kind} ${there.name}: give it another name, or apply it with { owned: false }`,
  )
}

function isOf(reference: OwnerReference, { apiVersion, kind, metadata }: ApiObject): boolean {
  const { group } = parseApiVersion(reference.apiVersion)
  return reference.kind === kind && reference.name === metadata.name && group === parseApiVersion(apiVersion).group
}

function ownerReference({ apiVersion, kind, metadata }: ApiObject): OwnerReference {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true, blockOwnerDeletion: true }
}
