import type { ServedKind } from '../../model/served-kind.ts'
import { attributesOf } from '../access/attributes.ts'
import { decideAccess, requireAllowed, type ReadAccess } from '../access/guard.ts'
import { placeOf, type ApiServices, type Call, type VerbHandler } from '../call.ts'
import { readDeleteOptions } from '../delete-options.ts'
import { json, jsonText } from '../reply.ts'
import { viewOf } from '../view.ts'
import type { HttpResponse } from '../../ports/http-handler.ts'

/** `DELETE` of an object: a Status once it is gone, the marked object while finalizers hold it. */
export function createDelete({ resources, clock, readAccess }: ApiServices): VerbHandler {
  return async (call) => {
    const view = viewOf(call, clock)
    const options = await readDeleteOptions(call.request)
    if (options.ignoreDamage === true) await requireUnsafe(call, readAccess)
    const deleted = await resources.delete(call.kind, placeOf(call), {
      ...options,
      user: call.user,
      ...(call.annotate && { annotate: call.annotate }),
    })
    const { name, uid } = deleted.stored.object.metadata
    return deleted.gone ? success(call.kind, { name, uid }) : jsonText(200, view.one(deleted.stored))
  }
}

/**
 * What cannot be read goes without its finalizers, and nobody is asked about it: as in Kubernetes that takes a verb of
 * its own beside `delete`. Throws FORBIDDEN.
 */
async function requireUnsafe({ request, info, user }: Call, readAccess: ReadAccess): Promise<void> {
  const wanted = { ...attributesOf(request, info), verb: 'unsafe-delete-ignore-read-errors' }
  requireAllowed(await decideAccess(user, wanted, readAccess), user, wanted)
}

/** The Status of what is done; of one object it names that. */
export function success(
  { group, plural }: Pick<ServedKind, 'group' | 'plural'>,
  one: { readonly name?: string; readonly uid?: string } = {},
): HttpResponse {
  const { name, uid } = one
  const details = { ...(name !== undefined && { name }), group, kind: plural, ...(uid !== undefined && { uid }) }
  return json(200, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details })
}
