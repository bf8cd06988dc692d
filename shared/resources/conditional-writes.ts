import { hasCode, OperatingError } from '../model/errors.ts'
import { keyOf, type ObjectKey } from '../model/object-key.ts'
import { onNewest } from '../model/on-newest.ts'
import { isDeleting, type ApiObject, type ObjectMeta } from '../model/object.ts'
import type { ServedKind } from '../model/served-kind.ts'
import type { StoredObject, Touched } from '../model/stored-object.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import { withAcceptedChange, type Changer } from './accepted-change.ts'
import { withDefaults } from './admission.ts'
import { asServed } from './as-served.ts'
import { isOutdated } from './converted-reads.ts'
import { alreadyExists, conflict, notFound } from './refusals.ts'
import type { Deleted, PermitWrite, Place, Written } from './resources.ts'
import { completeState, isReleased } from './states.ts'
import { toStoredVersion } from './stored-version.ts'
import type { Surroundings } from './strategies.ts'
import { findTouched } from './transitions.ts'

/** Reads and conditional writes of one object, tried again on the newest version where the writer did not name one. */
export interface ConditionalWrites {
  /** Throws NOT_FOUND. */
  find(kind: ServedKind, at: Place): Promise<StoredObject>
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
}

export interface Planned extends Pick<Written, 'warnings'> {
  readonly object: ApiObject
}

export interface ErasePlan {
  /** The object marked for deletion; may throw. */
  readonly mark: (before: ApiObject) => ApiObject
  readonly dryRun: boolean
  readonly by: Changer
}

/** As it was read, and as the writer sees it: with defaults, and in their version if functions convert it. */
interface Live {
  readonly found: StoredObject
  readonly before: StoredObject
}

export interface ConditionalWritesOptions {
  readonly store: ObjectStore
  readonly surroundings: (kind: ServedKind) => Surroundings | Promise<Surroundings>
}

export function createConditionalWrites(options: ConditionalWritesOptions): ConditionalWrites {
  const { store } = options

  const find: ConditionalWrites['find'] = async (kind, at) => {
    const stored = await store.get(keyIn(kind, at))
    if (stored === undefined) throw notFound(kind, at.name)
    return stored
  }

  const insert: ConditionalWrites['insert'] = async (kind, stored, dryRun) => {
    try {
      return await (dryRun ? rehearse(store, stored) : store.create(stored))
    } catch (error) {
      throw hasCode(error, 'ALREADY_EXISTS') ? alreadyExists(kind, stored.object.metadata.name) : error
    }
  }

  /** Makes `attempt` of the newest version, again if another write came between and `mayRetry`. */
  async function attemptOnNewest<Result>(
    { kind, at, mayRetry }: { readonly kind: ServedKind; readonly at: Place; readonly mayRetry: boolean },
    attempt: (before: StoredObject) => Promise<Result>,
  ): Promise<Result> {
    const isConflict = (error: unknown): boolean => mayRetry && hasCode(error, 'VERSION_CONFLICT')
    let before: StoredObject | undefined
    try {
      return await onNewest(async () => attempt((before = await find(kind, at))), isConflict)
    } catch (error) {
      throw before === undefined ? error : rewordError(kind, before, error)
    }
  }

  const change: ConditionalWrites['change'] = (kind, at, plan) =>
    attemptOnNewest({ kind, at, mayRetry: !plan.namesVersion }, (found) => {
      const seen = kind.conversion === undefined ? found : asServed(kind, found)
      const object = withDefaults(kind, seen.object)
      const before = object === found.object ? found : { ...found, object }
      return commit({ kind, found, before }, plan.next(before), plan, options)
    })

  const erase: ConditionalWrites['erase'] = (kind, at, { mark, dryRun, by }) =>
    attemptOnNewest({ kind, at, mayRetry: true }, async (before) => {
      const next = withAcceptedChange(kind, before, { ...before, object: mark(before.object) }, by)
      const gone = isReleased(next.object)
      if (dryRun || (isDeleting(before.object) && !gone)) return { stored: next, gone }
      return {
        stored: await (gone ? store.remove(next) : store.replace(next, findTouched(before.object, next.object))),
        gone,
      }
    })

  return { find, insert, change, erase }
}

/** Writes what was planned for an object, if anything changes. */
async function commit(
  { kind, found, before }: Live & { readonly kind: ServedKind },
  { warnings, ...planned }: Planned,
  { dryRun, manager, permit }: ChangePlan,
  { store, surroundings }: ConditionalWritesOptions,
): Promise<Written> {
  const asked = surroundings(kind)
  const around = asked instanceof Promise ? await asked : asked
  const object = completeState(kind, before.object, planned.object, around)
  const touched = findTouched(before.object, object)
  const migrates = kind.conversion !== undefined && isOutdated(found.object)
  if (touched.length === 0 && !migrates) return { stored: before, outcome: 'unchanged', warnings }
  permit?.(object, before.object)
  const states = statesInStore(kind, { found, before }, object)
  const next = withAcceptedChange(kind, ...states, { manager, nowMs: around.nowMs })
  if (dryRun) return { stored: next, outcome: 'updated', warnings, before }
  const parts: Touched = touched.length === 0 ? ['fields'] : touched
  const stored = await (isReleased(object) ? store.remove(next) : store.replace(next, parts))
  return { stored, outcome: 'updated', warnings, before }
}

/** The object before and after a write, in the version that it is stored in. */
function statesInStore(
  kind: ServedKind,
  { found, before }: Live,
  object: ApiObject,
): readonly [before: StoredObject, after: StoredObject] {
  if (kind.conversion === undefined) return [before, { ...before, object }]
  const inStore = toStoredVersion(kind, object, { found: found.object, before: before.object })
  return [found, { ...found, object: inStore }]
}

/** What was not written has no version. */
async function rehearse(store: ObjectStore, stored: StoredObject): Promise<StoredObject> {
  const { resourceVersion: _, ...metadata } = stored.object.metadata
  if ((await store.get(keyOf(stored.object))) !== undefined) throw new OperatingError('ALREADY_EXISTS', 'it is there')
  return { ...stored, object: { ...stored.object, metadata: metadata as ObjectMeta } }
}

/** The store's own words say nothing of kinds. */
function rewordError(kind: ServedKind, before: StoredObject, error: unknown): unknown {
  if (hasCode(error, 'NOT_FOUND')) return notFound(kind, before.object.metadata.name)
  return hasCode(error, 'VERSION_CONFLICT') && error.details.name === undefined
    ? conflict(kind, before.object.metadata)
    : error
}

/** The key of an object of this kind; cluster-scoped kinds have no namespace. */
export function keyIn(kind: ServedKind, { namespace = '', name }: Place): ObjectKey {
  return { group: kind.group, kind: kind.kind, namespace: kind.namespaced ? namespace : '', name }
}
