import { isObject, type Json, type JsonObject } from '../model/json.ts'
import type { StructuralSchema } from '../model/schema/structural-schema.ts'
import type { Random } from '../ports/random.ts'

/**
 * Some value of a schema, at random. What patterns, formats and rules ask for is not known here: whoever draws asks
 * whether it fits.
 */
export function drawValue(schema: StructuralSchema, random: Random): Json {
  const { enum: choices, nullable } = schema
  if (choices !== undefined && choices.length > 0) return pick(choices, random)
  if (nullable === true && random.next() < 0.1) return null
  if (schema['x-kubernetes-int-or-string'] === true)
    return random.next() < 0.5 ? drawInteger(schema, random) : drawText(schema, random)
  switch (schema.type) {
    case 'boolean':
      return random.next() < 0.5
    case 'integer':
      return drawInteger(schema, random)
    case 'number':
      return drawInteger(schema, random) + pick([0, 0.5], random)
    case 'string':
      return drawText(schema, random)
    case 'array':
      return drawItems(schema, random)
    default:
      return drawFields(schema, random)
  }
}

function drawFields(
  { properties = {}, additionalProperties, required = [] }: StructuralSchema,
  random: Random,
): JsonObject {
  const fields: JsonObject = {}
  for (const [name, schema] of Object.entries(properties))
    if (required.includes(name) || random.next() < 0.6) fields[name] = drawValue(schema, random)
  if (isObject(additionalProperties))
    for (const name of ['a', 'b', 'c']) if (random.next() < 0.4) fields[name] = drawValue(additionalProperties, random)
  return fields
}

function drawItems({ items = {}, minItems = 0, maxItems = Infinity }: StructuralSchema, random: Random): Json[] {
  const count = Math.min(maxItems, minItems + Math.floor(random.next() * 4))
  return Array.from({ length: count }, () => drawValue(items, random))
}

function drawInteger({ minimum, maximum, multipleOf = 1 }: StructuralSchema, random: Random): number {
  const low = minimum ?? Math.min(0, (maximum ?? 0) - 1_000)
  const high = maximum ?? Math.max(1_000, low + 1_000)
  const drawn = Math.floor(low + random.next() * (Math.min(high, low + 1_000_000) - low + 1))
  return Math.ceil(drawn / multipleOf) * multipleOf
}

function drawText({ minLength = 0, maxLength = Infinity, format }: StructuralSchema, random: Random): string {
  const known = format === undefined ? undefined : texts[format]
  if (known !== undefined) return pick(known, random)
  const length = Math.min(maxLength, minLength + Math.floor(random.next() * 8))
  return Array.from({ length }, () => pick(letters, random)).join('')
}

const letters = 'abcxyzABC0189-_. é'.split('')

const texts: Readonly<Record<string, readonly string[]>> = {
  'date-time': ['2026-01-01T00:00:00Z', '1999-12-31T23:59:59Z'],
  date: ['2026-01-01', '1999-12-31'],
  uri: ['https://example.com/a?b=c', 'http://127.0.0.1:8080'],
  email: ['a@example.com'],
  uuid: ['8dd44549-d734-4b45-b801-49f77e9a80fb'],
  ipv4: ['10.0.0.1'],
  ipv6: ['fd00::1'],
  byte: ['', 'YWJj'],
}

function pick<Value>(from: readonly Value[], random: Random): Value {
  return from[Math.floor(random.next() * from.length)] as Value
}
