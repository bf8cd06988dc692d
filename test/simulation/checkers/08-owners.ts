import { isDeleting } from '../../../shared/model/object.ts'
import { textOf } from '../addresses.ts'
import type { Checker, Scene } from './checker.ts'

/** Promise 8: what was given to an owner stays with it as long as it lives, whatever becomes of former owners. */
export function createOwners({ table, users }: Scene): Checker {
  return {
    unmet: () => {
      const living = [...table.items.values()].flatMap(({ object }) =>
        isDeleting(object) ? [] : [object.metadata.uid],
      )
      return [...users.owners].flatMap(([name, uid]) => {
        if (!living.includes(uid)) return []
        const owner = table.items.get(textOf('ConfigMap', name))?.object.metadata.ownerReferences?.[0]?.uid
        return owner === uid ? [] : [`promise 8, owners: ConfigMap ${name} was given to ${uid}, and is with ${owner}`]
      })
    },
  }
}
