import { conversionAnnotation, convertedByFunctions } from '../model/control-annotations.ts'
import { functionsLacking } from '../model/conversion-failed.ts'
import type { Conversion } from '../model/conversion.ts'
import type { CustomResourceDefinition } from '../model/custom-resource-definition.ts'
import { parseApiVersion, type ApiObject } from '../model/object.ts'
import type { ServedKind } from '../model/served-kind.ts'
import { schemaByName, schemaInVersion } from './webhook-conversion.ts'

/**
 * The conversion of a definition by functions that another release has, and this one has not: nothing is converted.
 * Undefined if its objects need none. Without it, what this release is sent in one version would be stored under the
 * name of another, and the other release could not read it.
 */
export function missingConversion({ metadata, spec }: CustomResourceDefinition): Conversion | undefined {
  const { group, names, versions } = spec
  const storage = versions.find((one) => one.storage)
  if (metadata.annotations?.[conversionAnnotation] !== convertedByFunctions || storage === undefined) return undefined
  const { name: version } = storage
  const schema = schemaInVersion(storage)
  return convertsNothing({ group, kind: names.kind, version, schema, schemaOf: schemaByName(versions) })
}

/**
 * The kind as it is for one object. While a release is deployed, its functions may have stored objects in a version
 * that the definition gets only with the first tick: this release cannot convert those.
 */
export function kindOfStored(kind: ServedKind, { apiVersion }: ApiObject): ServedKind {
  const { group, versions, storageVersion: version, schema } = kind
  if (kind.conversion !== undefined || versions?.includes(parseApiVersion(apiVersion).version) !== false) return kind
  const conversion = convertsNothing({ group, kind: kind.kind, version, schema, schemaOf: schemaByName([]) })
  return { ...kind, conversion }
}

function convertsNothing(stored: Omit<Conversion, 'convert' | 'findFault' | 'lacks'>): Conversion {
  const failure = (object: ApiObject, to: string) =>
    parseApiVersion(object.apiVersion).version === to ? undefined : functionsLacking(stored, object, to)

  return {
    ...stored,
    lacks: (name) => name !== stored.version,
    findFault: (object, to) => failure(object, to)?.message,
    convert: (object, to) => {
      const failed = failure(object, to)
      if (failed !== undefined) throw failed
      return object
    },
  }
}
