import { controlAnnotations } from '../model/control-annotations.ts'
import { OperatingError } from '../model/errors.ts'
import { equal, type JsonObject } from '../model/json.ts'
import { apiVersionOf, isDeleting, type ApiObject, type ObjectMeta } from '../model/object.ts'
import { hasField } from '../model/schema/own-field.ts'
import { prune } from '../model/schema/prune.ts'
import { isSettled } from '../model/schema/settled.ts'
import { workVersionOf, type ServedKind } from '../model/served-kind.ts'
import type { Part, Touched } from '../model/stored-object.ts'
import { timestamp } from '../model/time.ts'
import { withDefaults } from './admission.ts'
import { writableMetadata } from '../model/writable-metadata.ts'
import { checkPreconditions } from './refusals.ts'
import type { DeleteOptions } from './resources.ts'
import { statusTakesMetadata, strategyOf } from './strategies.ts'

/**
 * What a write makes of an object, as pure functions of the live object and the writer's body: who decides which field,
 * and when the generation moves.
 */

export interface Birth {
  readonly namespace: string
  readonly nowMs: number
  readonly uid: string
  /** Five characters behind `generateName`. */
  readonly suffix: string
}

/**
 * A new object: generation 1, the server's own fields set whatever the body says, no status if status has its own path.
 */
export function newObject(kind: ServedKind, body: JsonObject, birth: Birth): ApiObject {
  const given = writableMetadata(body)
  if (given.resourceVersion !== undefined) {
    throw new OperatingError('BAD_REQUEST', 'resourceVersion should not be set on objects to be created')
  }
  const { resourceVersion: _, uid: __, namespace: ___, generateName, ...meta } = given
  const metadata: ObjectMeta = {
    ...meta,
    ...(generateName === undefined ? {} : { generateName }),
    name: given.name ?? (generateName === undefined ? '' : `${generatedStart(generateName)}${birth.suffix}`),
    ...placeInNamespace(kind, given, birth.namespace),
    uid: birth.uid,
    resourceVersion: '0',
    generation: 1,
    creationTimestamp: timestamp(birth.nowMs),
  }
  return assemble(kind, kind.hasStatus ? without(body, 'status') : body, metadata)
}

/** A name that is made has 63 characters at most, as labels have: Kubernetes shortens what stands before the suffix. */
const generatedLengthMax = 58

/** Without half a character at the end. */
function generatedStart(generateName: string): string {
  return generateName.slice(0, generatedLengthMax).replace(/[\ud800-\udbff]$/, '')
}

function placeInNamespace(kind: ServedKind, given: Partial<ObjectMeta>, namespace: string): { namespace?: string } {
  if (!kind.namespaced) return {}
  if (given.namespace !== undefined && given.namespace !== namespace) {
    throw new OperatingError(
      'BAD_REQUEST',
      `the namespace of the provided object (${given.namespace}) does not match the namespace sent on the request (${namespace})`,
    )
  }
  return { namespace }
}

/**
 * The next state after a write of the whole object: the body decides all but what is the server's and, if apart, the
 * status.
 */
export function replaceObject(kind: ServedKind, live: ApiObject, body: JsonObject, subresource?: string): ApiObject {
  const given = writableMetadata(body)
  checkWriter(kind, live, given)
  const whole = kind.hasStatus ? { ...body, status: live.status } : body
  const written = unmoved(kind, live, withDefaults(kind, assemble(kind, whole, carryOver(live, given)), live))
  const next = strategyOf(live).keep?.(written, live, subresource) ?? written
  return withGeneration(kind, live, next)
}

/** The next state under its generation, which moves with the desired state. */
export function withGeneration(kind: ServedKind, live: ApiObject, next: ApiObject): ApiObject {
  return {
    ...next,
    metadata: {
      ...next.metadata,
      generation: live.metadata.generation + (hasDesiredStateMoved(kind, live, next) ? 1 : 0),
    },
  }
}

/**
 * The next state, with the fields of the live object that a writer left as it sees them. What was stored under an older
 * schema has fields that this one does not know, and writers do not see: a write beside them neither moves the
 * desired state nor loses them.
 */
function unmoved(kind: ServedKind, live: ApiObject, next: ApiObject): ApiObject {
  if (isSettled(kind.schema, live)) return next
  const { value: seen } = prune(kind.schema, live)
  const kept: JsonObject = {}
  for (const field in { ...live, ...next }) if (equal(seen[field], next[field])) kept[field] = live[field]
  return { ...next, ...kept }
}

/** The next state after a write to `/status`: nothing but the status changes, and for some kinds the metadata. */
export function withStatus(kind: ServedKind, live: ApiObject, body: JsonObject): ApiObject {
  const given = writableMetadata(body)
  checkWriter(kind, live, given)
  const metadata = statusTakesMetadata(kind) ? carryOver(live, given) : live.metadata
  const next = withDefaults(kind, assemble(kind, { ...live, status: body['status'] }, metadata), live)
  return strategyOf(live).keep?.(next, live, 'status') ?? next
}

/**
 * The object marked for deletion. Who asks again may still say what becomes of its children; the same object if that
 * changes nothing. Source: kubernetes, `deletionFinalizersForGarbageCollection`.
 */
