import { parseJson } from '../model/parse-json.ts'
import { OperatingError } from '../model/errors.ts'
import { isObject, type Json, type JsonObject } from '../model/json.ts'
import { bytesMax as objectBytesMax } from '../model/size-limit.ts'
import type { HttpRequest } from '../ports/http-handler.ts'
import { checkDepth } from './body-depth.ts'
import { noteDuplicates, noteFaults } from './duplicate-fields.ts'
import { keepExactly, refuseInexact } from './exact-numbers.ts'
import { decodeObject } from './protobuf/messages.ts'
import { makeWellFormed } from './well-formed.ts'
import { YamlFault } from './yaml-faults.ts'

/** Bodies of requests, decoded by their media type, with limits on what they may cost. */

/**
 * Room for an object of the largest size with its lines indented. Kubernetes takes three times as much, and keeps
 * larger objects.
 */
const bodyBytesMax = 1024 * 1024

/** The media type of the body, without parameters and in lower case; JSON if the request names none. */
export function mediaType(request: HttpRequest): string {
  const header = request.header('content-type')
  if (header === undefined || header === '' || header === jsonType) return jsonType
  const end = header.indexOf(';')
  return (end < 0 ? header : header.slice(0, end)).trim().toLowerCase()
}

const jsonType = 'application/json'

/** An object as JSON, YAML, or protobuf of a built-in kind. Throws UNSUPPORTED_MEDIA_TYPE, BAD_REQUEST, TOO_LARGE. */
export async function readObject(request: HttpRequest): Promise<JsonObject> {
  const type = mediaType(request)
  const bytes = await request.body(bodyBytesMax)
  const body = decode(type, bytes)
  return small(asObject(body instanceof Promise ? await body : body), bytes)
}

/** What no store would keep is refused before any work is done for it. */
function small<Body extends Json>(body: Body, bytes: Uint8Array): Body {
  if (bytes.length <= objectBytesMax || !isObject(body)) return body
  const size = JSON.stringify(body).length
  if (size <= objectBytesMax) return body
  throw new OperatingError('TOO_LARGE', `the object has ${size} characters of JSON, the limit is ${objectBytesMax}`)
}

function decode(type: string, bytes: Uint8Array): Json | Promise<Json> {
  switch (type) {
    case jsonType:
      return decodeJson(utf8(bytes))
    case 'application/yaml':
    case 'application/apply-patch+yaml':
      return parseYaml(utf8(bytes))
    case 'application/vnd.kubernetes.protobuf':
      return checkDepth(decodeObject(bytes))
    default:
      throw mediaTypeRefusal(type, 'application/json, application/yaml, application/vnd.kubernetes.protobuf')
  }
}

/** The same for a body that may be absent: then `undefined`. */
export async function readOptionalObject(request: HttpRequest): Promise<JsonObject | undefined> {
  const bytes = await request.body(bodyBytesMax)
  return bytes.length === 0 ? undefined : asObject(await decode(mediaType(request), bytes))
}

/** The whole body. Throws TOO_LARGE. */
export function readBytes(request: HttpRequest): Promise<Uint8Array> {
  return request.body(bodyBytesMax)
}

/** A patch body of JSON: an object or a list. Throws BAD_REQUEST, TOO_LARGE. */
export function jsonOf(bytes: Uint8Array): Json {
  return small(decodeJson(utf8(bytes)), bytes)
}

function asObject(value: Json): JsonObject {
  if (isObject(value)) return value
  throw new OperatingError('BAD_REQUEST', 'the body must be one object')
}

/** UNSUPPORTED_MEDIA_TYPE in Kubernetes' words. */
export function mediaTypeRefusal(type: string, accepted: string): OperatingError {
  return new OperatingError(
    'UNSUPPORTED_MEDIA_TYPE',
    `the body of the request was in an unknown format - accepted media types include: ${accepted}; it was ${type}`,
  )
}

const decoder = new TextDecoder('utf-8', { fatal: true })

function utf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw new OperatingError('BAD_REQUEST', 'the body is not UTF-8', { cause })
  }
}

function decodeJson(text: string): Json {
  const value = makeWellFormed(checkDepth(parseJsonText(text)), text)
  refuseInexact(text)
  noteDuplicates(text, value)
  return value
}

/** A text of JSON. What V8 says is not told, because it may be part of a Secret: where the fault is, is enough. */
function parseJsonText(text: string): unknown {
  try {
    return parseJson(text)
  } catch (cause) {
    const { message } = cause as Error
    const where = isEnd.test(message) ? 'it ends too early' : 'there is an unexpected token'
    throw notOfFormat('JSON', `${where}${placeAtEnd.exec(message)?.[0] ?? ''}`)
  }
}

const isEnd = /^Unexpected end of JSON input$/
const placeAtEnd = / \(line \d+ column \d+\)$/

function notOfFormat(format: 'JSON' | 'YAML', why: string): OperatingError {
  return new OperatingError('BAD_REQUEST', `the body is not ${format}: ${why}`)
}

/** The same for YAML: only a fault that is known to tell none of the text is told. */
function tellYamlFault<Read>(read: () => Read): Read {
  try {
    return read()
  } catch (cause) {
    if (cause instanceof OperatingError) throw cause
    throw notOfFormat('YAML', cause instanceof YamlFault ? cause.message : 'it cannot be read')
  }
}

/** kubectl sends JSON under the name of YAML: the parser is loaded for those who do not. */
async function parseYaml(text: string): Promise<Json> {
  if (text.trimStart().startsWith('{')) return decodeJson(text)
  const { readYaml } = await import('./yaml-body.ts')
  const { value, faults } = tellYamlFault(() => readYaml(text))
  const kept = makeWellFormed(keepExactly(checkDepth(value)), text)
  noteFaults(kept, faults)
  return kept
}
