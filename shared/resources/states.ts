import { isDeleting, type ApiObject } from '../model/object.ts'
import type { ServedKind } from '../model/served-kind.ts'
import type { StoredObject } from '../model/stored-object.ts'
import { checkSchema, refuse, withDefaults } from './admission.ts'
import { checkMetadata, checkNoNewFinalizers, checkPlainFinalizers } from '../model/metadata.ts'
import { forbiddenFor } from './refusals.ts'
import { strategyOf, type Surroundings } from './strategies.ts'

/** Complete states: what a kind adds to an object, and what must hold before it is stored. */

/** The first state of an object. Throws INVALID with every error found. */
export function firstState(kind: ServedKind, object: ApiObject, around: Surroundings): StoredObject {
  const { finalizer, engine } = strategyOf(object)
  const whole = withDefaults(kind, finalizer === undefined ? object : withFinalizer(finalizer, object))
  const complete = completeState(kind, undefined, whole, around)
  return { object: complete, engine: engine?.(complete) ?? {} }
}

function withFinalizer(finalizer: string, object: ApiObject): ApiObject {
  const others = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer)
  return { ...object, metadata: { ...object.metadata, finalizers: [...others, finalizer] } }
}

/** The next state, which has its defaults, with what its kind adds. Throws INVALID with every error found. */
export function completeState(
  kind: ServedKind,
  live: ApiObject | undefined,
  next: ApiObject,
  around: Surroundings,
): ApiObject {
  const object = prepareState(next, around)
  const strategy = strategyOf(object)
  const misfits = checkSchema(kind, object, live)
  refuse(kind, object.metadata.name, [
    ...checkMetadata(object.metadata, strategy.nameRule),
    ...(live === undefined ? [] : checkNoNewFinalizers(live, object)),
    ...(strategy.qualifiesFinalizers === true ? checkPlainFinalizers(object.metadata, live?.metadata) : []),
    ...misfits,
    // The kind's own check reads fields as the schema has them, and is not for what has others.
    ...(misfits.length === 0 ? (strategy.check?.(object, live, kind) ?? []) : []),
  ])
  return object
}

/** The next state with what its kind adds, unchecked: deletion must not fail because a schema has changed meanwhile. */
export function prepareState(next: ApiObject, around: Surroundings): ApiObject {
  return strategyOf(next).prepare?.(next, around) ?? next
}

/** Throws FORBIDDEN for what has to stay. */
export function checkDeletion(kind: ServedKind, object: ApiObject): void {
  const why = strategyOf(object).refuseDeletion?.(object)
  if (why !== undefined) throw forbiddenFor(kind, object.metadata.name, why)
}

/** Marked for deletion, and nobody holds it any more. */
export function isReleased(object: ApiObject): boolean {
  return isDeleting(object) && (object.metadata.finalizers ?? []).length === 0
}
