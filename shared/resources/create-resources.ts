import { hasCode, OperatingError } from '../model/errors.ts'
import { isObject, type JsonObject } from '../model/json.ts'
import { keyText, type ObjectKey } from '../model/object-key.ts'
import { apiVersionOf, isDeleting, type ApiObject } from '../model/object.ts'
import type { ServedKind } from '../model/served-kind.ts'
import { required } from '../model/schema/field-error.ts'
import type { EngineState, StoredObject } from '../model/stored-object.ts'
import type { Clock } from '../ports/clock.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import type { Random } from '../ports/random.ts'
import { admit, checkSchema, checkType, refuse, withDefaults, type Admitted } from './admission.ts'
import { applied, sentManagedFields, withManagedFields, withOwnership, type Writer } from './field-ownership.ts'
import { listObjects } from './listing.ts'
import { checkMetadata, checkNoNewFinalizers } from './metadata.ts'
import { jsonPatch, mergePatch } from './patching.ts'
import type { Deleted, DeleteOptions, Patch, Place, Resources, SubresourceOption, WriteOptions, Written } from './resources.ts'
import { strategyOf, takenIn } from './strategies.ts'
import { born, conflict, marked, replaced, resourceName, touchedBy, withStatus } from './transitions.ts'

export interface ResourcesOptions {
  readonly store: ObjectStore
  readonly clock: Clock
  readonly random: Random
  /** Called after each write that changed something: the catalog forgets what it read. */
  readonly onWrite?: (stored: StoredObject) => void
}

/** The verbs over a store. */
export function createResources(options: ResourcesOptions): Resources {
  const { store, clock, random, onWrite } = options

  const get: Resources['get'] = async (kind, at) => inVersion(kind, await live(store, kind, at))

  const create: Resources['create'] = async (kind, given, write) => {
    const { body, warnings } = admit(kind, given, write)
    return createFrom(kind, body, { ...write, warnings })
  }

  const createFrom = async (kind: ServedKind, body: JsonObject, write: WriteOptions & Pick<Written, 'warnings'>): Promise<Written> => {
    const nowMs = clock.nowMs()
    const namespace = kind.namespaced ? namespaceOf(body) : ''
    const object = born(kind, body, { namespace, nowMs, uid: random.uuid(), suffix: suffix(random) })
    const stored = firstState(kind, withManagedFields(object, body), nowMs)
    if (kind.namespaced) await requireNamespace(store, namespace)
    return written(kind, write.dryRun === true ? stored : await createIn(kind, stored), 'created', write.warnings)
  }

  const createIn = async (kind: ServedKind, stored: StoredObject): Promise<StoredObject> => {
    try {
      return told(await store.create(stored))
    } catch (error) {
      throw hasCode(error, 'ALREADY_EXISTS') ? alreadyExists(kind, stored.object.metadata.name) : error
    }
  }

  /** Applies a change to the newest version, again if another write came between and the change names no version. */
  const change = async (kind: ServedKind, at: Place, plan: Plan): Promise<Written> => {
    for (let tries = 1; ; tries++) {
      const before = await live(store, kind, at)
      const { next, warnings } = plan.next(before)
      try {
        return await commit(kind, before, { object: next, engine: before.engine }, { warnings, dryRun: plan.dryRun })
      } catch (error) {
        if (!hasCode(error, 'VERSION_CONFLICT') || plan.namesVersion || tries === triesMax) throw conflictOf(kind, before, error)
      }
    }
  }

  const commit = async (kind: ServedKind, before: StoredObject, after: StoredObject, how: Pick<Written, 'warnings'> & { dryRun: boolean }): Promise<Written> => {
    const object = completed(kind, before.object, after.object, clock.nowMs())
    const touched = touchedBy(before.object, object)
    if (touched === undefined) return written(kind, before, 'unchanged', how.warnings)
    const next = { ...after, object }
    if (how.dryRun) return written(kind, next, 'updated', how.warnings)
    return written(kind, told(await (isReleased(object) ? store.remove(next) : store.replace(next, touched))), 'updated', how.warnings)
  }

  const update: Resources['update'] = (kind, given, write) => {
    const { body, warnings } = admit(kind, given, write)
    const meta = isObject(body['metadata']) ? body['metadata'] : {}
    const at = { namespace: namespaceOf(body), name: String(meta['name'] ?? '') }
    if (meta['resourceVersion'] === undefined && !kind.builtIn) refuse(kind, at.name, [mustNameVersion])
    const next = (before: StoredObject): Next => ({ next: rewritten(kind, before.object, body, writer(kind, write)), warnings })
    return change(kind, at, { next, namesVersion: meta['resourceVersion'] !== undefined, dryRun: write.dryRun === true })
  }

  const patch: Resources['patch'] = async (kind, at, given, write) => {
    if (given.type === 'apply') return applyTo(kind, at, given, write)
    const next = (before: StoredObject): Next => {
      const { body, warnings } = admit(kind, patched(inVersion(kind, before).object, given), write)
      return { next: rewritten(kind, before.object, body, writer(kind, write)), warnings }
    }
    return change(kind, at, { next, namesVersion: namesVersion(given), dryRun: write.dryRun === true })
  }

  /** Creates or changes; if another creates it first, changes what that one made. */
  const applyTo = async (kind: ServedKind, at: Place, given: ApplyPatch, write: WriteOptions & SubresourceOption): Promise<Written> => {
    checkType(kind, given.body)
    const config = atPlace(kind, takenIn(kind, given.body), at)
    const next = (before: StoredObject): Next => {
      const body = applied(inVersion(kind, before).object, config, given.force, writer(kind, write))
      const object = write.subresource === 'status' ? withStatus(kind, before.object, body) : replaced(kind, before.object, body)
      return { next: withManagedFields(object, body), warnings: [] }
    }
    for (let tries = 1; ; tries++) {
      try {
        if (write.subresource === undefined && (await store.get(keyIn(kind, at))) === undefined) {
          return await createFrom(kind, applied(undefined, config, given.force, writer(kind, write)), { ...write, warnings: [] })
        }
        return await change(kind, at, { next, namesVersion: namesVersion(given), dryRun: write.dryRun === true })
      } catch (error) {
        if (!hasCode(error, 'ALREADY_EXISTS') || tries === triesMax) throw error
      }
    }
  }

  const writer = (kind: ServedKind, { manager, subresource }: WriteOptions & SubresourceOption): Writer => ({
    kind,
    manager,
    nowMs: clock.nowMs(),
    ...(subresource === undefined ? {} : { subresource }),
  })

  const remove: Resources['delete'] = async (kind, at, asked = {}) => {
    for (let tries = 1; ; tries++) {
      const before = await live(store, kind, at)
      checkDeletePreconditions(kind, before.object, asked)
      try {
        return await erase(kind, before, asked)
      } catch (error) {
        if (!hasCode(error, 'VERSION_CONFLICT') || tries === triesMax) throw conflictOf(kind, before, error)
      }
    }
  }

  const erase = async (kind: ServedKind, before: StoredObject, asked: DeleteOptions): Promise<Deleted> => {
    const finalizer = asked.propagation === 'Foreground' ? 'foregroundDeletion' : asked.propagation === 'Orphan' ? 'orphan' : undefined
    const object = prepared(marked(before.object, clock.nowMs(), finalizer), clock.nowMs())
    const next = { ...before, object }
    const gone = isReleased(object)
    if (asked.dryRun === true || isDeleting(before.object)) return { stored: inVersion(kind, next), gone }
    return { stored: inVersion(kind, told(await (gone ? store.remove(next) : store.replace(next, 'delete')))), gone }
  }

  const told = (stored: StoredObject): StoredObject => {
    onWrite?.(stored)
    return stored
  }

  const list: Resources['list'] = async (kind, asked = {}) => {
    const found = await listObjects(store, kind, asked)
    return { ...found, items: found.items.map((item) => inVersion(kind, item)) }
  }

  return { get, list, create, update, patch, delete: remove }
}

