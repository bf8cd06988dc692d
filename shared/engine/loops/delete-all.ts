import { absentIfNotFound } from '../../model/errors.ts'
import type { ApiObject } from '../../model/object.ts'
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
 * Asks for the deletion of all that is in a namespace, and says what is left. Custom objects go first, and only after
 * them what their clean-ups may need: Secrets, ConfigMaps and the like. So as long as a custom object is left, those
 * stay.
 */
export async function deleteContent(
  resources: Resources,
  kinds: readonly ServedKind[],
  namespace: string,
): Promise<readonly KindLeft[]> {
  const remove = async (kind: ServedKind): Promise<KindLeft> => ({
    kind,
    ...(await deleteAll(resources, kind, namespace)),
  })
  const stages = [kinds.filter(({ builtIn }) => !builtIn), kinds.filter(({ builtIn }) => builtIn)]
  for (const stage of stages) {
    const left = (await Promise.all(stage.map(remove))).filter(({ count }) => count > 0)
    if (left.length > 0) return left
  }
  return []
}

/** Asks for the deletion of every object of a kind. */
export async function deleteAll(resources: Resources, kind: ServedKind, namespace?: string): Promise<Remaining> {
  const finalizers = new Map<string, number>()
  let count = 0
  let token: string | undefined
  do {
    const page = await resources.list(kind, {
      limit: 500,
      ...(namespace === undefined ? {} : { namespace }),
      ...(token === undefined ? {} : { continue: token }),
    })
    const left = await Promise.all(page.items.map(({ object }) => deleteOne(resources, kind, object)))
    for (const object of left) {
      if (object === undefined) continue
      count++
      for (const name of object.metadata.finalizers ?? []) finalizers.set(name, (finalizers.get(name) ?? 0) + 1)
    }
    count += page.damaged?.length ?? 0
    token = page.continue
  } while (token !== undefined)
  return { count, finalizers }
}

/** Asks for the deletion of one object: what is left of it, `undefined` if it is gone. */
export async function deleteOne(
  resources: Resources,
  kind: ServedKind,
  { metadata: { name, namespace = '' } }: ApiObject,
): Promise<ApiObject | undefined> {
  const deleted = await absentIfNotFound(resources.delete(kind, { name, namespace }))
  return deleted === undefined || deleted.gone ? undefined : deleted.stored.object
}
