import { isPaused } from '../../../shared/model/control-annotations.ts'
import { controllerOf, isDeleting } from '../../../shared/model/object.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import { textOf } from '../addresses.ts'
import { isExcused, isPoison, named, objectsOf, specOf, type Checker, type Scene } from './checker.ts'

/**
 * Promise 8: what was given to an owner stays with it as long as it lives, whatever becomes of former owners. Who loses
 * something learns of it, as who gets it does.
 */
export function createOwners(scene: Scene): Checker {
  const { table, users, scenario } = scene

  const astray = (): readonly string[] => {
    const living = [...table.items.values()].flatMap(({ object }) => (isDeleting(object) ? [] : [object.metadata.uid]))
    return [...users.owners].flatMap(([name, uid]) => {
      if (!living.includes(uid)) return []
      const owner = table.items.get(textOf('ConfigMap', name))?.object.metadata.ownerReferences?.[0]?.uid
      return owner === uid ? [] : [`promise 8, owners: ConfigMap ${name} was given to ${uid}, and is with ${owner}`]
    })
  }

  const kept = ({ object: { metadata } }: StoredObject): readonly string[] =>
    objectsOf(table, 'ConfigMap').flatMap(({ object }) =>
      controllerOf(object)?.uid === metadata.uid && object.metadata.name !== metadata.name
        ? [object.metadata.name]
        : [],
    )

  const miscounted = (gadget: StoredObject): readonly string[] => {
    const says = (gadget.object.status?.['keeps'] ?? []) as readonly string[]
    const keeps = kept(gadget)
    return says.length !== keeps.length || says.some((name) => !keeps.includes(name))
      ? [`promise 8, owners: ${named(gadget)} says it keeps ${String(says)}, and keeps ${String(keeps)}`]
      : []
  }

  return {
    unmet: () => [
      ...astray(),
      ...(scenario.controls === true && !isExcused(scene)
        ? objectsOf(table, 'Gadget').filter(canTell).flatMap(miscounted)
        : []),
    ],
  }
}

function canTell(gadget: StoredObject): boolean {
  return !isPoison(gadget) && !['fail', 'stop'].includes(String(specOf(gadget)['mood'])) && !isPaused(gadget.object)
}