const triesMax = 10

type ApplyPatch = Extract<Patch, { type: 'apply' }>
const mustNameVersion = { field: 'metadata.resourceVersion', reason: 'FieldValueInvalid', message: 'Invalid value: 0x0: must be specified for an update' } as const

interface Next extends Pick<Admitted, 'warnings'> {
  readonly next: ApiObject
}

interface Plan {
  readonly next: (before: StoredObject) => Next
  /** The writer named a resourceVersion: a conflict is the writer's to solve. */
  readonly namesVersion: boolean
  readonly dryRun: boolean
}

function rewritten(kind: ServedKind, before: ApiObject, body: JsonObject, writer: Writer): ApiObject {
  const next = writer.subresource === 'status' ? withStatus(kind, before, body) : replaced(kind, before, body)
  return withOwnership(before, next, sentManagedFields(body), writer)
}

/** What is applied is named by the path it came by. */
function atPlace(kind: ServedKind, body: JsonObject, { name, namespace = '' }: Place): JsonObject {
  const metadata = isObject(body['metadata']) ? body['metadata'] : {}
  return { ...body, metadata: { ...metadata, name: metadata['name'] ?? name, ...(kind.namespaced ? { namespace: metadata['namespace'] ?? namespace } : {}) } }
}

/** The first state of an object, complete and checked. */
function firstState(kind: ServedKind, object: ApiObject, nowMs: number): StoredObject {
  const { finalizer, engine } = strategyOf(object)
  const metadata = finalizer === undefined ? object.metadata : { ...object.metadata, finalizers: [finalizer] }
  const complete = completed(kind, undefined, { ...object, metadata }, nowMs)
  return { object: complete, engine: engine?.(complete, nowMs) ?? noEngineState }
}

