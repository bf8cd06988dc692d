import { OperatingError } from '../../model/errors.ts'
import type { ApiServices, Call, VerbHandler } from '../call.ts'
import { reachVersion } from '../fresh-version.ts'
import { pageOptions, resourceVersion } from '../list-options.ts'
import { text } from '../query.ts'
import { jsonText } from '../reply.ts'
import { selectedObjects } from '../selected-objects.ts'
import { selectionOf } from '../selection.ts'
import { viewOf } from '../view.ts'

/** `GET` of a collection: whole, or in pages of `limit`. */
export function createList(services: ApiServices): VerbHandler {
  return async (call) => {
    const view = viewOf(call, services.clock)
    const page = { kind: call.kind, selection: selectionOf(call), ...pageOptions(call.request.query) }
    refuseExactVersion(call)
    await reachVersion(resourceVersion(call.request.query), services, call.request.signal)
    return jsonText(200, view.list(await selectedObjects(page, services)))
  }
}

/** Lists tell the present, which satisfies every other way of asking for a version. */
function refuseExactVersion({ request: { query } }: Call): void {
  if (text(query, 'resourceVersionMatch') !== 'Exact') return
  throw new OperatingError(
    'EXPIRED',
    `lists tell the present: resourceVersion ${text(query, 'resourceVersion') ?? ''} is not served exactly`,
  )
}
