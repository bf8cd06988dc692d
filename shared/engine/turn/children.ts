import { keyOf } from '../../model/object-key.ts'
import { controllerOf, type ApiObject } from '../../model/object.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import type { EngineOptions } from './engine-options.ts'

/**
 * The objects of a kind that an owner controls, by namespace and name. Each is read strongly; an index that lags may
 * miss the newest.
 */
export async function childrenOf(
  owner: ApiObject,
  { group, kind }: Pick<ServedKind, 'group' | 'kind'>,
  { index, store }: Pick<EngineOptions, 'index' | 'store'>,
): Promise<readonly ApiObject[]> {
  const keys = (await index.childrenOf(owner.metadata.uid)).filter((key) => key.group === group && key.kind === kind)
  const found = await Promise.all(keys.map(async (key) => store.get(key)))
  return found
    .flatMap((child) => (child === undefined ? [] : [child.object]))
    .filter((child) => controllerOf(child)?.uid === owner.metadata.uid)
    .sort((a, b) => (placeText(a) < placeText(b) ? -1 : 1))
}

function placeText(object: ApiObject): string {
  const { namespace, name } = keyOf(object)
  return `${namespace}/${name}`
}
