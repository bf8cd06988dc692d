import { hasCode, OperatingError } from '../model/errors.ts'
import { isObject, textOf, type Json, type JsonObject } from '../model/json.ts'
import { namespaceKeyOf } from '../model/object-key.ts'
import { isDeleting, type ApiObject, type ObjectMeta } from '../model/object.ts'
import { AdmissionBudget } from '../model/policy/admission-budget.ts'
import { invalid } from '../model/schema/field-error.ts'
import type { ServedKind } from '../model/served-kind.ts'
import type { StoredObject } from '../model/stored-object.ts'
import { onNewest } from '../model/on-newest.ts'
import type { Clock } from '../ports/clock.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import type { Random } from '../ports/random.ts'
import { withAcceptedChange } from './accepted-change.ts'
import { admitBody, checkType, faultsBeside, refuse, siftBody, warnOfFaults, type Admitted } from './admission.ts'
import { awaitConversions, convertIfPossible } from './await-conversion.ts'
import { asServed, servedIfConvertible, withShownMetadata } from './as-served.ts'
import {
  createConditionalWrites,
  keyIn,
  requirePlace,
  type ChangePlan,
  type ConditionalWrites,
  type Planned,
} from './conditional-writes.ts'
import {
  applyConfiguration,
  sentManagedFieldsOf,
  withFirstOwner,
  withManagedFields,
  withOwnership,
  type Writer,
} from './field-ownership.ts'
import { admitByHooks, type HookedKind, type HookedWrite } from './hooked-writes.ts'
import { jsonPatch } from './json-patch.ts'
import { mergeByKeys } from './keyed-merge.ts'
import { listObjects } from './listing.ts'
import { mergePatch } from './merge-patch.ts'
import {
  checkPreconditions,
  conflict,
  noNameLeft,
  saysAbsent,
  terminatingRefusal,
  terminationRefusal,
  undecodablePatch,
} from './refusals.ts'
import type { Patch, Place, Resources, SubresourceOption, WriteOptions, Written } from './resources.ts'
import { removeDamaged } from './damaged.ts'
import { checkDeletion, firstState, prepareState } from './states.ts'
import { definitionsIn, findDefinition, isDefinition } from './stored-definitions.ts'
import type { PolicyReview, Reviewed } from './policy-review.ts'
import type { StoredQuotas } from './stored-quotas.ts'
import { toStoredVersion } from './stored-version.ts'
import { createsOnUpdate, mustNameVersion, normalizeBody, type Surroundings } from './strategies.ts'
import { withTwins } from './twin-resources.ts'
import { newObject, markDeleted, replaceObject, withStatus } from './transitions.ts'
import { namesVersion } from '../model/writable-metadata.ts'

export interface ResourcesOptions {
  readonly store: ObjectStore
  readonly clock: Clock
  readonly random: Random
  /** What is created is held against them. Left out, there are none. */
  readonly quotas?: Pick<StoredQuotas, 'reserve'>
  readonly policies?: PolicyReview
  /** Whether a definition may be gone by now of whose kind a creation is. Default: only if its admission took long. */
  readonly mayOutliveKinds?: boolean
}

