import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { JsonObject } from '../../../../shared/model/json.ts'
import { applyDefaults } from '../../../../shared/model/schema/defaulting.ts'
import { prune } from '../../../../shared/model/schema/prune.ts'
import { isSettled } from '../../../../shared/model/schema/settled.ts'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'
import { interpretSchema, validate } from '../../../../shared/model/schema/validate.ts'
import { schemaAndUpdate } from './schema-arbitrary.ts'
import { least, share } from '../../../support/strength.ts'

/**
 * The quick answers about values are held against the interpreters, which stay the truth: a yes is never wrong, and
 * whatever fits in every way is known to.
 */
const keywords = {
  formats: ['date-time', 'int32', 'byte', 'ipv4', 'duration'],
  branches: true,
  defaults: true,
  nullable: true,
  kubernetes: true,
}

it('finds the errors that the interpreter finds', () => {
  const cases = { valid: 0, invalid: 0 }
  fc.assert(
    fc.property(schemaAndUpdate(keywords), ({ schema, value, old }) => {
      for (const next of [value, completed(schema, value)]) {
        for (const options of [{}, { old, path: 'spec' }]) {
          const errors = interpretSchema(schema, next, options)
          expectEqual(validate(schema, next, options), errors, { schema, next, old })
          cases[errors.length === 0 ? 'valid' : 'invalid']++
        }
      }
    }),
    { numRuns: share(2_000) },
  )
  expect(Math.min(cases.valid, cases.invalid), 'cases of either kind').toBeGreaterThanOrEqual(least(250))
})

it('says of nothing that it is settled which is not', () => {
  const yes = { alone: 0, update: 0 }
  fc.assert(
    fc.property(fc.oneof(schemaAndUpdate(keywords), schemaAndUpdate({ defaults: true })), ({ schema, value, old }) => {
      const before = completed(schema, old)
      const knowsOld = isSettled(schema, before)
      for (const next of [value, completed(schema, value), mixed(before, value)]) {
        if (!isSettled(schema, next, before)) continue
        yes[knowsOld ? 'update' : 'alone']++
        expect(prune(schema, next).value).toBe(next)
        expect(applyDefaults(schema, next)).toBe(next)
        expectEqual(interpretSchema(schema, next), [], { schema, next, before })
      }
    }),
    { numRuns: share(2_000) },
  )
  // Else the property would be about nothing.
  expect(Math.min(yes.alone, yes.update), 'quick answers of either kind').toBeGreaterThanOrEqual(least(10))
})

it('knows what is settled', () => {
  let known = 0
  fc.assert(
    fc.property(schemaAndUpdate({ nullable: true, defaults: true }), ({ schema, value }) => {
      const whole = completed(schema, value)
      // Kubernetes asks nothing of a null in a list, nor of an empty object among fields without a schema; the quick
      // answer does.
      fc.pre(!/null/.test(JSON.stringify(whole)) && !/"additionalProperties":true/.test(JSON.stringify(schema)))
      fc.pre(interpretSchema(schema, whole).length === 0)
      known++
      expect(isSettled(schema, whole)).toBe(true)
    }),
    { numRuns: share(1_000), endOnFailure: true },
  )
  expect(known).toBeGreaterThanOrEqual(share(1_000))
})

function completed(schema: StructuralSchema, value: JsonObject): JsonObject {
  // A default may hold fields that are unknown.
  return prune(schema, applyDefaults(schema, prune(schema, value).value)).value
}

/** The object with some fields of another. */
function mixed(object: JsonObject, other: JsonObject): JsonObject {
  return { ...object, ...Object.fromEntries(Object.entries(other).slice(0, 1)) }
}

/** Quick where both are equal. */
function expectEqual(found: unknown, wanted: unknown, where: object): void {
  if (!isDeepStrictEqual(found, wanted)) expect({ ...where, found }).toEqual({ ...where, found: wanted })
}

const text: StructuralSchema = { type: 'string' }

const embedded: StructuralSchema = {
  type: 'object',
  'x-kubernetes-embedded-resource': true,
  'x-kubernetes-preserve-unknown-fields': true,
}
const owner: JsonObject = { apiVersion: 'v1', kind: 'K', name: 'a', uid: 'u' }

const rows: readonly { because: string; schema: StructuralSchema; value: JsonObject; fits: boolean }[] = [
  {
    because: 'identity is known, and still checked',
    schema: { type: 'object', additionalProperties: false },
    value: { kind: 'A' },
    fits: false,
  },
  {
    because: 'an embedded resource has an identity',
    schema: { type: 'object', properties: { a: { type: 'object', 'x-kubernetes-embedded-resource': true } } },
    value: { a: {} },
    fits: false,
  },
  {
    because: 'its identity is known',
    schema: { type: 'object', properties: { a: { type: 'object', 'x-kubernetes-embedded-resource': true } } },
    value: { a: { apiVersion: 'v1', kind: 'A', metadata: { name: 'a' } } },
    fits: true,
  },
  {
    because: 'nothing is unknown within its metadata either',
    schema: { type: 'object', properties: { a: embedded } },
    value: { a: { apiVersion: 'v1', kind: 'A', metadata: { ownerReferences: [{ ...owner, colour: 'red' }] } } },
    fits: false,
  },
  {
    because: 'what metadata may have is known',
    schema: { type: 'object', properties: { a: embedded } },
    value: { a: { apiVersion: 'v1', kind: 'A', metadata: { ownerReferences: [owner] } } },
    fits: true,
  },
  {
    because: 'fields that are preserved need no schema',
    schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    value: { a: { b: [{}] } },
    fits: true,
  },
  {
    because: 'what is inherited is no field',
    schema: { type: 'object', required: ['constructor'], properties: { constructor: text } },
    value: {},
    fits: false,
  },
  {
    because: 'a list of objects whose keys differ is a map',
    schema: listOf('map'),
    value: { list: [{ name: 'a' }, { name: 'b' }] },
    fits: true,
  },
  {
    because: 'a list of objects whose keys repeat is none',
    schema: listOf('map'),
    value: { list: [{ name: 'a' }, { name: 'a' }] },
    fits: false,
  },
]

function listOf(type: 'map' | 'set'): StructuralSchema {
  const items: StructuralSchema = { type: 'object', properties: { name: text } }
  return {
    type: 'object',
    properties: {
      list: { type: 'array', items, 'x-kubernetes-list-type': type, 'x-kubernetes-list-map-keys': ['name'] },
    },
  }
}

it.each(rows)('answers $fits: $because', ({ schema, value, fits }) => {
  expect(isSettled(structuredClone(schema), value)).toBe(fits)
  if (fits) expect(prune(schema, value).value).toBe(value)
})
