import { isObject, type JsonObject } from '../../model/json.ts'
import { parseApiVersion, type ApiObject } from '../../model/object.ts'
import { applyDefaults } from '../../model/schema/defaulting.ts'
import { pruneValue, type Pruned } from '../../model/schema/prune.ts'
import { findSettledParts } from '../../model/schema/settled.ts'
import { describeFaults, describeReportFaults } from '../../model/schema/spec-faults.ts'
import type { StructuralSchema } from '../../model/schema/structural-schema.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import type { Kind } from '../../reconciler/kind.ts'

/**
 * An object as reconcilers read it: its spec has the defaults that its kind has now, as its type says, though it be
 * older than these. It is stored with them by its next write.
 */
export function asRead(kind: Kind<unknown, unknown>, object: ApiObject, served?: ServedKind): ApiObject {
  const whole = schemaOf(kind, served)
  const schema = whole?.properties?.['spec']
  if (whole === undefined || schema === undefined || !isObject(object['spec'])) return object
  if (findSettledParts(whole, object)['spec'] !== undefined) return object
  const spec = applyDefaults(schema, object['spec'])
  return spec === object['spec'] ? object : { ...object, spec }
}

/**
 * Why a reconciler cannot be given an object: what is stored is not what the type of its kind says, defaults included,
 * or cannot be converted to it. Undefined: it can. The status is not asked, which is the reconciler's own.
 */
export function findSpecFaults(
  kind: Kind<unknown, unknown>,
  object: ApiObject,
  served?: ServedKind,
): string | undefined {
  const schema = schemaOf(kind, served)
  if (schema === undefined) return undefined
  const misplaced = findOtherKind(kind, object, served)
  if (misplaced !== undefined) return misplaced
  const { conversion } = kind
  if (conversion === undefined || parseApiVersion(object.apiVersion).version === conversion.version)
    return describeFaults(schema, object)
  const { version } = conversion
  return conversion.findFault(object, version) ?? describeFaults(schema, conversion.convert(object, version))
}

/** Whether the kind is served with another scope, or the object is stored in a version that the reconciler's lacks. */
function findOtherKind(
  { kind, namespaced, definition, version, conversion }: Kind<unknown, unknown>,
  { apiVersion }: ApiObject,
  served: ServedKind | undefined,
): string | undefined {
  if (definition === undefined) return undefined
  if (served !== undefined && served.namespaced !== namespaced)
    return `${kind} is ${namespaced ? 'in namespaces' : 'in no namespace'} for its reconciler, and is served otherwise`
  const stored = parseApiVersion(apiVersion).version
  if (conversion !== undefined || definition.spec.versions.some(({ name }) => name === stored)) return undefined
  return `it is stored in version ${stored}, which the definition of its reconciler, in version ${version}, does not have`
}

/**
 * Why what a run reports is no status of its kind, in words without values. Undefined: it is one. A part that was so
 * before is let be, and what the engine itself writes into a status may be missing.
 */
export function findStatusFaults(
  kind: Kind<unknown, unknown>,
  { status, old }: { readonly status: JsonObject; readonly old: JsonObject | undefined },
  served: ServedKind,
): string | undefined {
  const schema = statusSchemaOf(kind, served)
  return schema && describeReportFaults(schema, status, old)
}

/**
 * What a run reports, without the fields that the status of its kind does not have: an author may hand on what another
 * API has answered.
 */
export function knownStatus(kind: Kind<unknown, unknown>, status: JsonObject, served: ServedKind): Pruned<JsonObject> {
  const schema = statusSchemaOf(kind, served)
  return schema === undefined ? { value: status, unknown: [] } : (pruneValue(schema, status) as Pruned<JsonObject>)
}

function statusSchemaOf(kind: Kind<unknown, unknown>, served: ServedKind): StructuralSchema | undefined {
  return served.hasStatus ? schemaOf(kind, served)?.properties?.['status'] : undefined
}

/**
 * What the reconciler was written for, which may be another schema than the one that is served. That one holds for a
 * kind that others define. What is built in has had one schema ever.
 */
function schemaOf(
  { definition, version }: Kind<unknown, unknown>,
  served: ServedKind | undefined,
): StructuralSchema | undefined {
  if (definition === undefined) return served?.builtIn === false ? served.schema : undefined
  const { versions } = definition.spec
  return (versions.find(({ name }) => name === version) ?? versions[0])?.schema?.openAPIV3Schema
}