/** The verbs over a store. */
export function createResources(options: ResourcesOptions): Resources {
  const { store, clock, random, quotas, policies, mayOutliveKinds } = options
  const surroundings = ({ group, kind }: ServedKind): Surroundings | Promise<Surroundings> => {
    const nowMs = clock.nowMs()
    return isDefinition(group, kind) ? definitionsIn(store).then((definitions) => ({ nowMs, definitions })) : { nowMs }
  }
  const writes = createConditionalWrites({ store, clock, surroundings, ...(policies && { policies }) })
  const verbs: Verbs = {
    store,
    clock,
    random,
    surroundings,
    writes,
    ...(mayOutliveKinds !== undefined && { mayOutliveKinds }),
    ...(quotas && { quotas }),
    ...(policies && { policies }),
  }

  return withTwins({
    get: async (kind, at) => {
      const stored = await writes.find(kind, at)
      return awaitConversions(kind, () => asServed(kind, stored))
    },

    list: (kind, asked = {}) => listObjects(store, kind, asked),

    create: async (kind, given, how) =>
      showInVersion(kind, await createNamed(verbs, kind, admitBody(kind, given, how), inOneBudget(how))),

    update: async (kind, given, how) => showInVersion(kind, await update(verbs, kind, given, inOneBudget(how))),

    patch: async (kind, at, given, how) =>
      showInVersion(
        kind,
        await (given.type === 'apply'
          ? applyTo(verbs, { kind, at }, given, inOneBudget(how))
          : patchAt(verbs, { kind, at }, given, how)),
      ),

    delete: async (kind, at, asked = {}) => {
      if (asked.ignoreDamage === true) {
        const removed = await removeDamaged(store, kind, { at, asked })
        if (removed !== undefined) return removed
      }
      const nowMs = clock.nowMs()
      const markFor = (before: ApiObject): ApiObject => {
        checkPreconditions(kind, before.metadata, asked.preconditions ?? {})
        checkDeletion(kind, before)
        return prepareState(markDeleted(before, nowMs, asked.propagation), { nowMs })
      }
      return showInVersion(
        kind,
        await writes.erase(kind, at, {
          mark: markFor,
          dryRun: asked.dryRun === true,
          by: { manager: asked.manager ?? 'unknown', nowMs },
          ...(asked.user === undefined ? {} : { user: asked.user }),
          annotate: asked.annotate,
          said: asked.said,
        }),
      )
    },
  })
}

type InBudget = Required<Pick<WriteOptions, 'budget'>>

/** A write that begins again has no more for it: another has created or removed the object, or taken its name. */
function inOneBudget<How extends WriteOptions>(how: How): How & InBudget {
  const { budget = new AdmissionBudget() } = how
  return { ...how, budget }
}

/** What is written to. */
interface Target {
  readonly kind: ServedKind
  readonly at: Place
}

/** What the verbs share. */
interface Verbs extends ResourcesOptions {
  readonly surroundings: (kind: ServedKind) => Surroundings | Promise<Surroundings>
  readonly writes: ConditionalWrites
}

/** Creates what a writer says, who is its first owner. A name that is made is made again if somebody has it. */
function createNamed(
  verbs: Verbs,
  kind: ServedKind,
  { body, warnings }: Admitted,
  how: WriteOptions & InBudget,
): Promise<Written> {
  const withOwner: typeof withManagedFields = (object) => withFirstOwner(object, writer(verbs, kind, how))
  const attempt = (): Promise<Written> => create(verbs, kind, body, { ...how, warnings, withOwner })
  const { name, generateName } = isObject(body['metadata']) ? body['metadata'] : {}
  if (textOf(name) !== '' || textOf(generateName) === '') return attempt()
  return onNewest(attempt, {
    isConflict: (error) => hasCode(error, 'ALREADY_EXISTS'),
    reword: (error) => (hasCode(error, 'ALREADY_EXISTS') ? noNameLeft(error) : error),
  })
}

/** `withOwner`: the new object with the managedFields that the body says. */
async function create(
  verbs: Verbs,
  kind: ServedKind,
  body: JsonObject,
  how: WriteOptions & InBudget & Pick<Written, 'warnings'> & { readonly withOwner: typeof withManagedFields },
): Promise<Written> {
  if (kind.isEnding === true) throw terminationRefusal()
  const around = await verbs.surroundings(kind)
  const namespace = kind.namespaced ? namespaceOf(body) : ''
  const { nowMs } = around
  const object = newObject(kind, body, { namespace, nowMs, uid: verbs.random.uuid(), suffix: suffix(verbs.random) })
  how.budget.begin()
  const { name } = isObject(body['metadata']) ? body['metadata'] : {}
  const said = { object: how.withOwner(object, body), isNamed: textOf(name) !== '' }
  const admission = admitCreation(verbs, { ...how, kind, around }, said)
  const { state, warnings } = await orNoNamespace(verbs.store, kind, object.metadata, admission)
  const first = withAcceptedChange(kind, undefined, state, { manager: how.manager, nowMs })
  const mayBeGone = verbs.mayOutliveKinds === true || verbs.clock.nowMs() - nowMs > admissionMsMax
  if (!kind.builtIn && mayBeGone) await requireDefinition(verbs.store, kind)
  if (kind.namespaced) await requireNamespace(verbs.store, kind, object.metadata)
  return {
    stored: await insert(verbs, kind, first, how.dryRun === true),
    outcome: 'created',
    warnings: [...how.warnings, ...warnings],
  }
}

