import { withExplicitOwners } from '../model/apply/sole-writer.ts'
import type { Conversion } from '../model/conversion.ts'
import { hasCode, OperatingError } from '../model/errors.ts'
import type { JsonObject } from '../model/json.ts'
import { apiVersionOf, type ApiObject } from '../model/object.ts'
import { hasDefaults } from '../model/schema/settled.ts'
import type { ServedKind } from '../model/served-kind.ts'
import { toTwin } from '../model/twin.ts'
import type { StoredObject } from '../model/stored-object.ts'
import { withDefaults } from './admission.ts'

/**
 * The object as this version of its kind shows it to whoever reads: with the defaults that the schema has by now, which
 * the object may be older than. Nothing is written: the next write of the object stores them.
 */
export function asServed(kind: ServedKind, stored: StoredObject): StoredObject {
  if (kind.twin !== undefined) return { ...stored, object: toTwin(stored.object, kind.twin, kind) }
  if (kind.conversion !== undefined) return asConverted(kind, kind.conversion, stored)
  const object = completed(kind, stored.object)
  return inVersion(kind, stored, object)
}

function inVersion({ group, version }: ServedKind, stored: StoredObject, object: ApiObject): StoredObject {
  const apiVersion = apiVersionOf(group, version)
  if (object.apiVersion !== apiVersion) return { ...stored, object: { ...object, apiVersion } }
  return object === stored.object ? stored : { ...stored, object }
}

/**
 * Throws CONVERSION_FAILED. In the version that objects are stored in, what cannot be converted is shown as it is
 * stored, as its reconciler finds it.
 */
function asConverted(kind: ServedKind, { version, convert }: Conversion, stored: StoredObject): StoredObject {
  try {
    return inVersion(kind, stored, completed(kind, convert(stored.object, kind.version)))
  } catch (error) {
    if (kind.version !== version || !hasCode(error, 'CONVERSION_FAILED')) throw error
    const shown = inVersion(kind, stored, stored.object)
    faults.set(shown.object, error.message)
    return shown
  }
}

/** Of what is shown as it is stored, though that is another version. */
const faults = new WeakMap<ApiObject, string>()

/** Why an object that was read is not in its version but in name; undefined if it is. */
export function conversionFaultOf(object: ApiObject): string | undefined {
  return faults.get(object)
}

/**
 * The same of what cannot be shown in this version; undefined for that. Those who ask for many objects get the others.
 */
export function servedIfConvertible(kind: ServedKind, stored: StoredObject): StoredObject | undefined {
  const served = servedOrFault(kind, stored)
  return served instanceof OperatingError ? undefined : served
}

/** The object as this version shows it, or CONVERSION_FAILED. */
export function servedOrFault(kind: ServedKind, stored: StoredObject): StoredObject | OperatingError {
  if (kind.conversion === undefined) return asServed(kind, stored)
  try {
    return asServed(kind, stored)
  } catch (error) {
    if (hasCode(error, 'CONVERSION_FAILED')) return error
    throw error
  }
}

/** The object with its metadata as clients see it: its owners are in full, and no field is Setpoint's own. */
export function withShownMetadata(kind: ServedKind, object: ApiObject): JsonObject {
  const { generation, managedFields, ...metadata } = withExplicitOwners(kind, object).metadata
  const owners = managedFields ?? object.metadata.managedFields
  return {
    ...object,
    metadata: {
      ...metadata,
      ...(kind.hidesGeneration === undefined && { generation }),
      ...(owners && { managedFields: owners }),
    },
  }
}

/** What is built in has had the same defaults ever. */
function completed(kind: ServedKind, object: ApiObject): ApiObject {
  const { builtIn, schema } = kind
  if (builtIn || hasDefaults(schema, object)) return object
  try {
    return withLaterDefaults(kind, object)
  } catch (error) {
    // An object that would be too large with them is shown as it is stored.
    if (hasCode(error, 'TOO_LARGE')) return object
    throw error
  }
}

/** With the defaults that the schema has by now; the same object if it has them all. Who wrote it owns none of them. */
export function withLaterDefaults(kind: ServedKind, object: ApiObject): ApiObject {
  const whole = withDefaults(kind, object)
  return whole === object ? object : withDefaults(kind, withExplicitOwners(kind, object))
}
