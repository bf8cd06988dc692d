import { OperatingError } from '../../../shared/model/errors.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import type { HeaderField, HttpRequest } from '../../../shared/ports/http-handler.ts'

export interface Sent {
  /** A field that is sent in several lines has them in one text. */
  readonly headers?: Readonly<Record<string, string>>
  /** An object is sent as JSON. */
  readonly body?: JsonObject | readonly JsonObject[] | string | Uint8Array
  readonly type?: string
  readonly accept?: string
  readonly signal?: AbortSignal
  readonly token?: string
}

/** A request from a line such as `GET /api/v1/namespaces`. */
export function request(
  line: string,
  { headers = {}, body = '', type, accept, signal, token = 'token' }: Sent = {},
): HttpRequest {
  const space = line.indexOf(' ')
  const target = line.slice(space + 1)
  const [path = '', query = ''] = target.split('?', 2)
  const bytes =
    body instanceof Uint8Array ? body : new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body))
  const all: Record<string, string | undefined> = {
    'user-agent': 'kubectl/v1.32.0 (linux/amd64)',
    ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
    ...(type === undefined ? {} : { 'content-type': type }),
    ...(accept === undefined ? {} : { accept }),
    ...headers,
  }
  return {
    method: line.slice(0, space),
    path,
    query: new URLSearchParams(query),
    header: (name) => all[name],
    fieldsUnder: (prefix) =>
      Object.entries(headers).flatMap(([name, value]): readonly HeaderField[] =>
        name.startsWith(prefix) ? value.split('\n').map((one) => [name, one] as const) : [],
      ),
    body: async (bytesMax) => {
      if (bytes.length > bytesMax)
        throw new OperatingError('TOO_LARGE', `Request entity too large: limit is ${bytesMax}`)
      return bytes
    },
    signal: signal ?? new AbortController().signal,
  }
}

/** A request that says nothing but its line. */
export function bareRequest(line: string): HttpRequest {
  const none = new Map<string, string>()
  return { ...request(line), header: (name) => none.get(name) }
}
