import { isObject, type JsonObject } from '../../../shared/model/json.ts'
import { isDeleting, type ApiObject } from '../../../shared/model/object.ts'
import { wantsGadget } from '../kinds/kit.ts'
import type { Policy } from '../tie-acts.ts'
import type { Checker, Scene } from './checker.ts'

/**
 * Promise 8: who is deleted in the foreground goes after the children that block it, and who lets them go leaves them
 * behind. Of children that were there when it was deleted: one that is made by a run that goes on is another matter.
 */
export function createPropagation({ scenario, table, users, report }: Scene): Checker {
  /** Uids of children that block an owner, by its uid. */
  const blocking = new Map<string, ReadonlySet<string>>()
  /** Uids of children that are let go, each with that of its owner. */
  const letGo = new Map<string, string>()
  /** What each owner has ever declared, by its uid: a run that stands still goes on with what it has read. */
  const declared = new Map<string, Map<number, JsonObject>>()
  /** The child of a Gadget has its name. */
  const stripped = new Set(scenario.steps.filter(({ act }) => act === 'strip').map(({ name }) => name))

  const childrenOf = ({ metadata }: ApiObject, blocks?: true): readonly ApiObject[] =>
    [...table.items.values()].flatMap(({ object }) =>
      object.metadata.ownerReferences?.some(
        (owner) => owner.uid === metadata.uid && (blocks === undefined || owner.blockOwnerDeletion === true),
      )
        ? [object]
        : [],
    )

  const begins = (object: ApiObject): void => {
    const { uid, finalizers = [] } = object.metadata
    if (finalizers.includes('foregroundDeletion')) blocking.set(uid, new Set(childrenOf(object, true).map(uidOf)))
    if (finalizers.includes('orphan'))
      for (const child of childrenOf(object))
        if (!isDeleting(child) && !isStripped(child) && !isSurplus(child, object) && ownersOf(child).length === 1)
          letGo.set(uidOf(child), uid)
  }

  const noteDeclared = ({ kind, metadata: { uid, generation }, spec }: ApiObject): void => {
    if ((kind !== 'Crate' && kind !== 'Kit') || !isObject(spec)) return
    declared.set(uid, (declared.get(uid) ?? new Map<number, JsonObject>()).set(generation, spec))
  }

  /** A run of its owner that goes on deletes it, if the owner did not want it when that run began. */
  const isSurplus = (child: ApiObject, { kind, metadata }: ApiObject): boolean =>
    [...(declared.get(metadata.uid)?.values() ?? [])].some((spec) =>
      kind === 'Crate'
        ? Number(child.metadata.name.split('-').at(-1)) >= Number(spec['size'])
        : child.kind === 'Gadget' && !wantsGadget(Number(spec['value'])),
    )

  /** Somebody may delete it by hand, or with its namespace. */
  const isStripped = ({ kind, metadata: { namespace, name } }: ApiObject): boolean =>
    namespace !== 'default' || (kind === 'ConfigMap' && stripped.has(name))

  /** Who deletes it again may say something else of its children. */
  const isLast = (uid: string | undefined, how: Policy): boolean =>
    [...(users.disposed.get(uid ?? '') ?? [])].every((said) => said === how)

  const goes = (object: ApiObject): void => {
    const { kind, metadata } = object
    const first = blocking.get(metadata.uid)
    if (
      first !== undefined &&
      isLast(metadata.uid, 'Foreground') &&
      childrenOf(object, true).some((child) => first.has(uidOf(child)))
    )
      report(`promise 8, propagation: ${kind} ${metadata.name} went before a child that blocks it`)
  }

  return {
    write: ({ type, before, after: { object } }) => {
      const { kind, metadata } = object
      noteDeclared(object)
      const isMarked = isDeleting(object) && before !== undefined && !isDeleting(before.object)
      // Somebody deletes it by itself.
      if (users.disposed.has(metadata.uid)) letGo.delete(metadata.uid)
      const former = letGo.get(metadata.uid)
      if (former !== undefined && isLast(former, 'Orphan') && (type === 'removed' || isMarked))
        report(`promise 8, propagation: ${kind} ${metadata.name} was let go by its owner and is deleted`)
      // Another owner has it now, which may do with it as it likes.
      else if (ownersOf(object).some((uid) => before === undefined || !ownersOf(before.object).includes(uid)))
        letGo.delete(metadata.uid)
      if (type === 'removed') goes(object)
      else if (isMarked) begins(object)
    },
  }
}

function ownersOf({ metadata: { ownerReferences = [] } }: ApiObject): readonly string[] {
  return ownerReferences.map(({ uid }) => uid)
}

function uidOf({ metadata: { uid } }: ApiObject): string {
  return uid
}
