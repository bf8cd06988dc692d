import { placeOf, type ApiServices, type VerbHandler } from '../call.ts'
import { reachVersion } from '../fresh-version.ts'
import { resourceVersion } from '../list-options.ts'
import { jsonText } from '../reply.ts'
import { viewOf } from '../view.ts'

/** `GET` of an object or its status. */
export function createGet(services: ApiServices): VerbHandler {
  return async (call) => {
    const { query, signal } = call.request
    const view = viewOf(call, services.clock)
    await reachVersion(resourceVersion(query), services, signal)
    return jsonText(200, view.one(await services.resources.get(call.kind, placeOf(call))))
  }
}
