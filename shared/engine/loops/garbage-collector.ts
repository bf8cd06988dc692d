import { hasCode } from '../../model/errors.ts'
import { isDeleting, parseApiVersion, type ApiObject, type OwnerReference } from '../../model/object.ts'
import { keyOf, keyText, parseKeyText, type ObjectKey } from '../../model/object-key.ts'
import { isOvertakenWrite, onNewest } from '../../model/on-newest.ts'
import { touches } from '../../model/stored-object.ts'
import type { Change } from '../../ports/change-feed.ts'
import type { ObjectIndex } from '../../ports/object-index.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { KindCatalog } from '../../resources/kind-catalog.ts'
import type { Resources } from '../../resources/resources.ts'
import { isNamed, ownerKeys } from '../turn/owners.ts'
import type { Turn, TurnRunner } from '../state/turn.ts'
import type { Route } from '../wake/routes.ts'
import type { Target } from '../wake/wake-up.ts'
import { giveUpError } from '../state/give-up-error.ts'

/**
 * Children go with their owners, in a time that grows with their number and no faster; see docs/decisions/0023. "Gone"
 * is by uid: a new object of the same name is another owner.
 *
 * - A child is looked at when it gets owners, and with all children of an owner when that goes, in one turn under a
 *   key of its own. A child without an owner that stays is deleted. A child with one loses its references to owners
 *   that are gone, that are deleted with `orphan`, or that wait for it. An owner of a kind that nobody has defined may
 *   be anywhere: it stays until its removal is seen.
 * - An owner deleted with `foregroundDeletion` is looked at when a child that it waits for is gone, or blocks it no
 *   more: whether any is left.
 */
export interface GarbageCollectorOptions {
  readonly store: ObjectStore
  readonly index: ObjectIndex
  readonly resources: Resources
  readonly catalog: KindCatalog
}

export const garbageCollectorName = 'garbage-collector'
/** Of keys that stand for many objects. */
export const garbageGroup = 'garbage.setpoint.dev'

export function garbageRoute(index: ObjectIndex): Route {
  return {
    name: garbageCollectorName,
    debounceMs: 0,
    isNeverHeld: true,
    targets: (change) => (change.type === 'removed' ? targetsOfRemoval(change, index) : targetsOfWrite(change)),
  }
}

async function targetsOfRemoval(change: Change, index: ObjectIndex): Promise<readonly Target[]> {
  const { object } = change.stored
  const { kind, name } = keyOf(object)
  const isOwner = (await index.childrenOf(object.metadata.uid, 1)).length > 0
  return [
    ...(isOwner ? [target(childrenKey(object), `their owner ${kind} ${name} is gone`)] : []),
    ...ownersTold(blockedBy(object), object, 'is gone'),
    ...freedOwners(change),
  ]
}

function targetsOfWrite(change: Change): readonly Target[] {
  const { touched, stored } = change
  const { object } = stored
  const { kind, name } = keyOf(object)
  const how = propagationOf(object)
  if (how !== undefined && touches(touched, 'delete'))
    return [target(childrenKey(object), `their owner ${kind} ${name} is deleted: ${how}`)]
  const isConcerned = isOwned(object) ? touches(touched, 'spec', 'meta') : how !== undefined && touches(touched, 'meta')
  const own = { ...target(keyOf(object), 'its owners or finalizers changed'), stored }
  return isConcerned ? [own, ...freedOwners(change)] : freedOwners(change)
}

/** The child blocked these owners before the write, and blocks them no more. An owner that waits may be free now. */
function freedOwners({ touched, stored: { object }, before }: Change): readonly Target[] {
  if (!touches(touched, 'meta') || before === undefined) return []
  const left = new Set(blockedBy(object).map(({ uid }) => uid))
  const freed = blockedBy(before.object).filter(({ uid }) => !left.has(uid))
  return ownersTold(freed, before.object, 'blocks it no more')
}

