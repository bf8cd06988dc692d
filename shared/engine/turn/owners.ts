import { OperatingError } from '../../model/errors.ts'
import type { JsonObject } from '../../model/json.ts'
import { keyOf, keyText, type ObjectKey } from '../../model/object-key.ts'
import { controllerOf, isDeleting, parseApiVersion, type ApiObject, type OwnerReference } from '../../model/object.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Place } from '../../resources/resources.ts'

/** Where an owner can be: in the child's namespace, or in none. */
export function ownerKeys({ apiVersion, kind, name }: OwnerReference, child: ApiObject): readonly ObjectKey[] {
  const { namespace = '' } = child.metadata
  const key = { group: parseApiVersion(apiVersion).group, kind, name }
  return namespace === ''
    ? [{ ...key, namespace }]
    : [
        { ...key, namespace },
        { ...key, namespace: '' },
      ]
}

/** Whether a reference of the child names this owner, or one that had its name before. */
export function isNamed(owner: ApiObject, reference: OwnerReference, child: ApiObject): boolean {
  const text = keyText(keyOf(owner))
  return ownerKeys(reference, child).some((key) => keyText(key) === text)
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
  const metadata = child['metadata'] as JsonObject | undefined
  return { ...child, metadata: { ...metadata, ownerReferences: [ownerReference(owner)] } }
}

/**
 * One object's child is taken over by none of another name: both would say that all is well, and only one would have
 * it.
 */
function refuseAnothersChild(child: ApiObject, owner: ApiObject): void {
  const there = controllerOf(child)
  if (there === undefined || isNamed(owner, there, child)) return
  throw new OperatingError(
    'APPLY_CONFLICT',
    `${child.kind} ${child.metadata.name} is a child of ${there.kind} ${there.name}: give it another name, or apply it with { owned: false }`,
  )
}

/** Nobody has the child that is to be applied. */
class UnownedError extends Error {
  override readonly name = 'UnownedError'
}

/**
 * Applies a child, whose `check` is done on what is there, each time. What nobody has may have been let go by the
 * deletion of its owner, which a run under way has not seen: so the owner is read once more, behind that look. Throws
 * VERSION_CONFLICT if it is on its way or gone: the child stays as it was left.
 */
export async function applyChild<Result>(
  owner: ApiObject,
  store: Pick<ObjectStore, 'get'>,
  apply: (check: (live: ApiObject) => void) => Promise<Result>,
): Promise<Result> {
  let mayAdopt = isDeleting(owner)
  const check = (live: ApiObject): void => {
    refuseAnothersChild(live, owner)
    if (!mayAdopt && controllerOf(live) === undefined) throw new UnownedError()
  }
  try {
    return await apply(check)
  } catch (error) {
    if (!(error instanceof UnownedError)) throw error
    await requireLiving(owner, store)
    mayAdopt = true
    return apply(check)
  }
}

async function requireLiving(owner: ApiObject, store: Pick<ObjectStore, 'get'>): Promise<void> {
  const { kind, metadata } = owner
  const live = (await store.get(keyOf(owner)))?.object
  if (live?.metadata.uid === metadata.uid && !isDeleting(live)) return
  throw new OperatingError('VERSION_CONFLICT', `${kind} ${metadata.name} has been deleted: it takes nothing any more`)
}

function ownerReference({ apiVersion, kind, metadata }: ApiObject): OwnerReference {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true, blockOwnerDeletion: true }
}
