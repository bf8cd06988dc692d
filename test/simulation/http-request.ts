import type { HttpRequest } from '../../shared/ports/http-handler.ts'

const neverAborted = new AbortController().signal

/** A request as a gateway hands it on: `PATCH /path?query` and a body. A server-side apply names its field manager. */
export function httpRequest(line: string, body: unknown, token: string, signal = neverAborted): HttpRequest {
  const [method = '', target = ''] = line.split(' ')
  const [path = '', query = ''] = target.split('?')
  const bytes = new TextEncoder().encode(body === undefined ? '' : JSON.stringify(body))
  const patchType = query.includes('fieldManager') ? 'application/apply-patch+yaml' : 'application/merge-patch+json'
  const headers: Readonly<Record<string, string>> = {
    authorization: token,
    'content-type': method === 'PATCH' ? patchType : 'application/json',
  }
  return {
    method,
    path,
    query: new URLSearchParams(query),
    header: (name) => headers[name],
    fieldsUnder: () => [],
    body: async () => bytes,
    signal,
  }
}