/** As on Kubernetes, what is refused in a namespace that is not there, or is going, is refused for that. */
async function orNoNamespace<Result>(
  store: ObjectStore,
  kind: ServedKind,
  metadata: ObjectMeta,
  admission: Promise<Result>,
): Promise<Result> {
  try {
    return await admission
  } catch (error) {
    // Where the store or a server is away, one more read would help nobody.
    const isRefused = hasCode(error, 'INVALID', 'FORBIDDEN')
    if (isRefused && kind.namespaced && metadata.namespace !== '') await requireNamespace(store, kind, metadata)
    throw error
  }
}

/**
 * A creation whose admission takes longer looks at the definition of its kind again. A quicker one is waited for: a
 * definition that is deleted stays for five seconds more at least.
 */
const admissionMsMax = 2_000

type Creation = WriteOptions & InBudget & { readonly kind: ServedKind; readonly around: Surroundings }

/**
 * What becomes of an object that somebody creates, with what all who have a say in it warn of. A name that is made is
 * shown to those who review the object, and not to those who change it: Kubernetes makes it between them.
 */
async function admitCreation(
  verbs: Verbs,
  how: Creation,
  { object, isNamed }: { readonly object: ApiObject; readonly isNamed: boolean },
): Promise<FirstState> {
  const { kind, user, annotate, said, dryRun = false, budget } = how
  const { name } = object.metadata
  const to = { kind, operation: 'CREATE', object: isNamed ? object : nameless(object), subresource: '' } as const
  const mutation = user && verbs.policies?.mutate({ ...to, user, annotate, said, dryRun, budget })
  const mutated = mutation && (await mutation)
  const { object: made = object } = mutated ?? {}
  const whole = isNamed ? made : { ...made, metadata: { ...made.metadata, name: textOf(made.metadata.name) || name } }
  const { state, warnings } = await stateToCreate(verbs, how, whole)
  return { state, warnings: [...(mutated?.warnings ?? []), ...warnings] }
}

function nameless({ metadata, ...object }: ApiObject): ApiObject {
  const { name: _, ...unnamed } = metadata
  return { ...object, metadata: unnamed } as ApiObject
}

/** Admitted, permitted, reviewed, and brought into its stored version; with what hooks and policies warn of. */
async function stateToCreate(
  { clock, policies }: Verbs,
  { kind, around, ...how }: Creation,
  object: ApiObject,
): Promise<FirstState> {
  const { hooks } = kind
  const { state, warnings, seenIn } =
    hooks === undefined
      ? { state: firstState(kind, object, around), warnings: [], seenIn: kind }
      : await firstHookedState({ ...kind, hooks }, { next: object, around, how, clock })
  how.permit?.(state.object)
  const review = reviewCreation({ kind: seenIn, requested: kind }, state.object, { ...how, policies })
  const reviewed = review === undefined ? [] : await review
  const converted = awaitConversions(seenIn, () => toStoredVersion(seenIn, state.object))
  const inStore = converted instanceof Promise ? await converted : converted
  return { state: { ...state, object: inStore }, warnings: [...warnings, ...reviewed] }
}

interface FirstState {
  readonly state: StoredObject
  readonly warnings: readonly string[]
}

