import { HttpError, MissingReferenceError, type Json, type JsonObject } from '../../../shared/index.ts'

/**
 * What Konnect says when it refuses, in a form that is equal for equal refusals. There are two: problem details for
 * control planes (`title`, `detail`, `invalid_parameters`; `instance` is a trace id and is left out), and the gateway's
 * errors for the entities in them (`message`, `details`). The latter say 400 for what is elsewhere a 409: a name that
 * is taken, a reference to what is not there. Of long texts the beginning is kept: the message stands in a status.
 */
export function toHttpError(
  status: number,
  answer: JsonObject | undefined,
  { retryAfterMs, conceal = (text) => text }: RefusalOptions = {},
): HttpError {
  const details = objects(answer?.['details'])
  const texts = [
    answer?.['title'],
    answer?.['detail'] ?? answer?.['message'],
    ...parameters(answer),
    ...reasons(details),
  ]
  const said = texts.filter((text) => typeof text === 'string' && text !== '').join(': ')
  const message = shorten(conceal(`${status} ${said}`.trim().slice(0, readLengthMax)))
  const options = retryAfterMs === undefined ? {} : { retryAfterMs }
  if (status !== 400 || details.length === 0 || details.some(({ type }) => type !== 'ERROR_TYPE_REFERENCE'))
    return new HttpError(status, message, options)
  return reasons(details).some((reason) => reason.includes('(type: unique)'))
    ? new HttpError(409, message, options)
    : new MissingReferenceError(status, message, options)
}

interface RefusalOptions {
  readonly retryAfterMs?: number | undefined
  /** Leaves out what is secret, before the text is cut: a piece of a secret would be found by nobody. */
  readonly conceal?: (text: string) => string
}

const messageLengthMax = 500
/** Much more than that, and less than an answer may have. */
const readLengthMax = 10_000

function shorten(text: string): string {
  return text.length <= messageLengthMax ? text : `${text.slice(0, messageLengthMax - 1)}…`
}

function parameters(answer: JsonObject | undefined): readonly string[] {
  return objects(answer?.['invalid_parameters']).map(({ field, reason }) => `${String(field)} ${String(reason)}`)
}

function reasons(details: readonly JsonObject[]): readonly string[] {
  return details.flatMap(({ messages }) => (Array.isArray(messages) ? messages.map(String) : []))
}

function objects(value: Json | undefined): readonly JsonObject[] {
  const list = Array.isArray(value) ? value : []
  return list.filter((one): one is JsonObject => typeof one === 'object' && one !== null && !Array.isArray(one))
}
