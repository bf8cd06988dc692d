import type { Requester } from '../model/admission-hooks.ts'
import { hasCode, OperatingError } from '../model/errors.ts'
import { proceed, type Eventual } from '../model/eventual.ts'
import type { JsonObject } from '../model/json.ts'
import { keyOf, type ObjectKey } from '../model/object-key.ts'
import { onNewest } from '../model/on-newest.ts'
import { isDeleting, parseApiVersion, type ApiObject, type ObjectMeta } from '../model/object.ts'
import type { ServedKind } from '../model/served-kind.ts'
import { checkStateSize } from '../model/size-limit.ts'
import type { StoredObject, Touched } from '../model/stored-object.ts'
import type { Clock } from '../ports/clock.ts'
import { AdmissionBudget } from '../model/policy/admission-budget.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import { withAcceptedChange, type Changer } from './accepted-change.ts'
import { awaitConversions } from './await-conversion.ts'
import { asServed, withLaterDefaults } from './as-served.ts'
import { convertStored, isOutdated } from './converted-reads.ts'
import { admitByHooks, admitDeletion, concernsHooks, type HookedKind, type HookedWrite } from './hooked-writes.ts'
import { withFormerOwner } from './former-owner.ts'
import { kindOfStored } from './missing-conversion.ts'
import { alreadyExists, conflict, notFound } from './refusals.ts'
import type { Deleted, PermitWrite, Place, Written } from './resources.ts'
import { completeState, isReleased } from './states.ts'
import { toStoredVersion } from './stored-version.ts'
import type { Annotate, Mutated, PolicyReview, Reviewed, ReviewedPath } from './policy-review.ts'
import type { Surroundings } from './strategies.ts'
import { findTouched, withGeneration } from './transitions.ts'

/** Reads and conditional writes of one object, tried again on the newest version where the writer did not name one. */
export interface ConditionalWrites {
  /** Throws NOT_FOUND. */
  find(kind: ServedKind, at: Place): Eventual<StoredObject>
  /** Throws ALREADY_EXISTS, in a dry run too. */
  insert(kind: ServedKind, stored: StoredObject, dryRun: boolean): Promise<StoredObject>
  change(kind: ServedKind, at: Place, plan: ChangePlan): Promise<Written>
  erase(kind: ServedKind, at: Place, plan: ErasePlan): Promise<Deleted>
}

export interface ChangePlan {
  /** What to make of the newest version, with the defaults that its kind has by now; may throw. */
  readonly next: (before: StoredObject) => Planned
  /** The writer named a resourceVersion: a conflict is the writer's to solve. */
  readonly namesVersion: boolean
  readonly dryRun: boolean
  /** Who writes. */
  readonly manager: string
  readonly permit?: PermitWrite | undefined
  readonly annotate?: Annotate | undefined
  readonly said?: JsonObject | undefined
  /** Who asks, for hooks and policies. */
  readonly user?: Requester
  readonly subresource?: 'status'
  /** Policies see the write as one of this path. */
  readonly path?: ReviewedPath
  /** What admission may take. Left out, the change has its own. */
  readonly budget?: AdmissionBudget | undefined
}

export interface Planned extends Pick<Written, 'warnings'> {
  readonly object: ApiObject
}

export interface ErasePlan {
  /** The object marked for deletion; may throw. */
  readonly mark: (before: ApiObject) => ApiObject
  readonly dryRun: boolean
  readonly by: Changer
  /** Who asks, for hooks. Left out: they are not asked. */
  readonly user?: Requester
  readonly annotate?: Annotate | undefined
  readonly said?: JsonObject | undefined
}

interface WriteRun extends ConditionalWritesOptions {
  readonly budget: AdmissionBudget
}

/** As it was read, and as the writer sees it: with defaults, and in their version if functions convert it. */
interface Live {
  readonly found: StoredObject
  readonly before: StoredObject
}

export interface ConditionalWritesOptions {
  readonly store: ObjectStore
  readonly clock: Clock
  readonly surroundings: (kind: ServedKind) => Surroundings | Promise<Surroundings>
  readonly policies?: PolicyReview
}

