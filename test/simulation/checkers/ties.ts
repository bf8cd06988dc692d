import { isDeleting, type ApiObject, type OwnerReference } from '../../../shared/model/object.ts'
import type { TableWrite } from '../plane.ts'
import { toolDefinition } from '../kinds/tool.ts'
import type { Checker, Scene } from './checker.ts'

/**
 * Promise 8, of what users tie to each other: it is deleted if all of its owners are gone or wait for it, and then
 * only. It loses the owners that are gone, that let it go, or that wait for it, and no other. What it blocks it goes on
 * to block, unless that is in a circle with it. Whoever waits, lets go or is gone, does so for good, so that no late
 * write is an excuse.
 */
export function createTies({ scenario, table, users, report }: Scene): Checker {
  const isDrawn = scenario.steps.some(({ act }) => act === 'tie')
  const waiting = new Set<string>()
  const letting = new Set<string>()
  const living = new Set<string>()
  /** Whom an object has ever named as its owners, by its uid. */
  const named = new Map<string, Set<string>>()
  let isUndefined = false

  const isTied = ({ kind, metadata: { name, namespace } }: ApiObject): boolean =>
    tiedKinds.includes(kind) && name.startsWith('tied-') && namespace === 'default'

  const isInCircle = (uid: string): boolean => {
    const seen = new Set<string>()
    const next = [...(named.get(uid) ?? [])]
    for (let one = next.pop(); one !== undefined; one = next.pop()) {
      if (one === uid) return true
      if (!seen.has(one)) next.push(...(named.get(one) ?? []))
      seen.add(one)
    }
    return false
  }

  const lookAtDeletion = ({ kind, metadata }: ApiObject): void => {
    if (users.disposed.has(metadata.uid)) return
    const staying = ownersOf(metadata).filter(({ uid }) => living.has(uid) && !waiting.has(uid))
    const owners = ownersOf(metadata).length
    if (owners > 0 && staying.length === 0) return
    const why = owners === 0 ? 'it has no owner' : `${staying.map(({ name }) => name).join()} stays`
    report(`promise 8, owners: ${kind} ${metadata.name} is deleted, though ${why}`)
  }

  /** Of a write that no user has made. */
  const lookAtOwners = (before: ApiObject, { kind, metadata }: ApiObject): void => {
    const left = ownersOf(metadata)
    for (const { uid, name, blockOwnerDeletion } of ownersOf(before.metadata)) {
      const now = left.find((one) => one.uid === uid)
      const mayLeave = !living.has(uid) || waiting.has(uid) || letting.has(uid)
      if (now === undefined && !mayLeave)
        report(`promise 8, owners: ${kind} ${metadata.name} loses its owner ${name}, which stays`)
      const isFreed = now !== undefined && blockOwnerDeletion === true && now.blockOwnerDeletion !== true
      if (isFreed && !isInCircle(metadata.uid))
        report(`promise 8, owners: ${kind} ${metadata.name} blocks ${name} no more, and is in no circle`)
    }
  }

  const note = ({ type, after: { object } }: TableWrite): void => {
    const { uid, finalizers = [] } = object.metadata
    if (type === 'removed') living.delete(uid)
    else living.add(uid)
    if (
      type === 'removed' &&
      object.kind === 'CustomResourceDefinition' &&
      object.metadata.name === toolDefinition.name
    )
      isUndefined = true
    if (isDeleting(object) && finalizers.includes('foregroundDeletion')) waiting.add(uid)
    if (isDeleting(object) && finalizers.includes('orphan')) letting.add(uid)
    named.set(uid, new Set([...(named.get(uid) ?? []), ...ownersOf(object.metadata).map((owner) => owner.uid)]))
  }

  /** In the end nobody names who is gone. Where no such kind is defined any more, nobody can say who is. */
  const strays = ({ kind, metadata }: ApiObject): readonly string[] =>
    ownersOf(metadata).flatMap((owner) =>
      living.has(owner.uid) || (owner.kind === 'Tool' && isUndefined)
        ? []
        : [`promise 8, owners: ${kind} ${metadata.name} is left with its owner ${owner.name}, which is gone`],
    )

  return {
    write: (write) => {
      if (!isDrawn) return
      const { before, after, type, by } = write
      const isMarked =
        before !== undefined && !isDeleting(before.object) && (isDeleting(after.object) || type === 'removed')
      note(write)
      if (before === undefined || !isTied(after.object)) return
      if (isMarked) lookAtDeletion(before.object)
      const isByUser = scenario.local !== undefined || by.name.startsWith('api')
      if (!isByUser && type !== 'removed') lookAtOwners(before.object, after.object)
    },
    unmet: () => {
      if (!isDrawn) return []
      return [...table.items.values()].flatMap(({ object }) => (isTied(object) ? strays(object) : []))
    },
  }
}

function ownersOf({ ownerReferences = [] }: ApiObject['metadata']): readonly OwnerReference[] {
  return ownerReferences
}

const tiedKinds: readonly string[] = ['ConfigMap', 'Gadget']
