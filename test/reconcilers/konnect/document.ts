import { existsSync, readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { parse } from 'yaml'
import { operations, type Schema } from './schemas.ts'

/**
 * Konnect's public OpenAPI document, if `SETPOINT_KONNECT_OPENAPI` names a copy of it: `openapi.yaml` of
 * github.com/Kong/sdk-konnect-go (Apache-2.0). It is not kept here: three megabytes that are somebody else's.
 */
const documentFile = process.env['SETPOINT_KONNECT_OPENAPI'] ?? ''
export const hasDocument = documentFile !== '' && existsSync(documentFile)

export function readDocument(): Schema {
  return parse(readFileSync(documentFile, 'utf8'), { maxAliasCount: -1 }) as Schema
}

/** What a request or an answer says that the API does not allow; undefined if nothing. */
export type Contract = (message: Message) => string | undefined

export interface Message {
  /** Method and path as in the document: `GET /v2/control-planes/{controlPlaneId}`. */
  readonly operation: string
  /** Absent for a request. */
  readonly status?: number
  readonly body: unknown
}

let contract: Contract | undefined

/** By the public document where it is at hand, or else by our own schemas. Read once per process. */
export function contractOfKonnect(): Contract {
  contract ??= createContract()
  return contract
}

function createContract(): Contract {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false, allErrors: true })
  const schemaOf = hasDocument ? documentSchemas(ajv) : ownSchemas
  const compiled = new Map<string, ValidateFunction | undefined>()
  return ({ operation, status, body }) => {
    const key = `${operation} ${status ?? 'request'}`
    if (!compiled.has(key)) {
      const schema = schemaOf(operation, status)
      compiled.set(key, schema && ajv.compile(schema))
    }
    const validate = compiled.get(key)
    if (validate === undefined || validate(body)) return
    return `${key}: ${ajv.errorsText(validate.errors)}: ${JSON.stringify(body)}`
  }
}

type SchemaOf = (operation: string, status: number | undefined) => Schema | undefined

const ownSchemas: SchemaOf = (operation, status) => {
  const described = operations[operation]
  return status === undefined ? described?.request : described?.responses[status]
}

function documentSchemas(ajv: Ajv2020): SchemaOf {
  const document = readDocument()
  ajv.addSchema(document, documentId)
  return (operation, status) => {
    const schema = documentedSchema(document, operation, status)
    return schema && absolute(schema)
  }
}

const documentId = 'konnect'

/** The schema that the document has for a request (no status) or an answer. */
export function documentedSchema(document: Schema, operation: string, status: number | undefined): Schema | undefined {
  const [method = '', path = ''] = operation.split(' ')
  const described = at(pathItem(document, path), [method.toLowerCase()])
  const message = status === undefined ? described?.['requestBody'] : at(described, ['responses', String(status)])
  const content = resolved(document, message as Schema | undefined)?.['content'] as Schema | undefined
  const media = (content?.['application/json'] ?? content?.['application/problem+json']) as Schema | undefined
  return media?.['schema'] as Schema | undefined
}

/** Versions of the document call the parameters of a path by other names. */
function pathItem({ paths }: Schema, path: string): Schema | undefined {
  const shape = (of: string): string => of.replaceAll(/{[^}]*}/g, '{}')
  const [, item] = Object.entries(paths as Schema).find(([known]) => shape(known) === shape(path)) ?? []
  return item as Schema | undefined
}

/** What a reference stands for. */
export function resolved(document: Schema, schema: Schema | undefined): Schema | undefined {
  const reference = schema?.['$ref']
  if (typeof reference !== 'string') return schema
  return resolved(document, at(document, reference.slice(2).split('/')))
}

function at(value: Schema | undefined, path: readonly string[]): Schema | undefined {
  return path.reduce<Schema | undefined>((found, step) => found?.[step] as Schema | undefined, value)
}

/** Its references as references into the document. */
function absolute(schema: Schema): Schema {
  const text = JSON.stringify(schema).replaceAll('"$ref":"#/', `"$ref":"${documentId}#/`)
  return JSON.parse(text) as Schema
}
