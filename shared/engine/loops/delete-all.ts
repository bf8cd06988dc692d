import { absentIfNotFound } from '../../model/errors.ts'
import type { ApiObject } from '../../model/object.ts'
import { onNewest } from '../../model/on-newest.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import type { Resources } from '../../resources/resources.ts'

/** What is still there after its deletion was asked for. */
export interface Remaining {
  readonly count: number
  /** Who holds it: how many objects, by the name of the finalizer. */
  readonly finalizers: ReadonlyMap<string, number>
}

/** What is left of one kind. */
export interface KindLeft extends Remaining {
  readonly kind: ServedKind
}

/**
 * Whether what was just read is to go. A process that stood still since it decided so may read what was made later: in
 * a new namespace of the same name, or for a new definition. So this is asked behind each read, and what is deleted is
 * what was read, in that version.
 */
export type IsDoomed = () => Promise<boolean>

/**
 * Of what goes before its holder, a namespace or a definition: it is to go as long as the holder is there. A new one of
 * the same name is another holder.
 */
export function doomedWith(resources: Resources, kind: ServedKind, { metadata: { name, uid } }: ApiObject): IsDoomed {
  return async () => (await absentIfNotFound(resources.get(kind, { name })))?.object.metadata.uid === uid
}

/** Of one namespace, or of all. */
export interface Doomed {
  readonly namespace?: string
  readonly isDoomed: IsDoomed
}

/**
 * Asks for the deletion of all that is in a namespace, and says what is left; nothing, if it is not to go any more.
 * Custom objects go first, and only after them what their clean-ups may need: Secrets, ConfigMaps and the like. So as
 * long as a custom object is left, those stay.
 */
export async function deleteContent(
  resources: Resources,
  kinds: readonly ServedKind[],
  doomed: Doomed & { readonly namespace: string },
): Promise<readonly KindLeft[]> {
  const remove = async (kind: ServedKind): Promise<KindLeft> => ({
    kind,
    ...(await deleteAll(resources, kind, doomed)),
  })
  const stages = [kinds.filter(({ builtIn }) => !builtIn), kinds.filter(({ builtIn }) => builtIn)]
  for (const stage of stages) {
    const ended = await Promise.allSettled(stage.map(remove))
    for (const one of ended) if (one.status === 'rejected') throw one.reason
    const left = ended.flatMap((one) => (one.status === 'fulfilled' && one.value.count > 0 ? [one.value] : []))
    if (left.length > 0) return left
  }
  return []
}

/**
 * Asks for the deletion of every object of a kind. One that cannot be deleted keeps no other: its error is thrown at
 * the end.
 */
export async function deleteAll(
  resources: Resources,
  kind: ServedKind,
  { namespace, isDoomed }: Doomed,
): Promise<Remaining> {
  const finalizers = new Map<string, number>()
  const failures: unknown[] = []
  let count = 0
  let token: string | undefined
  do {
    const page = await resources.list(kind, {
      limit: 500,
      ...(namespace === undefined ? {} : { namespace }),
      ...(token === undefined ? {} : { continue: token }),
    })
    if (page.items.length > 0 && !(await isDoomed())) return nothing
    const asked = page.items.map(({ object }) => deleteOne(resources, kind, { object, isDoomed }))
    for (const one of await Promise.allSettled(asked)) {
      if (one.status === 'rejected') failures.push(one.reason)
      const object = one.status === 'fulfilled' ? one.value : undefined
      if (object === undefined) continue
      count++
      for (const name of object.metadata.finalizers ?? []) finalizers.set(name, (finalizers.get(name) ?? 0) + 1)
    }
    count += page.damaged?.length ?? 0
    token = page.continue
  } while (token !== undefined)
  if (failures.length > 0) throw failures[0]
  return { count, finalizers }
}

const nothing: Remaining = { count: 0, finalizers: new Map() }

interface SeenDoomed extends Pick<Doomed, 'isDoomed'> {
  /** As it was read ahead of the last question. */
  readonly object: ApiObject
}

/** Asks for the deletion of one object: what is left of it, `undefined` if it is gone, or is not to go any more. */
function deleteOne(
  resources: Resources,
  kind: ServedKind,
  { object, isDoomed }: SeenDoomed,
): Promise<ApiObject | undefined> {
  const { name, namespace = '' } = object.metadata
  const findDoomed = async (): Promise<ApiObject | undefined> => {
    const newest = await absentIfNotFound(resources.get(kind, { name, namespace }))
    return newest !== undefined && (await isDoomed()) ? newest.object : undefined
  }
  return onNewest(async (tries) => {
    const newest = tries === 1 ? object : await findDoomed()
    return newest && deleteSeen(resources, kind, newest)
  })
}

/**
 * Asks for the deletion of an object as it was read: what is left of it, `undefined` if it is gone. Throws
 * VERSION_CONFLICT if it was written since.
 */
export async function deleteSeen(
  resources: Resources,
  kind: ServedKind,
  { metadata: { name, namespace = '', uid, resourceVersion } }: ApiObject,
): Promise<ApiObject | undefined> {
  const preconditions = { uid, resourceVersion }
  const deleted = await absentIfNotFound(resources.delete(kind, { name, namespace }, { preconditions }))
  return deleted === undefined || deleted.gone ? undefined : deleted.stored.object
}