export function createConditionalWrites(options: ConditionalWritesOptions): ConditionalWrites {
  const { store, clock, policies } = options

  const find: ConditionalWrites['find'] = (kind, at) =>
    proceed(store.get(placedKey(kind, at)), (stored) => {
      if (stored === undefined) throw notFound(kind, at.name)
      return stored
    })

  const insert: ConditionalWrites['insert'] = async (kind, stored, dryRun) => {
    try {
      return await (dryRun ? rehearse(store, stored) : store.create(stored))
    } catch (error) {
      throw hasCode(error, 'ALREADY_EXISTS') ? await nameTaken(kind, store, stored) : error
    }
  }

  /**
   * Makes `attempt` of the newest version, again if another write came between and `mayRetry`. Who means another object
   * than there is means another one at each look.
   */
  function attemptOnNewest<Result>(
    { kind, at, mayRetry }: { readonly kind: ServedKind; readonly at: Place; readonly mayRetry: boolean },
    attempt: (before: StoredObject) => Promise<Result>,
  ): Promise<Result> {
    let before: StoredObject | undefined
    return onNewest(() => proceed(find(kind, at), (found) => attempt((before = found))), {
      isConflict: (error) => mayRetry && isOvertaken(error),
      reword: (error) => (before === undefined ? error : rewordError(kind, before, error)),
    })
  }

  const change: ConditionalWrites['change'] = (kind, at, plan) => {
    const { budget = new AdmissionBudget() } = plan
    const how = { ...options, budget }
    return attemptOnNewest({ kind, at, mayRetry: !plan.namesVersion }, (found) => {
      budget.begin()
      if (kind.conversion?.prepare !== undefined) return changeByCalls(kind, found, plan, how)
      const live = seeLive(kindOfStored(kind, found.object), found)
      return commit(live, plan.next(live.before), plan, how)
    })
  }

  const erase: ConditionalWrites['erase'] = (kind, at, { mark, dryRun, by, user, annotate, said }) => {
    const budget = new AdmissionBudget()
    return attemptOnNewest({ kind, at, mayRetry: true }, async (before) => {
      budget.begin()
      // Who means another object learns it at once: nobody is asked about this one.
      const marked = mark(before.object)
      const { hooks } = kind
      if (hooks !== undefined && user !== undefined && !isDeleting(before.object))
        await admitDeletion({ ...kind, hooks }, before.object, { how: { manager: by.manager, user, dryRun }, clock })
      // As on Kubernetes, also of what is being deleted already.
      if (policies !== undefined && user !== undefined) {
        const { object: old } = beforeDeletion(kind, before)
        const told = { user, annotate, said, dryRun, budget }
        const asked = { kind, operation: 'DELETE', old, subresource: '', ...told } as const
        await policies.mutate(asked)
        await policies.review(asked)
      }
      const next = withNotes(kind, before, marked, by)
      const gone = isReleased(next.object)
      const touched = touchedByDeletion(before.object, next.object)
      if (dryRun || (touched.length === 0 && !gone)) return { stored: next, gone }
      return { stored: await (gone ? store.remove(next) : store.replace(next, touched)), gone }
    })
  }

  return { find, insert, change, erase }
}

/** What policies are given. Only one that is concerned has a webhook convert it. */
function beforeDeletion(kind: ServedKind, before: StoredObject): StoredObject {
  return kind.conversion?.prepare === undefined ? asServed(kind, before) : before
}

/** A request that says anew what becomes of the children is looked at as the first one is. */
function touchedByDeletion(before: ApiObject, next: ApiObject): Touched {
  const touched = findTouched(before, next)
  if (!isDeleting(before)) return touched
  return touched.includes('meta') ? ['delete', ...touched] : []
}

function seeLive(kind: ServedKind, found: StoredObject): LiveOf {
  const seen = kind.conversion === undefined ? found : asServed(kind, found)
  const object = withLaterDefaults(kind, seen.object)
  return { kind, found, before: object === found.object ? found : { ...found, object } }
}

/** The same where somebody else is asked to convert the object. */
async function changeByCalls(
  kind: ServedKind,
  found: StoredObject,
  plan: ChangePlan,
  options: WriteRun,
): Promise<Written> {
  const live = await awaitConversions(kind, () => ({ ...seeLive(kind, found), found: inPresentVersion(kind, found) }))
  const planned = await awaitConversions(kind, () => plan.next(live.before))
  return commit(live, planned, plan, options)
}

