import { findChangedFields } from '../model/changed-fields.ts'
import { isObserved } from '../model/convergence.ts'
import type { JsonObject } from '../model/json.ts'
import { isDeleting, type ApiObject } from '../model/object.ts'
import type { ServedKind } from '../model/served-kind.ts'
import type { AcceptedChange } from '../model/engine-state.ts'
import type { StoredObject } from '../model/stored-object.ts'

/** Who changes an object, and when. */
export interface Changer {
  readonly manager: string
  readonly nowMs: number
}

/** So many as a person reads in a line. */
const fieldsMax = 5

/**
 * The object with a note of its change, if its desired state has moved. Only for kinds of users' own that keep a
 * status: there the write that says that the change was observed takes the note away, so that it never costs a write.
 */
export function withAcceptedChange(
  kind: ServedKind,
  before: StoredObject | undefined,
  next: StoredObject,
  by: Changer,
): StoredObject {
  const hasMoved = before?.object.metadata.generation !== next.object.metadata.generation
  if (kind.builtIn || !kind.hasStatus || !hasMoved) return next
  return { ...next, engine: { ...next.engine, change: acceptChange(before, next.object, by) } }
}

function acceptChange(
  before: StoredObject | undefined,
  next: ApiObject,
  { manager: by, nowMs: atMs }: Changer,
): AcceptedChange {
  const note = { atMs, by: by.slice(0, byLengthMax) }
  if (before === undefined) return { ...note, verb: 'created' }
  const { change } = before.engine
  const since = change === undefined || isObserved(before.object) ? {} : { sinceMs: change.sinceMs ?? change.atMs }
  if (isDeleting(next) && !isDeleting(before.object)) return { ...note, ...since, verb: 'deleted' }
  return { ...note, ...since, verb: 'changed', fields: [...fieldsOf(before.object, next)] }
}

const byLengthMax = 128
const pathLengthMax = 100

function fieldsOf(before: ApiObject, next: ApiObject): readonly string[] {
  return findChangedFields(desiredContentOf(before), desiredContentOf(next), fieldsMax).map((path) =>
    path.slice(0, pathLengthMax),
  )
}

function desiredContentOf({ metadata: _, status: __, ...content }: ApiObject): JsonObject {
  return content
}
