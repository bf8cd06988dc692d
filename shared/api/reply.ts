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

/**
 * The same response with what a person should know beside it: kubectl prints each as `Warning: …`. A header that is too
 * long would cost the client its answer: where all of them take more than 4096 characters, each is cut, and those that
 * then still have no room are left out, as in Kubernetes.
 */
export function withWarnings(response: HttpResponse, warnings: readonly string[]): HttpResponse {
  if (warnings.length === 0) return response
  const others = response.headers['warning'] ?? ''
  const room = warningsLengthMax - others.length
  const first = warnings.slice(0, warningsMax)
  const long = first.map((text) => formatWarning(text, warningLengthMax))
  const texts =
    lengthOf(long) <= room
      ? long
      : fitting(
          first.map((text) => formatWarning(text, cutLengthMax)),
          room,
        )
  const text = [...texts, ...(others === '' ? [] : [others])].join(', ')
  return text === others ? response : withHeader(response, 'warning', text)
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length + 2, 0)
}

function fitting(texts: readonly string[], room: number): readonly string[] {
  let left = room
  return texts.filter(({ length }) => (left -= length + 2) >= 0)
}

const warningsMax = 20
const warningsLengthMax = 4_096
const warningLengthMax = 500
const cutLengthMax = 256

/** RFC 7234 warn-value; what no header may hold becomes a space. */
function formatWarning(text: string, lengthMax: number): string {
  const quoted = text
    .slice(0, lengthMax)
    .replace(/[^\x20-\x7e]/g, ' ')
    .replace(/["\\]/g, '\\$&')
  return `299 - "${quoted}"`
}

const jsonHeaders = { 'content-type': 'application/json' }
