import { warnOfFaults } from '../../resources/admission.ts'
import { authorOf, subresourceOf, type ApiServices, type VerbHandler } from '../call.ts'
import { placeBody } from '../place-body.ts'
import { faultsOf } from '../duplicate-fields.ts'
import { writeOptions } from '../query.ts'
import { replyWritten } from '../reply-written.ts'
import { methodNotAllowed } from '../request-info.ts'
import { readObject } from '../request-body.ts'
import { viewOf } from '../view.ts'

/** `PUT` of an object or its status: creates it only of kinds of which Kubernetes does so. */
export function createUpdate({ resources, clock }: ApiServices): VerbHandler {
  return async (call) => {
    if (call.info.name === '') throw methodNotAllowed()
    const view = viewOf(call, clock)
    const options = { ...writeOptions(call.request, 'UpdateOptions'), ...subresourceOf(call), ...authorOf(call) }
    const body = await readObject(call.request)
    const twice = warnOfFaults(call.kind, faultsOf(body), options)
    const written = await resources.update(call.kind, placeBody(call, body), options)
    return replyWritten(written.outcome === 'created' ? 201 : 200, { kind: call.kind, view, twice }, written)
  }
}
