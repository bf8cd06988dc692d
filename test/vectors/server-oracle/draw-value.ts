import type { Json, JsonObject } from '../../../shared/model/json.ts'
import type { Draw } from './draw.ts'

/** Texts that are, or nearly are, of each format. */
export const formats: Readonly<Record<string, readonly string[]>> = {
  'date-time': ['2024-01-01T00:00:00Z', '2024-01-01', '2024-02-30T00:00:00Z', '2024-01-01T00:00:00.123+01:00'],
  date: ['2024-01-01', '2024-13-01', '24-01-01', '2024-02-30'],
  email: ['a@b.c', 'a', 'a b@c', 'A <a@b.c>'],
  ipv4: ['1.2.3.4', '::1', '1.2.3', '01.2.3.4', '1.2.3.400'],
  ipv6: ['::1', '1.2.3.4', 'x', '::ffff:1.2.3.4'],
  uuid: ['123e4567-e89b-12d3-a456-426614174000', 'x', '123E4567E89B12D3A456426614174000'],
  uri: ['http://a', 'a', '/a', 'a b', 'mailto:x', '#a', '//x/y'],
  hostname: ['a.b', 'a_b', '-a', 'a', 'A.B', 'a.b.', '1.2.3.4'],
  byte: ['YQ==', 'YQ', '!', ''],
  duration: ['1s', '1h', '1d', 'x', 'P1D', '1', '-1s', '1 week'],
  cidr: ['1.2.3.0/24', '1.2.3.4', '1.2.3.4/33', '::/0'],
  mac: ['00:11:22:33:44:55', 'x', '00-11-22-33-44-55', '0011.2233.4455'],
  password: ['a', ''],
  'int-or-string': ['a', '1'],
  unheard: ['a', ''],
}

const texts = ['a', 'ab', 'b', 'abc', '']

/** A value that fits the schema more often than not. `odd` is the share of parts that are something else. */
export function drawValue(draw: Draw, schema: JsonObject, odd: number): Json {
  if (draw.chance(odd)) return drawOdd(draw)
  if (schema['nullable'] === true && draw.chance(0.15)) return null
  if (draw.chance(odd * 0.6)) return null
  if (Array.isArray(schema['enum'])) return draw.pick<Json>(schema['enum'])
  if (schema['x-kubernetes-int-or-string'] === true) return draw.pick<Json>([1, '1', 'a%'])
  if (schema['x-kubernetes-embedded-resource'] === true) return drawEmbedded(draw)
  switch (schema['type']) {
    case 'string':
      return draw.pick(formats[String(schema['format'])] ?? texts)
    case 'integer':
      return draw.pick([0, 1, 2, 3, 10, 11, -1])
    case 'number':
      return draw.pick([0, 1, 2, 0.5, 1.25, 10, -1])
    case 'boolean':
      return draw.chance(0.5)
    case 'array':
      return Array.from({ length: draw.upTo(3) }, () => drawValue(draw, schema['items'] as JsonObject, odd))
    case 'object':
      return drawFields(draw, schema, odd)
    default:
      return draw.pick<Json>([1, 'a', { x: null }, [1, null]])
  }
}

function drawFields(draw: Draw, schema: JsonObject, odd: number): JsonObject {
  const value: Record<string, Json> = {}
  const required = (schema['required'] ?? []) as readonly string[]
  for (const [name, field] of Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, JsonObject>>)) {
    if (!draw.chance(required.includes(name) ? 0.93 : 0.65)) continue
    value[name] = name === 'k' ? draw.pick(['a', 'b']) : drawValue(draw, field, odd)
  }
  const others = schema['additionalProperties'] as JsonObject | undefined
  for (let left = others === undefined ? 0 : draw.upTo(2); left > 0; left--)
    value[draw.pick(['x', 'y', 'z/w'])] = drawValue(draw, others ?? {}, odd)
  if (schema['x-kubernetes-preserve-unknown-fields'] === true || draw.chance(odd))
    value['unheard'] = draw.pick<Json>([1, { a: null }, [null], null])
  return value
}

function drawEmbedded(draw: Draw): Json {
  const bare = { apiVersion: 'v1', kind: 'X' }
  return draw.pick<Json>([bare, { ...bare, metadata: { name: 'a', labels: { a: 'b' } }, spec: { x: 1 } }])
}

function drawOdd(draw: Draw): Json {
  return draw.pick<Json>(['x', 'a', 1, 0, -1, 2.5, true, null, [], {}, ['a'], { a: 'b' }, [null], { k: 'a' }])
}