/** No read from the store has asked a webhook. Who writes in the version that an object is stored in needs none. */
function inPresentVersion({ conversion, version }: ServedKind, found: StoredObject): StoredObject {
  const isOwn = parseApiVersion(found.object.apiVersion).version === version
  return conversion === undefined || isOwn ? found : convertStored(conversion, found)
}

/** Writes what was planned for an object, if anything changes. */
async function commit(live: LiveOf, sent: Planned, plan: ChangePlan, options: WriteRun): Promise<Written> {
  const { kind, before } = live
  const { policies, budget } = options
  const { user, annotate, said, dryRun, manager, path, subresource = '' } = plan
  const asks = policies !== undefined && user !== undefined
  const asker = asks && { operation: 'UPDATE' as const, subresource, user, annotate, said, dryRun, budget }
  const to = { kind, object: sent.object, old: before.object }
  const mutation = asker && policies.mutate({ ...asker, ...shownBy(path, to) })
  const planned = mutation ? withMutation(live, sent, await mutation, path) : sent
  const asked = options.surroundings(kind)
  const around = asked instanceof Promise ? await asked : asked
  const { hooks } = kind
  const isHooked =
    hooks !== undefined &&
    concernsHooks(kind, { found: live.found.object, before: before.object, next: planned.object })
  const made = isHooked
    ? admitHooked({ ...kind, hooks }, live, planned, { around, how: plan, clock: options.clock })
    : awaitConversions(kind, () => admit(live, planned, around))
  const admitted = made instanceof Promise ? await made : made
  const isUnchanged = admitted.touched.length === 0
  if (!isUnchanged) plan.permit?.(admitted.seen.object, admitted.seen.old)
  // As on Kubernetes, a write is held against policies whether or not it changes anything.
  const seen = path === undefined ? admitted.seen : shownBy(path, { ...to, object: planned.object })
  const review = asker && policies.review({ ...asker, ...seen })
  const warnings = review ? [...admitted.warnings, ...(await review)] : admitted.warnings
  if (isUnchanged) return { stored: before, outcome: 'unchanged', warnings }
  const { was, is, touched } = admitted
  const next = withNotes(kind, was, is, { manager, nowMs: around.nowMs })
  if (dryRun) {
    checkStateSize(next, touched)
    return { stored: next, outcome: 'updated', warnings, before }
  }
  const stored = await (isReleased(is) ? options.store.remove(next) : options.store.replace(next, touched))
  return { stored, outcome: 'updated', warnings, before }
}

/** The next state, with what the engine is to know of the write. */
function withNotes(kind: ServedKind, before: StoredObject, object: ApiObject, by: Changer): StoredObject {
  return withFormerOwner(before, withAcceptedChange(kind, before, { ...before, object }, by))
}

/** What a path absorbs changes what is desired of the object, as it was planned or back to what it was. */
function withMutation(
  { kind, before }: LiveOf,
  { object, warnings }: Planned,
  mutated: Mutated,
  path: ReviewedPath | undefined,
): Planned {
  const { object: made = object } = mutated
  return {
    object:
      path === undefined || mutated.object === undefined
        ? made
        : withGeneration(kind, before.object, path.absorb(object, made)),
    warnings: [...warnings, ...mutated.warnings],
  }
}

type Change = Pick<Reviewed, 'kind'> & { readonly object: ApiObject; readonly old: ApiObject }
type Shown = Change & Pick<Reviewed, 'resource' | 'subresource'>

/** What admission sees of a write by a path. */
function shownBy(path: ReviewedPath | undefined, to: Change): Change | Shown {
  if (path === undefined) return to
  const { kind, subresource } = path
  return { kind, resource: to.kind, subresource, object: path.show(to.object), old: path.show(to.old) }
}

type LiveOf = Live & { readonly kind: ServedKind }

/** What a write comes to, once defaults, schema and hooks have had their say. */
interface Admitted extends Pick<Written, 'warnings'> {
  readonly was: StoredObject
  /** As it is going to be stored. */
  readonly is: ApiObject
  /** Nothing: there is nothing to write. */
  readonly touched: Touched
  /** The change in one version of the kind, as permissions see it. */
  readonly seen: {
    readonly kind: ServedKind
    readonly requested?: ServedKind
    readonly object: ApiObject
    readonly old: ApiObject
  }
}

