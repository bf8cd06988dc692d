import { applyDefaults } from '../../model/schema/defaulting.ts'
import { isObject } from '../../model/json.ts'
import type { ApiObject } from '../../model/object.ts'
import type { Kind } from '../../reconciler/kind.ts'

/**
 * An object as reconcilers read it: its spec has the defaults that its kind has now, as its type says, though it be
 * older than these. It is stored with them by its next write.
 */
export function asRead({ definition }: Kind<unknown, unknown>, object: ApiObject): ApiObject {
  const schema = definition?.spec.versions[0]?.schema?.openAPIV3Schema?.properties?.['spec']
  if (schema === undefined || !isObject(object['spec'])) return object
  const spec = applyDefaults(schema, object['spec'])
  return spec === object['spec'] ? object : { ...object, spec }
}