/** Permissions see it as hooks do, in the version that is stored. */
async function firstHookedState(
  kind: HookedKind,
  write: HookedWrite,
): Promise<FirstState & { readonly seenIn: ServedKind }> {
  const { inStore, warnings } = await admitByHooks(kind, write)
  return { state: { object: inStore, engine: {} }, warnings, seenIn: { ...kind, version: kind.storageVersion } }
}

function reviewCreation(
  kinds: Required<Pick<Reviewed, 'kind' | 'requested'>>,
  object: ApiObject,
  {
    user,
    annotate,
    said,
    dryRun = false,
    policies,
    budget,
  }: WriteOptions & Pick<Reviewed, 'budget'> & { readonly policies: ResourcesOptions['policies'] | undefined },
): ReturnType<PolicyReview['review']> {
  if (user === undefined) return undefined
  const asked = { user, annotate, said, dryRun, budget }
  return policies?.review({ ...kinds, operation: 'CREATE', object, subresource: '', ...asked })
}

/** Within the quotas of its namespace. */
async function insert(
  { writes, quotas }: Verbs,
  kind: ServedKind,
  first: StoredObject,
  dryRun: boolean,
): Promise<StoredObject> {
  const asked = kind.namespaced ? quotas?.reserve(kind, first.object, dryRun) : undefined
  if (asked === undefined) return writes.insert(kind, first, dryRun)
  const reservation = await asked
  try {
    return await writes.insert(kind, first, dryRun)
  } catch (error) {
    if (!dryRun && hasCode(error, 'ALREADY_EXISTS', 'TOO_LARGE')) await reservation?.cancel()
    throw error
  }
}

async function update(
  verbs: Verbs,
  kind: ServedKind,
  given: JsonObject,
  how: Parameters<Resources['update']>[2] & InBudget,
): Promise<Written> {
  const sent = siftBody(kind, given)
  const { body } = sent
  const metadata = isObject(body['metadata']) ? body['metadata'] : {}
  const at = { namespace: namespaceOf(body), name: textOf(metadata['name']) }
  const warningsBeside = (live?: ApiObject): readonly string[] => [
    ...warnOfFaults(kind, faultsBeside(kind, sent, live), how),
    ...sent.warnings,
  ]
  const next = ({ object: live }: StoredObject): Planned => {
    const warnings = warningsBeside(live)
    return { object: rewritten(live, body, writer(verbs, kind, how)), warnings }
  }
  const change = (): Promise<Written> => verbs.writes.change(kind, at, plan(next, namesVersion(metadata), how))
  if (!createsOnUpdate(kind)) return change()
  const put = async (): Promise<Written> => {
    try {
      return await change()
    } catch (error) {
      if (!saysAbsent(error, kind, at.name)) throw error
      refuseUid(kind, at, body)
      return createNamed(verbs, kind, { body: withoutVersion(body), warnings: warningsBeside() }, how)
    }
  }
  return onNewest(put, { isConflict: (error) => hasCode(error, 'ALREADY_EXISTS') })
}

/** Who puts an object in the place of one that is gone may name the version of that one. */
function withoutVersion(body: JsonObject): JsonObject {
  const { resourceVersion: _, ...metadata } = isObject(body['metadata']) ? body['metadata'] : {}
  return { ...body, metadata }
}

function patchAt(
  verbs: Verbs,
  { kind, at }: Target,
  given: PlainPatch,
  how: WriteOptions & SubresourceOption,
): Promise<Written> {
  const next = (before: StoredObject): Planned => {
    const live = asServed(kind, before).object
    const { body, warnings } = admitBody(kind, patchObject(kind, live, given), how, live)
    refuseOtherUid(kind, live, body, how)
    try {
      return { object: rewritten(before.object, body, writer(verbs, kind, how)), warnings }
    } catch (error) {
      throw hasCode(error, 'UNDECODABLE') ? undecodablePatch(error.message) : error
    }
  }
  return verbs.writes.change(kind, at, plan(next, namesVersionIn(given), how))
}