export function markDeleted(live: ApiObject, nowMs: number, propagation?: DeleteOptions['propagation']): ApiObject {
  const { finalizers: before = [], ...metadata } = live.metadata
  const isAgain = isDeleting(live)
  const finalizers = propagation === undefined ? before : withPropagation(before, propagation)
  if (isAgain && equal(finalizers, before)) return live
  const held = finalizers.length === 0 ? {} : { finalizers: [...finalizers] }
  if (isAgain) return { ...live, metadata: { ...metadata, ...held } }
  return {
    ...live,
    metadata: {
      ...metadata,
      ...held,
      generation: metadata.generation + 1,
      deletionTimestamp: timestamp(nowMs),
      deletionGracePeriodSeconds: 0,
    },
  }
}

/** What the request says of the children counts, and not what the object said of them before; as on Kubernetes. */
function withPropagation(
  finalizers: readonly string[],
  propagation: Exclude<DeleteOptions['propagation'], undefined>,
): readonly string[] {
  const added = propagation === 'Background' ? undefined : finalizerOf[propagation]
  if (added !== undefined && finalizers.includes(added)) return finalizers
  const others = finalizers.filter((name) => !propagationFinalizers.includes(name))
  return added === undefined ? others : [...others, added]
}

/** The finalizers by which a delete request asks the garbage collector for another order; an object has one at most. */
const finalizerOf = { Foreground: 'foregroundDeletion', Orphan: 'orphan' } as const
const propagationFinalizers: readonly string[] = Object.values(finalizerOf)

/**
 * What a write touched: nothing if the two states are equal, or nothing but a time among the managedFields is another.
 * An admission that puts a field back leaves such a time, which Kubernetes does not write either
 * (`IgnoreManagedFieldsTimestampsTransformer`).
 */
export function findTouched(live: ApiObject, next: ApiObject): Touched {
  const before = live.metadata
  const after = next.metadata
  const isMarked = before.deletionTimestamp !== after.deletionTimestamp
  const differs: Partial<Record<Part, boolean>> = {
    delete: isMarked,
    spec: !isMarked && before.generation !== after.generation,
    labels: !equal(before.labels, after.labels),
    annotations: !equal(before.annotations, after.annotations),
    control: !equal(controlAnnotations(before.annotations), controlAnnotations(after.annotations)),
    meta: !equal(before.finalizers, after.finalizers) || !equal(before.ownerReferences, after.ownerReferences),
    fields: !equal(before.managedFields, after.managedFields) || live.apiVersion !== next.apiVersion,
    status: !equal(live.status, next.status),
  }
  const touched = (Object.keys(differs) as Part[]).filter((part) => differs[part])
  const isOfFields = touched.length === 1 && differs.fields === true && live.apiVersion === next.apiVersion
  return isOfFields && equal(withoutTimes(before), withoutTimes(after)) ? [] : touched
}

function withoutTimes({ managedFields }: ObjectMeta): unknown {
  return managedFields?.map(({ time: _, ...entry }) => entry)
}

function assemble(kind: ServedKind, body: JsonObject, metadata: ObjectMeta): ApiObject {
  const { apiVersion: _, kind: __, metadata: ___, ...content } = body
  return {
    apiVersion: apiVersionOf(kind.group, workVersionOf(kind)),
    kind: kind.kind,
    metadata,
    ...dropUndefined(content),
  }
}

function dropUndefined(content: JsonObject): JsonObject {
  const kept: JsonObject = {}
  for (const field in content) if (content[field] !== undefined) kept[field] = content[field]
  return kept
}

function carryOver(live: ApiObject, given: Partial<ObjectMeta>): ObjectMeta {
  const { labels: _, annotations: __, finalizers: ___, ownerReferences: ____, ...servers } = live.metadata
  const {
    name: _name,
    generateName: _generateName,
    namespace: _namespace,
    uid: _uid,
    resourceVersion: _version,
    ...writers
  } = given
  return { ...servers, ...writers }
}

function checkWriter(kind: ServedKind, live: ApiObject, given: Partial<ObjectMeta>): void {
  const { name } = given
  if (name !== undefined && name !== live.metadata.name) {
    throw new OperatingError(
      'BAD_REQUEST',
      `the name of the object (${name}) does not match the name on the URL (${live.metadata.name})`,
    )
  }
  placeInNamespace(kind, given, live.metadata.namespace ?? '')
  checkPreconditions(kind, live.metadata, given)
}

/** The version in which an object is stored is no part of what is desired: a migration runs nothing. */
function hasDesiredStateMoved(kind: ServedKind, live: ApiObject, next: ApiObject): boolean {
  const isDesired = (field: string): boolean =>
    field !== 'metadata' && field !== 'apiVersion' && !(kind.hasStatus && field === 'status')
  for (const field in next) if (isDesired(field) && !equal(live[field], next[field])) return true
  for (const field in live) if (isDesired(field) && hasField(live, field) && !hasField(next, field)) return true
  return false
}

function without(body: JsonObject, field: string): JsonObject {
  const { [field]: _, ...rest } = body
  return rest
}
