import { changeFields, changePart } from '../../../shared/model/change-parts.ts'
import { isObject, type Json, type JsonObject } from '../../../shared/model/json.ts'
import type { Draw } from './draw.ts'
import { drawValue, formats } from './draw-value.ts'

const depthMax = 3

/** A structural schema, as definitions have them, with a default here and there. */
export function drawSchema(draw: Draw, depth: number): JsonObject {
  const deep = [drawText, drawText, drawNumber, drawNumber, drawOther, drawList, drawMap, drawObject, drawObject]
  const schema = draw.pick(depth >= depthMax ? deep.slice(0, 5) : deep)(draw, depth)
  if (draw.chance(0.12)) schema['nullable'] = true
  // Kubernetes takes a default with two items of one key.
  if (depth > 0 && schema['x-kubernetes-list-type'] !== 'map' && draw.chance(0.2)) {
    const value = drawValue(draw, schema, 0)
    if (value !== null || schema['nullable'] === true) schema['default'] = value
  }
  return schema
}

type Mutable = Record<string, Json>

function drawText(draw: Draw): Mutable {
  const schema: Mutable = { type: 'string' }
  if (draw.chance(0.2)) schema['enum'] = ['a', 'b', 'ab']
  if (draw.chance(0.2)) schema['pattern'] = draw.pick(['^a', 'b$', '^[a-z]{2}$'])
  if (draw.chance(0.2)) schema['maxLength'] = draw.pick([1, 2])
  if (draw.chance(0.15)) schema['minLength'] = draw.pick([1, 2])
  if (draw.chance(0.25)) schema['format'] = draw.pick(Object.keys(formats))
  return schema
}

function drawNumber(draw: Draw): Mutable {
  const type = draw.pick(['integer', 'number'])
  const schema: Mutable = { type }
  if (draw.chance(0.3)) schema['minimum'] = draw.pick([0, 1])
  if (schema['minimum'] !== undefined && draw.chance(0.3)) schema['exclusiveMinimum'] = true
  if (draw.chance(0.3)) schema['maximum'] = draw.pick([2, 10])
  // Of a fraction Kubernetes makes a whole number, which is 0.
  if (draw.chance(0.2)) schema['multipleOf'] = 2
  if (draw.chance(0.2)) schema['format'] = draw.pick(type === 'integer' ? ['int32', 'int64'] : ['float', 'double'])
  if (draw.chance(0.1)) schema['enum'] = [1, 2]
  return schema
}

function drawOther(draw: Draw): Mutable {
  return draw.pick<() => Mutable>([
    () => ({ type: 'boolean' }),
    () => ({ 'x-kubernetes-int-or-string': true }),
    () => ({ 'x-kubernetes-preserve-unknown-fields': true }),
    () => ({ 'x-kubernetes-preserve-unknown-fields': true, type: 'object' }),
    () => ({ type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true }),
  ])()
}

function drawList(draw: Draw, depth: number): Mutable {
  const items = drawSchema(draw, depth + 1)
  const schema: Mutable = { type: 'array', items }
  const listType = draw.pick(['set', 'map', 'map', 'atomic', undefined, undefined])
  if (listType === 'set' && ['string', 'integer', 'boolean'].includes(String(items['type']))) {
    const { nullable: _, default: __, ...bare } = items
    schema['items'] = bare
    schema['x-kubernetes-list-type'] = 'set'
  } else if (listType === 'map') {
    const properties = { k: { type: 'string' }, v: drawSchema(draw, depth + 1), w: drawSchema(draw, depth + 1) }
    schema['items'] = { type: 'object', required: ['k'], properties }
    schema['x-kubernetes-list-type'] = 'map'
    schema['x-kubernetes-list-map-keys'] = ['k']
  } else if (listType === 'atomic') schema['x-kubernetes-list-type'] = 'atomic'
  if (draw.chance(0.2)) schema['maxItems'] = draw.pick([1, 2])
  if (draw.chance(0.15)) schema['minItems'] = 1
  return schema
}

function drawMap(draw: Draw, depth: number): Mutable {
  // Kubernetes does not look at a default in here, whatever it is.
  const schema: Mutable = { type: 'object', additionalProperties: withoutDefaults(drawSchema(draw, depth + 1)) }
  if (draw.chance(0.15)) schema['maxProperties'] = 1
  if (draw.chance(0.1)) schema['minProperties'] = 1
  return schema
}

function withoutDefaults(schema: Json): Json {
  if (!isObject(schema)) return schema
  const { default: _, ...rest } = schema
  const within = ['items', 'additionalProperties'].reduce<Json>(
    (changed, keyword) => changePart(changed, keyword, withoutDefaults),
    rest,
  )
  return changePart(within, 'properties', (fields) => changeFields(fields, withoutDefaults))
}

function drawObject(draw: Draw, depth: number): Mutable {
  const names = draw.some(['a', 'b', 'c', 'e'], 1 + draw.upTo(2))
  const properties = Object.fromEntries(names.map((name) => [name, drawSchema(draw, depth + 1)]))
  const schema: Mutable = { type: 'object', properties }
  const needs = (): JsonObject => ({ required: [draw.pick(names)] })
  if (draw.chance(0.3)) schema['required'] = [draw.pick(names)]
  if (draw.chance(0.15)) schema[draw.pick(['oneOf', 'anyOf', 'allOf'])] = [needs(), needs()]
  if (draw.chance(0.08)) schema['not'] = needs()
  if (draw.chance(0.1)) schema['x-kubernetes-preserve-unknown-fields'] = true
  if (draw.chance(0.1)) schema['x-kubernetes-map-type'] = 'atomic'
  return schema
}
