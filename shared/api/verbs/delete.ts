import type { ServedKind } from '../../model/served-kind.ts'
import type { Deleted } from '../../resources/resources.ts'
import { placeOf, type ApiServices, type VerbHandler } from '../call.ts'
import { readDeleteOptions } from '../delete-options.ts'
import { json, jsonText } from '../reply.ts'
import { viewOf } from '../view.ts'
import type { HttpResponse } from '../../ports/http-handler.ts'

/** `DELETE` of an object: a Status once it is gone, the marked object while finalizers hold it. */
export function createDelete({ resources, clock }: ApiServices): VerbHandler {
  return async (call) => {
    const view = viewOf(call, clock)
    const deleted = await resources.delete(call.kind, placeOf(call), {
      ...(await readDeleteOptions(call.request)),
      user: call.user,
      ...(call.annotate && { annotate: call.annotate }),
    })
    return deleted.gone ? success(call.kind, deleted) : jsonText(200, view.one(deleted.stored))
  }
}

function success(kind: ServedKind, { stored }: Deleted): HttpResponse {
  const { name, uid } = stored.object.metadata
  return json(200, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name, group: kind.group, kind: kind.plural, uid },
  })
}
