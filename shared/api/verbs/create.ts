import type { ApiServices, VerbHandler } from '../call.ts'
import { methodNotAllowed } from '../request-info.ts'
import { writeOptions } from '../query.ts'
import { readObject } from '../request-body.ts'
import { jsonText, withWarnings } from '../reply.ts'
import { findIneffectiveFields } from '../ineffective-fields.ts'
import { viewOf } from '../view.ts'
import { placeBody } from '../place-body.ts'

/** `POST` to a collection. */
export function createCreate({ resources, clock }: ApiServices): VerbHandler {
  return async (call) => {
    if (call.info.name !== '') throw methodNotAllowed()
    const view = viewOf(call, clock)
    const options = writeOptions(call.request, 'CreateOptions')
    const { stored, warnings } = await resources.create(
      call.kind,
      placeBody(call, await readObject(call.request)),
      options,
    )
    return withWarnings(jsonText(201, view.one(stored)), [
      ...warnings,
      ...findIneffectiveFields(call.kind, stored.object),
    ])
  }
}
