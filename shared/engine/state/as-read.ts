import { hasCode } from '../../model/errors.ts'
import { isObject } from '../../model/json.ts'
import type { ApiObject } from '../../model/object.ts'
import { applyDefaults } from '../../model/schema/defaulting.ts'
import { reasonWords } from '../../model/schema/field-error.ts'
import { question } from '../../model/schema/fit/fit.ts'
import { objectFits } from '../../model/schema/fit/fits.ts'
import { findSettledParts } from '../../model/schema/settled.ts'
import type { StructuralSchema } from '../../model/schema/structural-schema.ts'
import { validate } from '../../model/schema/validate.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import type { Kind } from '../../reconciler/kind.ts'

/**
 * An object as reconcilers read it: its spec has the defaults that its kind has now, as its type says, though it be
 * older than these. It is stored with them by its next write.
 */
export function asRead(kind: Kind<unknown, unknown>, object: ApiObject, served?: ServedKind): ApiObject {
  const whole = schemaOf(kind, served)
  const schema = whole?.properties?.['spec']
  if (schema === undefined || !isObject(object['spec'])) return object
  if (whole !== undefined && findSettledParts(whole, object)['spec'] !== undefined) return object
  const spec = applyDefaults(schema, object['spec'])
  return spec === object['spec'] ? object : { ...object, spec }
}

/**
 * Why a reconciler cannot be given an object: what is stored is not what the type of its kind says, defaults included.
 * Undefined: it can. The status is not asked, which is the reconciler's own. One quick walk where nothing is wrong.
 * No value is repeated: this text goes into conditions, events and logs, and a value may be a secret.
 */
export function findSpecFaults(
  kind: Kind<unknown, unknown>,
  object: ApiObject,
  served?: ServedKind,
): string | undefined {
  const schema = schemaOf(kind, served)
  if (schema === undefined) return undefined
  const desired = withoutStatus(schema)
  if (objectFits(desired, object, question.complete | question.valid, findSettledParts(schema, object)))
    return undefined
  try {
    const faults = validate(desired, applyDefaults(desired, object))
    return faults.length === 0 ? undefined : faultsText(faults)
  } catch (error) {
    if (!hasCode(error, 'TOO_LARGE')) throw error
    return 'with its defaults it is larger than an object may be'
  }
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

const desiredSchemas = new WeakMap<StructuralSchema, StructuralSchema>()

function withoutStatus(schema: StructuralSchema): StructuralSchema {
  let desired = desiredSchemas.get(schema)
  if (desired === undefined) {
    const { status: _, ...properties } = schema.properties ?? {}
    const required = (schema.required ?? []).filter((field) => field !== 'status')
    desired = { ...schema, required, properties: { ...properties, status: anything } }
    desiredSchemas.set(schema, desired)
  }
  return desired
}

const anything: StructuralSchema = { 'x-kubernetes-preserve-unknown-fields': true }

/** So many as a person mends at a time. */
const faultsMax = 10

function faultsText(faults: ReturnType<typeof validate>): string {
  const lines = faults.slice(0, faultsMax).map(({ field, reason }) => `${field}: ${reasonWords[reason]}`)
  return faults.length > faultsMax ? `${lines.join(', ')} and ${faults.length - faultsMax} more` : lines.join(', ')
}