/**
 * Changes the object, or creates it if there is none. Another request may create or remove the object between the look
 * and the write. The apply then begins again: only for a subresource is it told that there is no object.
 */
async function applyTo(
  verbs: Verbs,
  { kind, at }: Target,
  given: ApplyPatch,
  how: WriteOptions & SubresourceOption & InBudget,
): Promise<Written> {
  checkType(kind, given.body)
  const config = atPlace(kind, normalizeBody(kind, given.body), at)
  const mayCreate = how.subresource === undefined && how.path === undefined
  let isThere = true
  const apply = async (): Promise<Written> => {
    isThere = !mayCreate || (await verbs.store.get(keyIn(kind, at))) !== undefined
    if (!isThere) {
      refuseUid(kind, at, config)
      const body = applyConfiguration(undefined, config, given.force, writer(verbs, kind, how))
      return create(verbs, kind, withoutVersion(body), { ...how, warnings: [], withOwner: withManagedFields })
    }
    return verbs.writes.change(kind, at, plan(next, namesVersionIn(given), how))
  }
  const next = (before: StoredObject): Planned => {
    how.check?.(before.object)
    const body = applyConfiguration(asServed(kind, before).object, config, given.force, writer(verbs, kind, how))
    refuseOtherUid(kind, before.object, body, how)
    return { object: withManagedFields(mergeWrite(before.object, body, writer(verbs, kind, how)), body), warnings: [] }
  }
  const isOvertaken = (error: unknown): boolean =>
    isThere ? saysAbsent(error, kind, at.name) : hasCode(error, 'ALREADY_EXISTS')
  return onNewest(apply, { isConflict: (error) => mayCreate && isOvertaken(error) })
}

function writer(
  { clock }: Verbs,
  kind: ServedKind,
  { manager, path, subresource: half }: WriteOptions & SubresourceOption,
): Writer {
  const subresource = half ?? path?.subresource
  return { kind, manager, nowMs: clock.nowMs(), ...(subresource === undefined ? {} : { subresource }) }
}

type ApplyPatch = Extract<Patch, { readonly type: 'apply' }>
type PlainPatch = Exclude<Patch, ApplyPatch>

function plan(
  next: ChangePlan['next'],
  isVersioned: boolean,
  {
    dryRun = false,
    manager,
    permit,
    user,
    annotate,
    said,
    subresource,
    path,
    budget,
  }: WriteOptions & SubresourceOption,
): ChangePlan {
  const asked = { ...(user && { user }), ...(subresource && { subresource }), ...(path && { path }) }
  return { next, namesVersion: isVersioned, dryRun, manager, permit, annotate, said, budget, ...asked }
}

/** The object after a write through one of its two paths. Throws INVALID for a write of no version that needs one. */
function mergeWrite(before: ApiObject, body: JsonObject, { kind, subresource }: Writer): ApiObject {
  const isVersioned = isObject(body['metadata']) && namesVersion(body['metadata'])
  if (!isVersioned && mustNameVersion(kind)) refuse(kind, before.metadata.name, [versionRequired])
  return subresource === 'status' ? withStatus(kind, before, body) : replaceObject(kind, before, body, subresource)
}

const versionRequired = {
  field: 'metadata.resourceVersion',
  reason: 'FieldValueInvalid',
  message: 'Invalid value: 0x0: must be specified for an update',
} as const

function rewritten(before: ApiObject, body: JsonObject, how: Writer): ApiObject {
  return withOwnership(before, mergeWrite(before, body, how), sentManagedFieldsOf(body), how)
}

/** What is applied is named by the path it came by. */
function atPlace(kind: ServedKind, body: JsonObject, { name, namespace = '' }: Place): JsonObject {
  const metadata = isObject(body['metadata']) ? body['metadata'] : {}
  const place = kind.namespaced ? { name, namespace } : { name }
  return { ...body, metadata: { ...place, ...metadata } }
}