function admit(
  { kind, found, before }: LiveOf,
  { object: planned, warnings }: Planned,
  around: Surroundings,
): Admitted {
  const object = completeState(kind, before.object, planned, around)
  const touched = findTouched(before.object, object)
  const seen = { kind, object, old: before.object }
  if (kind.conversion === undefined) return { was: before, is: object, touched, seen, warnings }
  // A write that changes nothing stores the object in the present version of its kind.
  if (touched.length === 0 && !isOutdated(found.object)) return { was: found, is: object, touched, seen, warnings }
  const is = toStoredVersion(kind, object, { found: found.object, before: before.object })
  return { was: found, is, touched: touchedInStore(touched, object, is), seen, warnings }
}

/** A label or an annotation of one version may be a part of the spec in the stored one. */
function touchedInStore(touched: Touched, { metadata: said }: ApiObject, { metadata: stored }: ApiObject): Touched {
  if (said.generation !== stored.generation) return ['spec', ...touched]
  return touched.length === 0 ? ['fields'] : touched
}

async function admitHooked(
  kind: HookedKind,
  { found, before }: Live,
  { object: next, warnings }: Planned,
  asked: Pick<HookedWrite, 'around' | 'how' | 'clock'>,
): Promise<Admitted> {
  const live = { found: found.object, before: before.object }
  const admitted = await admitByHooks(kind, { ...asked, next, live })
  const is = admitted.inStore
  return {
    was: found,
    is,
    touched: findTouched(found.object, is),
    seen: { kind: { ...kind, version: kind.storageVersion }, requested: kind, object: is, old: found.object },
    warnings: [...warnings, ...admitted.warnings],
  }
}

async function nameTaken(kind: ServedKind, store: ObjectStore, stored: StoredObject): Promise<OperatingError> {
  return alreadyExists(kind, stored.object.metadata.name, await isLeaving(store, stored))
}

/** Whether the object that has the name is being deleted. One that cannot be read keeps its name all the same. */
async function isLeaving(store: ObjectStore, { object }: StoredObject): Promise<boolean> {
  try {
    const there = await store.get(keyOf(object))
    return there !== undefined && isDeleting(there.object)
  } catch (error) {
    if (error instanceof OperatingError) return false
    throw error
  }
}

/** What was not written has no version. */
async function rehearse(store: ObjectStore, stored: StoredObject): Promise<StoredObject> {
  const { resourceVersion: _, ...metadata } = stored.object.metadata
  if ((await store.get(keyOf(stored.object))) !== undefined) throw new OperatingError('ALREADY_EXISTS', 'it is there')
  checkStateSize(stored, ['spec'])
  return { ...stored, object: { ...stored.object, metadata: metadata as ObjectMeta } }
}

/** The store's own words say nothing of kinds. Who names something knew more, and may mean another object. */
function rewordError(kind: ServedKind, before: StoredObject, error: unknown): unknown {
  const isGone = hasCode(error, 'NOT_FOUND') && error.details.name === undefined
  if (isGone) return notFound(kind, before.object.metadata.name)
  return isOvertaken(error) ? conflict(kind, before.object.metadata) : error
}

/** Another writer was ahead, as the store says it. A refusal of the object that the writer meant names that object. */
function isOvertaken(error: unknown): boolean {
  return hasCode(error, 'VERSION_CONFLICT') && error.details.name === undefined
}

/**
 * Without its namespace an object cannot be found, which is no sign that there is none. What has no name either is
 * refused for that.
 */
export function requirePlace({ kind, namespaced }: ServedKind, { namespace = '', name }: Place): void {
  if (namespaced && namespace === '' && name !== '')
    throw new OperatingError('BAD_REQUEST', `${kind} ${name} is in a namespace: say which, as { namespace, name }`)
}

function placedKey(kind: ServedKind, at: Place): ObjectKey {
  requirePlace(kind, at)
  return keyIn(kind, at)
}

/** The key of an object of this kind; cluster-scoped kinds have no namespace. */
export function keyIn(kind: ServedKind, { namespace = '', name }: Place): ObjectKey {
  return { group: kind.group, kind: kind.kind, namespace: kind.namespaced ? namespace : '', name }
}
