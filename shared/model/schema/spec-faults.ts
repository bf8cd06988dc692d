import { hasCode } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import type { ApiObject } from '../object.ts'
import { applyDefaults } from './defaulting.ts'
import { reasonWords } from './field-error.ts'
import { question } from './fit/fit.ts'
import { objectFits } from './fit/fits.ts'
import { findSettledParts } from './settled.ts'
import type { StructuralSchema } from './structural-schema.ts'
import { validate } from './validate.ts'
import { engineStatusFields } from '../status-fields.ts'

/**
 * Why an object does not fit its schema, defaults included and the status left aside. Undefined: it fits. One quick
 * walk where nothing is wrong. No value is repeated: this text goes into conditions, events and logs, and a value may
 * be a secret.
 */
export function describeFaults(schema: StructuralSchema, object: ApiObject): string | undefined {
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

/** Why a status that is reported does not fit its schema, but for what was so before. Undefined: it fits. */
export function describeReportFaults(
  schema: StructuralSchema,
  status: JsonObject,
  old: JsonObject | undefined,
): string | undefined {
  const faults = validate(withoutAdded(schema), status, { path: 'status', old })
  return faults.length === 0 ? undefined : faultsText(faults)
}

const reportSchemas = new WeakMap<StructuralSchema, StructuralSchema>()

/** What the engine adds after a report may be missing in it. */
function withoutAdded(schema: StructuralSchema): StructuralSchema {
  let reported = reportSchemas.get(schema)
  if (reported === undefined) {
    const added: readonly string[] = engineStatusFields
    const required = (schema.required ?? []).filter((field) => !added.includes(field))
    reportSchemas.set(schema, (reported = { ...schema, required }))
  }
  return reported
}

const anything: StructuralSchema = { 'x-kubernetes-preserve-unknown-fields': true }

/** So many as a person mends at a time. */
const faultsMax = 10

function faultsText(faults: ReturnType<typeof validate>): string {
  const lines = faults.slice(0, faultsMax).map(({ field, reason }) => `${field}: ${reasonWords[reason]}`)
  return faults.length > faultsMax ? `${lines.join(', ')} and ${faults.length - faultsMax} more` : lines.join(', ')
}
