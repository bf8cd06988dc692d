import { OperatingError } from '../model/errors.ts'
import { isObject, type JsonObject } from '../model/json.ts'
import type { Call } from './call.ts'

/** The body with the place that the URL gives it. Throws BAD_REQUEST if the body says another. */
export function placeBody({ info, kind }: Call, body: JsonObject): JsonObject {
  const metadata = body['metadata'] ?? {}
  if (!isObject(metadata)) throw new OperatingError('BAD_REQUEST', 'metadata must be an object')
  const { name, namespace } = metadata
  if (info.name !== '' && isGiven(name) && name !== info.name) {
    throw new OperatingError(
      'BAD_REQUEST',
      `the name of the object (${String(name)}) does not match the name on the URL (${info.name})`,
    )
  }
  if (kind.namespaced && isGiven(namespace) && namespace !== info.namespace) {
    throw new OperatingError(
      'BAD_REQUEST',
      'the namespace of the provided object does not match the namespace sent on the request',
    )
  }
  return {
    ...body,
    metadata: {
      ...metadata,
      ...(info.name === '' ? {} : { name: info.name }),
      ...(kind.namespaced ? { namespace: info.namespace } : {}),
    },
  }
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}
