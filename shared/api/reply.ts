import type { HttpResponse } from '../ports/http-handler.ts'

/** Responses whole, from what a handler has to say. */

export function json(status: number, body: unknown): HttpResponse {
  return jsonText(status, JSON.stringify(body))
}

/** For what is JSON text already. */
export function jsonText(status: number, body: string): HttpResponse {
  return { status, headers: jsonHeaders, body }
}

/** For JSON text that is made while it is sent. */
export function jsonPieces(status: number, body: AsyncIterable<string>): HttpResponse {
  return { status, headers: jsonHeaders, body }
}

export function plainText(status: number, body: string): HttpResponse {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body }
}

/** The same response with one more header. */
export function withHeader(response: HttpResponse, name: string, value: string): HttpResponse {
  return { ...response, headers: { ...response.headers, [name]: value } }
}

/** The same response with what a person should know beside it: kubectl prints each as `Warning: …`. */
export function withWarnings(response: HttpResponse, warnings: readonly string[]): HttpResponse {
  if (warnings.length === 0) return response
  const text = warnings.slice(0, warningsMax).map(formatWarning).join(', ')
  const others = response.headers['warning']
  return withHeader(response, 'warning', others === undefined ? text : `${text}, ${others}`)
}

const warningsMax = 20
const warningLengthMax = 500

/** RFC 7234 warn-value; what no header may hold becomes a space. */
function formatWarning(text: string): string {
  const quoted = text
    .slice(0, warningLengthMax)
    .replace(/[^\x20-\x7e]/g, ' ')
    .replace(/["\\]/g, '\\$&')
  return `299 - "${quoted}"`
}

const jsonHeaders = { 'content-type': 'application/json' }
