import { OperatingError } from '../../model/errors.ts'
import type { ApiServices, Call, VerbHandler } from '../call.ts'
import { count, text } from '../query.ts'
import { jsonText } from '../reply.ts'
import { selectedObjects, type SelectedOptions } from '../selected-objects.ts'
import { selectionOf } from '../selection.ts'
import { viewOf } from '../view.ts'

/** `GET` of a collection: whole, or in pages of `limit`. */
export function createList(services: ApiServices): VerbHandler {
  return async (call) => {
    const view = viewOf(call, services.clock)
    refuseExactVersion(call)
    const page = { kind: call.kind, selection: selectionOf(call), ...pageOptions(call) }
    return jsonText(200, view.list(await selectedObjects(page, services)))
  }
}

function pageOptions({ request: { query } }: Call): Pick<SelectedOptions, 'limit' | 'continue'> {
  const limit = count(query, 'limit') ?? 0
  const token = text(query, 'continue')
  return { ...(limit === 0 ? {} : { limit }), ...(token === undefined ? {} : { continue: token }) }
}

/** Lists tell the present, which satisfies every other way of asking for a version. */
function refuseExactVersion({ request: { query } }: Call): void {
  if (text(query, 'resourceVersionMatch') !== 'Exact') return
  throw new OperatingError(
    'EXPIRED',
    `lists tell the present: resourceVersion ${text(query, 'resourceVersion') ?? ''} is not served exactly`,
  )
}