function ownersTold(owners: readonly OwnerReference[], child: ApiObject, what: string): readonly Target[] {
  const { kind, name } = keyOf(child)
  const keys = owners.flatMap((owner) => ownerKeys(owner, child))
  return keys.map((key) => target(key, `its child ${kind} ${name} ${what}`))
}

function target(key: ObjectKey, reason: string): Target {
  return { key, lane: 'background', reason }
}

type Propagation = 'orphan' | 'foregroundDeletion'

/** Of an object that is deleted, and stays until something is done with its children. */
function propagationOf(object: ApiObject): Propagation | undefined {
  if (!isDeleting(object)) return undefined
  return (['orphan', 'foregroundDeletion'] as const).find((name) => object.metadata.finalizers?.includes(name))
}

function isOwned({ metadata: { ownerReferences = [] } }: ApiObject): boolean {
  return ownerReferences.length > 0
}

/**
 * No object is of this kind: all children of an owner, whose uid stands for the namespace and whose key for the name.
 */
const childrenKind = { group: garbageGroup, kind: 'Children' }

function childrenKey(owner: ApiObject): ObjectKey {
  return { ...childrenKind, namespace: owner.metadata.uid, name: encodeURIComponent(keyText(keyOf(owner))) }
}

function ownerOfAll({ name }: ObjectKey): ObjectKey {
  return parseKeyText(decodeURIComponent(name))
}

/** These owners cannot go ahead of the child, where they wait for their children. */
function blockedBy({ metadata: { ownerReferences = [] } }: ApiObject): readonly OwnerReference[] {
  return ownerReferences.filter(({ blockOwnerDeletion }) => blockOwnerDeletion === true)
}

export function createGarbageCollector(options: GarbageCollectorOptions): TurnRunner {
  const collector = new GarbageCollector(options)
  return (turn, signal) => collector.run(turn, signal)
}

/** One turn. */
interface Look {
  readonly signal: AbortSignal
  /** Something could not be read. Whoever takes it away by force cannot say whose child it was. */
  isUnsure: boolean
}

interface NamedOwner {
  readonly reference: OwnerReference
  readonly owner: ApiObject | undefined
}

class GarbageCollector {
  readonly #options: GarbageCollectorOptions

  constructor(options: GarbageCollectorOptions) {
    this.#options = options
  }

  async run(turn: Turn, signal: AbortSignal): Promise<void> {
    const { key } = turn
    const look: Look = { signal, isUnsure: false }
    const isOfAll = key.group === childrenKind.group
    if (isOfAll) await this.#lookAtChildren(key.namespace, look)
    await this.#look(isOfAll ? ownerOfAll(key) : key, look)
    await (look.isUnsure && !turn.isNearReceiveLimit ? turn.hold(unreadAgainMs) : turn.settle())
  }