/** Who names a uid means an object that was there: nobody makes another in its place. */
function refuseUid(kind: ServedKind, { name }: Place, { metadata }: JsonObject): void {
  const uid = isObject(metadata) ? textOf(metadata['uid']) : ''
  if (uid === '') return
  const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`
  throw conflict(kind, { name, uid }, why)
}

/**
 * Refuses a patch that gives an object another uid. As on Kubernetes the answer is INVALID, because a uid never
 * changes. A controller that releases its children reads this answer as the end of the child. After a conflict it would
 * try again.
 */
function refuseOtherUid(
  kind: ServedKind,
  { metadata: { name, uid: live } }: ApiObject,
  { metadata }: JsonObject,
  { user, subresource, path }: WriteOptions & SubresourceOption,
): void {
  const uid = isObject(metadata) ? textOf(metadata['uid']) : ''
  const isOfObject = user !== undefined && subresource === undefined && path === undefined
  if (isOfObject && uid !== '' && uid !== live) refuse(kind, name, [invalid('metadata.uid', uid, 'field is immutable')])
}

function patchObject(kind: ServedKind, target: ApiObject, patch: PlainPatch): JsonObject {
  if (patch.type === 'json') {
    const isOfMetadata = patch.body.some(({ path, from }) => namesOwners(path) || namesOwners(from))
    return jsonPatch(isOfMetadata ? withShownMetadata(kind, target) : target, patch.body)
  }
  const { body, keyedBy } = patch
  return (keyedBy === undefined ? mergePatch(target, body) : mergeByKeys(target, body, keyedBy)) as JsonObject
}

/** Whether a place of a JSON patch is among the managedFields, or holds them. */
function namesOwners(pointer: Json | undefined): boolean {
  return typeof pointer === 'string' && /^(?:\/metadata(?:\/managedFields(?:\/.*)?)?)?$/s.test(pointer)
}

function namesVersionIn(patch: Patch): boolean {
  if (patch.type === 'json') return patch.body.some((operation) => operation['path'] === '/metadata/resourceVersion')
  return isObject(patch.body['metadata']) && namesVersion(patch.body['metadata'])
}

async function requireDefinition(store: ObjectStore, kind: ServedKind): Promise<void> {
  const definition = await findDefinition(store, kind)
  if (definition === undefined || isDeleting(definition.object)) throw terminationRefusal()
}

async function requireNamespace(
  store: ObjectStore,
  kind: ServedKind,
  { name: created, namespace: name = '' }: ObjectMeta,
): Promise<void> {
  requirePlace(kind, { name: created, namespace: name })
  const stored = await store.get(namespaceKeyOf(name))
  if (stored === undefined) {
    const details = { name, kind: 'namespaces' }
    throw new OperatingError('NOT_FOUND', `namespaces "${name}" not found`, { details })
  }
  if (isDeleting(stored.object)) throw terminatingRefusal(kind, created, name)
}

/** What cannot be shown there is shown as it is stored: it is written by now. */
function showInVersion<Result extends { readonly stored: StoredObject }>(
  kind: ServedKind,
  result: Result,
): Result | Promise<Result> {
  if (kind.conversion?.prepare === undefined) return withServed(kind, result)
  return convertIfPossible(kind, [result.stored]).then(() => withServed(kind, result))
}

function withServed<Result extends { readonly stored: StoredObject }>(kind: ServedKind, result: Result): Result {
  const { stored } = result
  return { ...result, stored: servedIfConvertible(kind, stored) ?? stored }
}

function namespaceOf(body: JsonObject): string {
  return isObject(body['metadata']) ? textOf(body['metadata']['namespace']) : ''
}

function suffix(random: Random): string {
  return Array.from({ length: 5 }, () => suffixLetters[Math.floor(random.next() * suffixLetters.length)]).join('')
}

/** No vowels and no look-alikes, as Kubernetes chooses them. */
const suffixLetters = 'bcdfghjklmnpqrstvwxz2456789'
