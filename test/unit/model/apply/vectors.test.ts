/**
 * Replays what Kubernetes' Go code answered, step by step: bare field sets against structured-merge-diff, and whole
 * objects with their managedFields against apimachinery. Times are left out, as the recorder's clock was the real one.
 */
import { describe, expect, it } from 'vitest'
import { apply } from '../../../../shared/model/apply/apply.ts'
import { conflictCauses, conflictsOf } from '../../../../shared/model/apply/conflict.ts'
import { noFields } from '../../../../shared/model/apply/fields/field-set.ts'
import { decodeFields, encodeFields } from '../../../../shared/model/apply/fields/fields-v1.ts'
import {
  claim,
  ownerId,
  recordWrite,
  type Manager,
  type FieldOwner,
  type Owners,
} from '../../../../shared/model/apply/ownership.ts'
import { trackUpdate } from '../../../../shared/model/apply/track-update.ts'
import { mergeTypeOf } from '../../../../shared/model/apply/typed/merge-type.ts'
import { isObject, type JsonObject } from '../../../../shared/model/json.ts'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'
import { fieldManagerSteps, updaterSteps, type FieldManagerStep, type UpdaterStep } from './vectors.ts'

describe('merging and ownership', () => {
  const steps = updaterSteps()

  it.each(['apply', 'update'] as const)('of %s are those of structured-merge-diff', (op) => {
    const chosen = steps.filter(({ step }) => step.op === op)
    expect(chosen.length).toBeGreaterThan(900)
    for (const { line, schema, step } of chosen)
      expect({ line, ...outcome(step, schema) }).toEqual({ line, ...step.want })
  })
})

function outcome(step: UpdaterStep, schema: StructuralSchema): UpdaterStep['want'] {
  const [owners, type] = [ownersIn(step), mergeTypeOf(schema)]
  const self = managerOf(step.manager, step.op === 'apply')
  if (step.op === 'update') {
    const after = recordWrite(owners, { self, before: step.live, after: step.object, type, ignored: noFields })
    return { object: step.object, managers: setsOf(after) }
  }
  const claimed = claim(owners, { self, live: step.live, config: step.object, type, ignored: noFields })
  const conflicts = conflictsOf(claimed.conflicts).named.flatMap((one) =>
    one.fields.map((field) => `${one.manager} ${field}`),
  )
  if (conflicts.length > 0 && !step.force) return { conflicts: conflicts.sort() }
  return { object: claimed.object, managers: setsOf(claimed.owners) }
}

function ownersIn({ managers }: UpdaterStep): Owners {
  const owners = Object.entries(managers).map(([name, { fields, applied }]): FieldOwner => {
    return { ...managerOf(name, applied), fields: decodeFields(fields) }
  })
  return new Map(owners.map((owner) => [ownerId(owner), owner]))
}

function managerOf(name: string, applied: boolean): Manager {
  return { manager: name, operation: applied ? 'Apply' : 'Update', apiVersion: 'v1' }
}

function setsOf(owners: Owners): Record<string, JsonObject> {
  return Object.fromEntries([...owners.values()].map((owner) => [owner.manager, encodeFields(owner.fields)]))
}

describe('objects and their managedFields', () => {
  const steps = fieldManagerSteps()

  it.each(['apply', 'update'] as const)("after %s are those of Kubernetes' field manager", (op) => {
    const chosen = steps.filter(({ step }) => step.op === op)
    expect(chosen.length).toBeGreaterThan(500)
    for (const { line, schema, step } of chosen) {
      expect({ line, ...answer(step, schema) }).toEqual({ line, ...wanted(step) })
    }
  })
})

function answer(step: FieldManagerStep, schema: StructuralSchema): FieldManagerStep['want'] {
  const { live, object, manager, subresource, reset: resetFields, force } = step
  const nowMs = Date.parse('2030-01-01T00:00:00Z')
  const write = { schema, live, manager, apiVersion: 'example.com/v1', nowMs, subresource, resetFields }
  if (step.op === 'update') return { object: normal(trackUpdate({ ...write, object }).object) }
  const result = apply({ ...write, config: object, force })
  if (result.outcome === 'applied') return { object: normal(result.object) }
  if (result.outcome === 'misfit') return { message: result.message }
  const causes = conflictCauses(result.conflicts).map(({ message, field }) => ({ message, field }))
  return { message: result.message, causes: causes.sort(byText) }
}

/** The API server puts reset fields back after the field manager is done; here they are never touched. */
function wanted({ op, live = {}, reset, want }: FieldManagerStep): FieldManagerStep['want'] {
  if (want.object === undefined) return want.causes ? { ...want, causes: want.causes.toSorted(byText) } : want
  if (op === 'update') return { object: normal(want.object) }
  const { managedFields } = metadataOf(want.object)
  const object = { ...want.object, ...Object.fromEntries(reset.map(([field = '']) => [field, live[field]])) }
  return { object: normal({ ...object, metadata: { ...metadataOf(object), managedFields } }) }
}

/** Without times, and with path elements and entries in one notation and order. */
function normal(object: JsonObject): JsonObject {
  const { managedFields, ...metadata } = metadataOf(object)
  if (!Array.isArray(managedFields)) return { ...object, metadata }
  const entries = managedFields.filter(isObject).map(({ time: _, fieldsV1, ...entry }) => {
    return { ...entry, fieldsV1: isObject(fieldsV1) ? encodeFields(decodeFields(fieldsV1)) : {} }
  })
  return { ...object, metadata: { ...metadata, managedFields: entries.sort(byText) } }
}

function metadataOf({ metadata }: JsonObject): JsonObject {
  return isObject(metadata) ? metadata : {}
}

function byText(a: object, b: object): number {
  return sortedText(a) < sortedText(b) ? -1 : 1
}

function sortedText(fields: object): string {
  return Object.entries(fields)
    .map((field) => JSON.stringify(field))
    .toSorted()
    .join()
}
