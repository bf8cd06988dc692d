import type { CustomResourceDefinition } from '../../model/custom-resource-definition.ts'
import { hasCode, OperatingError } from '../../model/errors.ts'
import type { JsonObject } from '../../model/json.ts'
import { keyOf, type ObjectKey } from '../../model/object-key.ts'
import type { ApiObject } from '../../model/object.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import { conversionFaultOf } from '../../resources/as-served.ts'
import type { Resources } from '../../resources/resources.ts'
import { placeOf, type ApiServices, type VerbHandler } from '../call.ts'
import { pageOptions } from '../list-options.ts'
import { writeOptions } from '../query.ts'
import { json } from '../reply.ts'

/** So many objects are looked at by one request. */
const pageMax = 100
/** So many of them are written at a time. */
const atOnce = 10

/**
 * `POST` to `customresourcedefinitions/NAME/migrate`: a page of the objects of that kind is stored in the version that
 * the kind is stored in by now. An object that is stored so is not written. The answer says where the next page begins.
 */
export function createMigrate({ resources, catalog }: ApiServices): VerbHandler {
  return async (call) => {
    const { dryRun = false } = writeOptions(call.request, 'PatchOptions')
    const { object } = await resources.get(call.kind, placeOf(call))
    const { spec, status } = object as unknown as CustomResourceDefinition
    // What it asks for may be the kind of another definition.
    const kind = await catalog.byKind(spec.group, (status?.acceptedNames ?? spec.names).kind)
    if (kind === undefined) throw new OperatingError('NOT_FOUND', `${object.metadata.name} is not served`)
    const { limit = pageMax, ...page } = pageOptions(call.request.query)
    const list = await resources.list(kind, { ...page, limit: Math.min(limit, pageMax) })
    const results: Result[] = (list.damaged ?? []).map((key) => failed(key, 'it is damaged'))
    for (let i = 0; i < list.items.length; i += atOnce) {
      const some = list.items.slice(i, i + atOnce)
      results.push(...(await Promise.all(some.map((one) => migrate(resources, kind, one.object, dryRun)))))
    }
    return json(200, {
      kind: 'MigratedPage',
      apiVersion: 'setpoint.dev/v1',
      version: kind.storageVersion,
      objects: results.length,
      written: results.filter(({ isWritten }) => isWritten).length,
      failed: results.flatMap(({ failure }) => failure ?? []),
      ...(list.continue === undefined ? {} : { continue: list.continue }),
    })
  }
}

interface Result {
  readonly isWritten: boolean
  readonly failure?: JsonObject
}

function failed({ namespace, name }: ObjectKey, message: string): Result {
  return { isWritten: false, failure: { namespace, name, message } }
}

/** By a patch that changes nothing: a write of what is stored in another version stores it anew. */
async function migrate(resources: Resources, kind: ServedKind, object: ApiObject, dryRun: boolean): Promise<Result> {
  const fault = conversionFaultOf(object)
  if (fault !== undefined) return failed(keyOf(object), fault)
  try {
    const patch = { type: 'merge', body: {} } as const
    const { outcome } = await resources.patch(kind, object.metadata, patch, { manager: 'setpoint-migrate', dryRun })
    return { isWritten: outcome === 'updated' }
  } catch (error) {
    // It is gone by now.
    if (hasCode(error, 'NOT_FOUND')) return { isWritten: false }
    if (hasCode(error, 'INVALID', 'TOO_LARGE', 'CONVERSION_FAILED')) return failed(keyOf(object), error.message)
    throw error
  }
}
