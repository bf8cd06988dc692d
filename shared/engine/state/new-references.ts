import { keyText } from '../../model/object-key.ts'
import type { ApiObject } from '../../model/object.ts'
import type { Controller } from '../../reconciler/controller.ts'
import { asRead } from './as-read.ts'

/**
 * Whether a status that is written now refers to more than the one before it. Nobody has noted these references yet, so
 * a change of their targets wakes nobody until the relay has.
 */
export function refersToMore(controller: Pick<Controller, 'kind' | 'references'>, by: StatusChange): boolean {
  if (controller.references.length === 0) return false
  const known = new Set(targetsOf(controller, by.before))
  return targetsOf(controller, by.after).some((target) => !known.has(target))
}

interface StatusChange {
  readonly before: ApiObject
  readonly after: ApiObject
}

/** A function that throws names nothing. The relay calls it, too, and tells of it. */
function targetsOf({ kind, references }: Pick<Controller, 'kind' | 'references'>, object: ApiObject): string[] {
  try {
    const read = asRead(kind, object)
    return references.flatMap(({ targets }) => targets(read)).map(keyText)
  } catch {
    return []
  }
}