const noEngineState: EngineState = {}

/** The next state with what its kind adds. Throws INVALID with every error found. */
function completed(kind: ServedKind, live: ApiObject | undefined, next: ApiObject, nowMs: number): ApiObject {
  const object = prepared(withDefaults(kind, next), nowMs)
  refuse(kind, object.metadata.name, [
    ...checkMetadata(object.metadata),
    ...(live === undefined ? [] : checkNoNewFinalizers(live, object)),
    ...checkSchema(kind, object),
    ...(strategyOf(object).check?.(object, live) ?? []),
  ])
  return object
}

function prepared(next: ApiObject, nowMs: number): ApiObject {
  return strategyOf(next).prepare?.(next, nowMs) ?? next
}

function patched(target: ApiObject, patch: Exclude<Patch, ApplyPatch>): JsonObject {
  if (patch.type === 'json') return jsonPatch(target, patch.body)
  return mergePatch(target, patch.body) as JsonObject
}

function namesVersion(patch: Patch): boolean {
  if (patch.type === 'json') return patch.body.some((operation) => operation['path'] === '/metadata/resourceVersion')
  return isObject(patch.body['metadata']) && patch.body['metadata']['resourceVersion'] !== undefined
}

/** Marked for deletion, and nobody holds it any more. */
function isReleased(object: ApiObject): boolean {
  return isDeleting(object) && (object.metadata.finalizers ?? []).length === 0
}

async function live(store: ObjectStore, kind: ServedKind, { namespace = '', name }: Place): Promise<StoredObject> {
  const stored = await store.get(keyIn(kind, { namespace, name }))
  if (stored === undefined) throw notFound(kind, name)
  return stored
}

/** The key of an object of this kind; cluster-scoped kinds have no namespace. */
export function keyIn(kind: ServedKind, { namespace = '', name }: Place): ObjectKey {
  return { group: kind.group, kind: kind.kind, namespace: kind.namespaced ? namespace : '', name }
}

async function requireNamespace(store: ObjectStore, name: string): Promise<void> {
  const stored = await store.get({ group: '', kind: 'Namespace', namespace: '', name })
  const details = { name, kind: 'namespaces' }
  if (stored === undefined) throw new OperatingError('NOT_FOUND', `namespaces "${name}" not found`, { details })
  if (isDeleting(stored.object)) {
    throw new OperatingError('FORBIDDEN', `unable to create new content in namespace ${name} because it is being terminated`, { details })
  }
}

/** NOT_FOUND in Kubernetes' words. */
export function notFound(kind: ServedKind, name: string): OperatingError {
  return new OperatingError('NOT_FOUND', `${resourceName(kind)} "${name}" not found`, { details: { name, group: kind.group, kind: kind.plural } })
}

function alreadyExists(kind: ServedKind, name: string): OperatingError {
  return new OperatingError('ALREADY_EXISTS', `${resourceName(kind)} "${name}" already exists`, { details: { name, group: kind.group, kind: kind.plural } })
}

function conflictOf(kind: ServedKind, before: StoredObject, error: unknown): unknown {
  if (hasCode(error, 'NOT_FOUND')) return notFound(kind, before.object.metadata.name)
  return hasCode(error, 'VERSION_CONFLICT') && error.details.name === undefined ? conflict(kind, before.object) : error
}

function checkDeletePreconditions(kind: ServedKind, { metadata }: ApiObject, { preconditions = {} }: DeleteOptions): void {
  const { uid, resourceVersion } = preconditions
  if (uid !== undefined && uid !== metadata.uid) {
    throw conflict(kind, { metadata } as ApiObject, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`)
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) throw conflict(kind, { metadata } as ApiObject)
}

/** The object as this version of its kind shows it. */
function inVersion(kind: ServedKind, stored: StoredObject): StoredObject {
  const apiVersion = apiVersionOf(kind.group, kind.version)
  return stored.object.apiVersion === apiVersion ? stored : { ...stored, object: { ...stored.object, apiVersion } }
}

function written(kind: ServedKind, stored: StoredObject, outcome: Written['outcome'], warnings: readonly string[]): Written {
  return { stored: inVersion(kind, stored), outcome, warnings }
}

function namespaceOf(body: JsonObject): string {
  return isObject(body['metadata']) ? String(body['metadata']['namespace'] ?? '') : ''
}

function suffix(random: Random): string {
  return Array.from({ length: 5 }, () => suffixLetters[Math.floor(random.next() * suffixLetters.length)]).join('')
}

/** No vowels and no look-alikes, as Kubernetes chooses them. */
const suffixLetters = 'bcdfghjklmnpqrstvwxz2456789'
