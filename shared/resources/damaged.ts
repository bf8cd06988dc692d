import { DamagedObjectError, OperatingError } from '../model/errors.ts'
import { keyText } from '../model/object-key.ts'
import { apiVersionOf } from '../model/object.ts'
import type { ServedKind } from '../model/served-kind.ts'
import type { StoredObject } from '../model/stored-object.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import { keyIn } from './conditional-writes.ts'
import { checkPreconditions } from './refusals.ts'
import type { Deleted, DeleteOptions, ObjectList, Place } from './resources.ts'

interface Asked {
  readonly at: Place
  readonly asked: DeleteOptions
}

/**
 * Removes an object that cannot be read. Nobody knows which finalizers it had, so that nothing outside is cleaned up.
 * Undefined if it is not damaged.
 */
export async function removeDamaged(
  store: ObjectStore,
  kind: ServedKind,
  { at, asked }: Asked,
): Promise<Deleted | undefined> {
  try {
    await store.get(keyIn(kind, at))
    return undefined
  } catch (error) {
    if (!(error instanceof DamagedObjectError)) throw error
    const left = leftOf(kind, at, error)
    checkPreconditions(kind, left.object.metadata, asked.preconditions ?? {})
    return { stored: asked.dryRun === true ? left : await store.remove(left), gone: true }
  }
}

/** What is known of it without its state. */
function leftOf(kind: ServedKind, at: Place, { remains }: DamagedObjectError): StoredObject {
  const { namespace, name } = keyIn(kind, at)
  const metadata = {
    name,
    ...(namespace === '' ? {} : { namespace }),
    ...remains,
    generation: 1,
    creationTimestamp: '1970-01-01T00:00:00Z',
  }
  return { object: { apiVersion: apiVersionOf(kind.group, kind.version), kind: kind.kind, metadata }, engine: {} }
}

/** For who decides by what is not in a list: what cannot be read may be just that. */
export function refuseIncomplete({ damaged = [] }: ObjectList): void {
  const [first] = damaged
  if (first === undefined) return
  throw new OperatingError('DAMAGED', `${damaged.length} of what is listed cannot be read, among it ${keyText(first)}`)
}
