import { Ajv } from 'ajv'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'
import { validate } from '../../../../shared/model/schema/validate.ts'
import { schemaAndValue } from './schema-arbitrary.ts'
import { least, share } from '../../../support/strength.ts'

/**
 * For the keywords that JSON Schema has too, a value is valid here exactly if it is valid there. Left out: formats and
 * the x-kubernetes keywords, which JSON Schema does not know, and branches for null, of which Kubernetes asks nothing.
 */
it('agrees with ajv on what is valid', () => {
  const ajv = new Ajv({ strict: false, ownProperties: true, logger: false })
  let valid = 0
  let invalid = 0
  fc.assert(
    fc.property(schemaAndValue({ branches: true, nullable: true }), ({ schema, value }) => {
      const errors = validate(schema, value)
      const isValid = ajv.compile(jsonSchema(schema))(value)
      expect({ isValid: errors.length === 0, schema, value, errors }).toEqual({ isValid, schema, value, errors })
      if (isValid) valid++
      else invalid++
    }),
    { numRuns: share(500) },
  )
  expect(Math.min(valid, invalid), 'cases of either kind').toBeGreaterThanOrEqual(least(50))
})

type JsonSchema = { [keyword: string]: unknown }

/** The same in JSON Schema, where exclusive bounds are numbers and null is a type. */
function jsonSchema(schema: StructuralSchema): JsonSchema {
  const { nullable, minimum, maximum, exclusiveMinimum, exclusiveMaximum, ...rest } = schema
  const { properties, items, additionalProperties: others, allOf, anyOf, oneOf, not, ...scalars } = rest
  const same: JsonSchema = { ...scalars }
  if (minimum !== undefined) same[exclusiveMinimum === true ? 'exclusiveMinimum' : 'minimum'] = minimum
  if (maximum !== undefined) same[exclusiveMaximum === true ? 'exclusiveMaximum' : 'maximum'] = maximum
  if (properties !== undefined) {
    same['properties'] = Object.fromEntries(Object.entries(properties).map(([name, node]) => [name, jsonSchema(node)]))
  }
  if (items !== undefined) same['items'] = jsonSchema(items)
  if (others !== undefined) same['additionalProperties'] = typeof others === 'object' ? jsonSchema(others) : others
  for (const [junctor, branches] of Object.entries({ allOf, anyOf, oneOf })) {
    if (branches !== undefined) same[junctor] = branches.map(jsonSchema)
  }
  if (not !== undefined) same['not'] = jsonSchema(not)
  if (nullable !== true) return same
  return { anyOf: [{ type: 'null', ...(schema.enum && { enum: schema.enum }) }, same] }
}
