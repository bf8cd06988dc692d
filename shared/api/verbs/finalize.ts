import { isObject } from '../../model/json.ts'
import { onNewest } from '../../model/on-newest.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import type { WriteOptions } from '../../resources/resources.ts'
import { contentFinalizer, namespaceFinalizer } from '../../resources/strategies.ts'
import { placeOf, type ApiServices, type Call, type VerbHandler } from '../call.ts'
import { placeBody } from '../place-body.ts'
import { writeOptions } from '../query.ts'
import { jsonText } from '../reply.ts'
import { readObject } from '../request-body.ts'
import { viewOf } from '../view.ts'

/**
 * `PUT` of a namespace's `/finalize`: who leaves `kubernetes` out of `spec.finalizers` lets the namespace go, with
 * content left in it or not.
 */
export function createFinalize(services: ApiServices): VerbHandler {
  return async (call) => {
    const view = viewOf(call, services.clock)
    const options = writeOptions(call.request, 'UpdateOptions')
    const body = placeBody(call, await readObject(call.request))
    const spec = isObject(body['spec']) ? body['spec'] : {}
    const { resourceVersion } = isObject(body['metadata']) ? body['metadata'] : {}
    const names = Array.isArray(spec['finalizers']) ? spec['finalizers'] : []
    if (names.includes(contentFinalizer)) return jsonText(200, view.one(await read(call, services)))
    const named = typeof resourceVersion === 'string' && resourceVersion !== '' ? resourceVersion : undefined
    const release = (): Promise<StoredObject> => letGo(call, services, { options, named })
    return jsonText(200, view.one(await (named === undefined ? onNewest(release) : release())))
  }
}

function read(call: Call, { resources }: ApiServices): Promise<StoredObject> {
  return resources.get(call.kind, placeOf(call))
}

async function letGo(
  call: Call,
  services: ApiServices,
  { options, named }: { readonly options: WriteOptions; readonly named: string | undefined },
): Promise<StoredObject> {
  const { metadata } = (await read(call, services)).object
  const finalizers = (metadata.finalizers ?? []).filter((name) => name !== namespaceFinalizer)
  const body = { metadata: { finalizers, resourceVersion: named ?? metadata.resourceVersion } }
  return (await services.resources.patch(call.kind, placeOf(call), { type: 'merge', body }, options)).stored
}
