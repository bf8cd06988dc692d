import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import type { GroupVersion } from '../discovery/group-versions.ts'
import { addFields, hashPieces, piecesOf, type FieldTexts, type HashedText, type Rest } from './hashed-text.ts'
import { kindPaths } from './kind-paths.ts'
import { kindSchemas } from './kind-schemas.ts'
import { metaSchemas } from './meta-schemas.ts'

/**
 * `/openapi/v2` in JSON, for clients that read nothing newer: the schemas and operations of all kinds in one document.
 * What version 2 has no words for is left out, as Kubernetes does: a field of such a schema takes anything.
 */
export async function openApiV2Document(
  versions: readonly GroupVersion[],
  { setpoint, rest }: { readonly setpoint: string; readonly rest: Rest },
): Promise<HashedText> {
  const paths: FieldTexts = new Map()
  const definitions: FieldTexts = new Map()
  await addFields(definitions, mapFields(metaSchemas, schemaInV2), rest)
  for (const kind of versions.flatMap((version) => version.kinds)) {
    await addFields(paths, mapFields(kindPaths(kind), pathInV2), rest)
    await addFields(definitions, mapFields(kindSchemas(kind), schemaInV2), rest)
  }
  const about: JsonObject = { swagger: '2.0', info: { title: 'Setpoint', version: setpoint } }
  const access: JsonObject = {
    security: [{ BearerToken: [] }],
    securityDefinitions: { BearerToken: { type: 'apiKey', name: 'authorization', in: 'header' } },
  }
  const pieces = [
    `${JSON.stringify(about).slice(0, -1)},"paths":`,
    ...piecesOf(paths),
    ',"definitions":',
    ...piecesOf(definitions),
    `,${JSON.stringify(access).slice(1)}`,
  ]
  return hashPieces(pieces, rest)
}

function pathInV2(path: Json): Json {
  return mapFields(path, operationInV2)
}

function mapFields(object: Json | undefined, change: (value: Json) => Json): JsonObject {
  const fields = isObject(object) ? object : {}
  return Object.fromEntries(Object.entries(fields).map(([name, value = null]) => [name, change(value)]))
}

/** An operation, or the parameters that all operations of a path share. */
function operationInV2(value: Json): Json {
  if (Array.isArray(value)) return value.map(parameterInV2)
  const { requestBody, responses, parameters, ...operation } = value as JsonObject
  const content = isObject(requestBody) && isObject(requestBody['content']) ? requestBody['content'] : {}
  const [taken] = Object.values(content)
  const body = isObject(taken)
    ? [{ name: 'body', in: 'body', required: true, schema: schemaInV2(taken['schema'] ?? {}) }]
    : []
  return {
    ...operation,
    consumes: Object.keys(content).length > 0 ? Object.keys(content) : ['*/*'],
    produces: ['application/json', 'application/yaml'],
    schemes: ['https'],
    parameters: [...body, ...(Array.isArray(parameters) ? parameters.map(parameterInV2) : [])],
    responses: mapFields(responses, responseInV2),
  }
}

function parameterInV2(parameter: Json): Json {
  const { schema, ...rest } = parameter as JsonObject
  return { ...rest, ...(isObject(schema) ? schema : {}) }
}

function responseInV2(response: Json): Json {
  const { content, ...rest } = response as JsonObject
  const given = isObject(content) ? content['application/json'] : undefined
  return { ...rest, ...(isObject(given) ? { schema: schemaInV2(given['schema'] ?? {}) } : {}) }
}

const unknownInV2: ReadonlySet<string> = new Set(['nullable', 'oneOf', 'anyOf', 'not', 'allOf'])

function schemaInV2(schema: Json): Json {
  if (!isObject(schema)) return schema
  const reference = referenceOf(schema)
  if (reference !== undefined) {
    const { description } = schema
    const $ref = reference.replace('#/components/schemas/', '#/definitions/')
    return { ...(description === undefined ? {} : { description }), $ref }
  }
  // What is typed may not be null in version 2, and what is int-or-string has no type there.
  const isOpen = schema['nullable'] === true || schema['x-kubernetes-int-or-string'] === true
  const kept: JsonObject = {}
  for (const [keyword, value = null] of Object.entries(schema)) {
    if (unknownInV2.has(keyword) || (isOpen && besideType.has(keyword))) continue
    kept[keyword] = keywordInV2(keyword, value)
  }
  return kept
}

const besideType: ReadonlySet<string> = new Set(['type', 'format', 'items', 'properties'])

function keywordInV2(keyword: string, value: Json): Json {
  if (keyword === 'properties') return mapFields(value, schemaInV2)
  return keyword === 'items' || keyword === 'additionalProperties' ? schemaInV2(value) : value
}

/** A reference, alone or as the one part of `allOf`. */
function referenceOf({ $ref, allOf }: JsonObject): string | undefined {
  if (typeof $ref === 'string') return $ref
  const [only] = Array.isArray(allOf) && allOf.length === 1 ? allOf : []
  return isObject(only) && typeof only['$ref'] === 'string' ? only['$ref'] : undefined
}
