import type { APIGatewayProxyEvent } from 'aws-lambda'
import { Readable } from 'node:stream'
import { OperatingError } from '../../model/errors.ts'
import type { HeaderField, HttpRequest, HttpResponse } from '../../ports/http-handler.ts'

/**
 * The shell of the API on Lambda behind a regional REST API with response streaming: the proxy event as a request, and
 * the response as what is streamed. `credentials` stand for the Authorization header, which is not passed on. Source:
 * API Gateway Developer Guide, "Lambda proxy integration" and "response transfer mode".
 */
export interface StreamedResponse {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Readable
}

/**
 * A client that reconnects by itself asks for minutes; each is paid for, so that it is given one. Others are given all
 * there is.
 */
const reconnectingSecondsMax = 55

export function requestOf(event: APIGatewayProxyEvent, credentials: string, signal: AbortSignal): HttpRequest {
  const headers = lowerCased(event)
  return {
    method: event.httpMethod,
    path: event.path,
    query: queryOf(event),
    header: (name) => (name === 'authorization' ? credentials : headers.get(name)),
    fieldsUnder: (prefix) => fieldsUnder(event, prefix),
    body: async (bytesMax) => bodyOf(event, bytesMax),
    signal,
  }
}

export function streamResponse({ status, headers, body }: HttpResponse): StreamedResponse {
  return { statusCode: status, headers, body: typeof body === 'string' ? body : readable(body) }
}

function readable(body: Exclude<HttpResponse['body'], string>): Readable {
  return Readable.from(body instanceof Uint8Array ? [body] : body, { objectMode: false })
}

function lowerCased({ multiValueHeaders, headers }: APIGatewayProxyEvent): ReadonlyMap<string, string> {
  const all = new Map<string, string>()
  for (const [name, value = ''] of Object.entries(headers ?? {})) all.set(name.toLowerCase(), value)
  for (const [name, values = []] of Object.entries(multiValueHeaders ?? {}))
    all.set(name.toLowerCase(), values.join(', '))
  return all
}

/** The gateway gives each line apart; what gives none of them apart has one of each name. */
function fieldsUnder({ multiValueHeaders, headers }: APIGatewayProxyEvent, prefix: string): readonly HeaderField[] {
  const single = Object.entries(headers ?? {}).map(([name, value = '']) => [name, [value]] as const)
  const lines = new Map<string, readonly string[]>(single.map(([name, values]) => [name.toLowerCase(), values]))
  for (const [name, values = []] of Object.entries(multiValueHeaders ?? {})) lines.set(name.toLowerCase(), values)
  return [...lines]
    .filter(([name]) => name.startsWith(prefix))
    .flatMap(([name, values]) => values.map((value): HeaderField => [name, value]))
}

function queryOf({ multiValueQueryStringParameters, queryStringParameters }: APIGatewayProxyEvent): URLSearchParams {
  const single = Object.entries(queryStringParameters ?? {}).map(([name, value]) => [name, [value]] as const)
  const several = Object.entries(multiValueQueryStringParameters ?? Object.fromEntries(single))
  const query = new URLSearchParams(
    several.flatMap(([name, values = []]) => values.map((value = ''): [string, string] => [name, value])),
  )
  const seconds = Number(query.get('timeoutSeconds') ?? 0)
  if (query.has('watch') && seconds > reconnectingSecondsMax)
    query.set('timeoutSeconds', String(reconnectingSecondsMax))
  return query
}

function bodyOf({ body, isBase64Encoded }: APIGatewayProxyEvent, bytesMax: number): Uint8Array {
  const bytes = Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8')
  if (bytes.length <= bytesMax) return bytes
  throw new OperatingError('TOO_LARGE', `Request entity too large: limit is ${bytesMax}`)
}