  /** One that cannot be dealt with holds up no other, but the turn comes again. */
  async #lookAtChildren(uid: string, look: Look): Promise<void> {
    const children = (await this.#options.index.childrenOf(uid)).values()
    const failures: unknown[] = []
    const work = async (): Promise<void> => {
      for (const child of children) {
        if (look.signal.aborted) throw giveUpError()
        await this.#actOnNewest(child, look, (object) => this.#settleAsChild(object, uid)).catch((error: unknown) =>
          failures.push(error),
        )
      }
    }
    await Promise.all(Array.from({ length: looksAtOnce }, work))
    if (failures.length > 0) throw failures[0]
  }

  async #look(key: ObjectKey, look: Look): Promise<void> {
    await this.#actOnNewest(key, look, async (object) => {
      await this.#settleAsOwner(object, look)
      await this.#settleAsChild(object)
    })
  }

  /**
   * Again if anything came between: what is deleted or released is what was seen. Nothing happens as long as it, its
   * owners or its children cannot be read.
   */
  async #actOnNewest(key: ObjectKey, look: Look, act: (object: ApiObject) => Promise<void>): Promise<void> {
    const attempt = async (): Promise<void> => {
      const stored = await this.#options.store.get(key)
      if (stored !== undefined) await act(stored.object)
    }
    try {
      await onNewest(attempt, { isConflict: isOvertakenWrite })
    } catch (error) {
      if (!hasCode(error, 'DAMAGED')) throw error
      look.isUnsure = true
    }
  }

  /** `seenUid`: of the owner whose removal, or deletion, has been seen. */
  async #settleAsChild(child: ApiObject, seenUid?: string): Promise<void> {
    if (!isOwned(child)) return
    const named = await this.#ownersOf(child)
    const owners = named.flatMap(({ owner }) => owner ?? [])
    const orphaning = owners.filter((owner) => propagationOf(owner) === 'orphan')
    const waiting = owners.filter((owner) => propagationOf(owner) === 'foregroundDeletion')
    const absent = named.filter(({ owner }) => owner === undefined).map(({ reference }) => reference)
    const gone = await this.#knownAsGone(child, absent, seenUid)
    if (owners.length > waiting.length) {
      const released = isDeleting(child) ? [] : waiting
      const left = new Set([...orphaning, ...released].map(({ metadata }) => metadata.uid))
      const isLeft = (one: OwnerReference): boolean => left.has(one.uid) || (!isDeleting(child) && gone.includes(one))
      return this.#releaseFrom(child, isLeft)
    }
    if (gone.length < absent.length) return
    const free = (await this.#isInCircle(child, waiting)) ? await this.#unblock(child) : child
    if (!isDeleting(free)) await this.#remove(free, waiting.length > 0)
  }

  /** Whether it owns, through others, an owner that waits for it: each would wait for the other for ever. */
  async #isInCircle({ metadata: { uid } }: ApiObject, waiting: readonly ApiObject[]): Promise<boolean> {
    const seen = new Set<string>()
    for (let level = waiting; level.length > 0;) {
      const references = level.flatMap(({ metadata: { ownerReferences = [] } }) => ownerReferences)
      if (references.some((reference) => reference.uid === uid)) return true
      for (const { metadata } of level) seen.add(metadata.uid)
      const named = (await Promise.all(level.map((owner) => this.#ownersOf(owner)))).flat()
      level = named.flatMap(({ owner }) => (owner === undefined || seen.has(owner.metadata.uid) ? [] : [owner]))
    }
    return false
  }

  /** Nobody waits for it any more, as in Kubernetes where owners are in a circle. */
  async #unblock(child: ApiObject): Promise<ApiObject> {
    const { ownerReferences = [] } = child.metadata
    if (ownerReferences.every(({ blockOwnerDeletion }) => blockOwnerDeletion !== true)) return child
    const free = ownerReferences.map((reference) => ({ ...reference, blockOwnerDeletion: false }))
    return (await this.#edit(child, { ownerReferences: free })) ?? child
  }

  /**
   * Of owners that are not there, those of a kind that somebody has defined, and the one that was seen to go. What is
   * in no namespace names an owner that is in one for nothing: nobody can say which namespace, and it stays.
   */
  async #knownAsGone(
    child: ApiObject,
    absent: readonly OwnerReference[],
    seenUid: string | undefined,
  ): Promise<readonly OwnerReference[]> {
    const gone: OwnerReference[] = []
    for (const reference of absent) {
      const { apiVersion, kind, uid } = reference
      const served = await this.#options.catalog.byKind(parseApiVersion(apiVersion).group, kind)
      const isNowhere = served?.namespaced === true && child.metadata.namespace === undefined
      if (!isNowhere && (uid === seenUid || served !== undefined)) gone.push(reference)
    }
    return gone
  }

  /** Whom the child names, with those that are there. */
  async #ownersOf(child: ApiObject): Promise<readonly NamedOwner[]> {
    const references = child.metadata.ownerReferences ?? []
    return Promise.all(
      references.map(async (reference) => ({ reference, owner: await this.#ownerOf(reference, child) })),
    )
  }

  async #ownerOf(reference: OwnerReference, child: ApiObject): Promise<ApiObject | undefined> {
    for (const key of ownerKeys(reference, child)) {
      const owner = (await this.#options.store.get(key))?.object
      if (owner?.metadata.uid === reference.uid) return owner
    }
    return undefined
  }

  async #settleAsOwner(object: ApiObject, look: Look): Promise<void> {
    const how = propagationOf(object)
    if (how === undefined) return
    if (how === 'orphan') await this.#lookAtChildren(object.metadata.uid, look)
    else if (await this.#isWaiting(object)) return
    // A run that is under way may take children back. The finalizer of its clean-up stays until that run has ended.
    if (how === 'orphan' && (object.metadata.finalizers ?? []).length > 1) return
    await this.#dropFinalizer(object, how)
  }

  /** Whether a child is left that it waits for. The first few say so as a rule, and there may be very many. */
  async #isWaiting(owner: ApiObject): Promise<boolean> {
    const { uid } = owner.metadata
    const few = await this.#options.index.childrenOf(uid, fewMax)
    if (await this.#isOneAwaited(few, owner)) return true
    return few.length === fewMax && this.#isOneAwaited(await this.#options.index.childrenOf(uid), owner)
  }

  async #isOneAwaited(children: readonly ObjectKey[], owner: ApiObject): Promise<boolean> {
    for (let i = 0; i < children.length; i += looksAtOnce) {
      const keys = children.slice(i, i + looksAtOnce)
      const some = await Promise.all(keys.map(async (key) => this.#options.store.get(key)))
      if (some.some((child) => child !== undefined && isAwaited(child.object, owner))) return true
    }
    return false
  }

  async #releaseFrom(child: ApiObject, isLeft: (reference: OwnerReference) => boolean): Promise<void> {
    const { ownerReferences = [] } = child.metadata
    const others = ownerReferences.filter((reference) => !isLeft(reference))
    if (others.length < ownerReferences.length) await this.#edit(child, { ownerReferences: others })
  }

  async #dropFinalizer(object: ApiObject, name: string): Promise<void> {
    await this.#edit(object, {
      finalizers: (object.metadata.finalizers ?? []).filter((finalizer) => finalizer !== name),
    })
  }

  /** Names the version it read: throws VERSION_CONFLICT if anything came between. */
  async #edit(
    object: ApiObject,
    metadata: Record<string, string[] | OwnerReference[]>,
  ): Promise<ApiObject | undefined> {
    const kind = await this.#options.catalog.byKind(parseApiVersion(object.apiVersion).group, object.kind)
    if (kind === undefined) return undefined
    const { resourceVersion, name, namespace = '' } = object.metadata
    const { stored } = await this.#options.resources.patch(
      kind,
      { name, namespace },
      { type: 'merge', body: { metadata: { ...metadata, resourceVersion } } },
      { manager: garbageCollectorName },
    )
    return stored.object
  }

  /**
   * Names the version, too: it may have got another owner. An owner that waits for it waits for its children, too. What
   * it says itself of its children comes first.
   */
  async #remove(object: ApiObject, isForeground: boolean): Promise<void> {
    const kind = await this.#options.catalog.byKind(parseApiVersion(object.apiVersion).group, object.kind)
    if (kind === undefined) return
    const { uid, resourceVersion, name, namespace = '' } = object.metadata
    const preconditions = { uid, resourceVersion }
    const isOwner = isForeground && (await this.#options.index.childrenOf(uid, 1)).length > 0
    const propagation = isOwner ? { propagation: 'Foreground' as const } : {}
    await this.#options.resources.delete(kind, { name, namespace }, { ...propagation, preconditions })
  }
}

/**
 * Whether the owner waits for this child. Who names its uid and not its name has another owner, which is gone. Nobody
 * waits for itself.
 */
function isAwaited(child: ApiObject, owner: ApiObject): boolean {
  if (child.metadata.uid === owner.metadata.uid) return false
  return blockedBy(child).some((reference) => reference.uid === owner.metadata.uid && isNamed(owner, reference, child))
}

/** Behind what could not be read. */
const unreadAgainMs = 5 * 60_000
/** Of the children of one owner: DynamoDB has them in one partition, which takes a thousand writes a second. */
const looksAtOnce = 20
/** One will do if all of them block. */
const fewMax = 3
