import { warnOfFaults } from '../../resources/admission.ts'
import { authorOf, type ApiServices, type VerbHandler } from '../call.ts'
import { methodNotAllowed } from '../request-info.ts'
import { faultsOf } from '../duplicate-fields.ts'
import { writeOptions } from '../query.ts'
import { readObject } from '../request-body.ts'
import { replyWritten } from '../reply-written.ts'
import { viewOf } from '../view.ts'
import { placeBody } from '../place-body.ts'

/** `POST` to a collection. */
export function createCreate({ resources, clock }: ApiServices): VerbHandler {
  return async (call) => {
    if (call.info.name !== '') throw methodNotAllowed()
    const view = viewOf(call, clock)
    const options = { ...writeOptions(call.request, 'CreateOptions'), ...authorOf(call) }
    const body = await readObject(call.request)
    const twice = warnOfFaults(call.kind, faultsOf(body), options)
    const written = await resources.create(call.kind, placeBody(call, body), options)
    return replyWritten(201, { kind: call.kind, view, twice }, written)
  }
}
