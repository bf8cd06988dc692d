import { OperatingError } from '../../model/errors.ts'
import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import { validate } from '../../model/schema/validate.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import type { HttpRequest } from '../../ports/http-handler.ts'
import { admitBody, warnOfFaults } from '../../resources/admission.ts'
import type { WriteOptions } from '../../resources/resources.ts'
import { faultsOf } from '../duplicate-fields.ts'
import { writeOptions } from '../query.ts'
import { readObject } from '../request-body.ts'

/** What a client asks and nobody stores, and what the client should know about its body. */
export interface Question {
  readonly body: JsonObject
  readonly options: WriteOptions
  readonly warnings: readonly string[]
}

/**
 * The body of a question. Throws BAD_REQUEST for another kind's, and for a field that is not of its type: to answer
 * without it would be to answer another question.
 */
export async function readQuestion(kind: ServedKind, request: HttpRequest): Promise<Question> {
  const options = writeOptions(request, 'CreateOptions')
  const given = await readObject(request)
  const twice = warnOfFaults(kind, faultsOf(given), options)
  const { body, warnings } = admitBody(kind, withoutNulls(given), options)
  requireTypes(kind, body)
  return { body, options, warnings: [...twice, ...warnings] }
}

/** Throws BAD_REQUEST for a field of the spec that is not of its type. */
export function requireTypes(kind: ServedKind, body: JsonObject): void {
  const [wrong] = validate(kind.schema.properties?.['spec'] ?? {}, body['spec'] ?? {}, { path: 'spec' })
  if (wrong === undefined) return
  const why = `${wrong.field}: ${wrong.message}`
  throw new OperatingError(
    'BAD_REQUEST',
    `${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: ${why}`,
  )
}

/** Clients of Go write null for what they leave out. */
function withoutNulls<Value extends Json>(value: Value): Value {
  if (!isObject(value)) return value
  const fields = Object.entries(value).filter(([, field]) => field !== null)
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutNulls(field as Json)])) as Value
}
