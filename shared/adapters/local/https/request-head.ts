import { METHODS } from 'node:http'
import type { HeaderField } from '../../../ports/http-handler.ts'

/** What a request says ahead of its body. */
export interface RequestHead {
  readonly method: string
  /** As it stands in the request line. */
  readonly target: string
  /** 1.0 or 1.1. */
  readonly version: '1.0' | '1.1'
  /** Names in lower case, each followed by its value, in the order they were sent. */
  readonly fields: readonly string[]
  /** The length in bytes; 0 for none. */
  readonly body: number | 'chunked'
  /** Whether the client wants to use the connection again. */
  readonly isPersistent: boolean
  /** Whether the client sends the body only after `100 Continue`. */
  readonly expectsContinue: boolean
}

/**
 * What stands ahead of the first question mark of a target, and what behind it. A whole URL, as through a proxy, is for
 * its path (RFC 9112 section 3.2.2).
 */
export function splitTarget(target: string): { readonly path: string; readonly queryText: string } {
  const own = target.startsWith('/') ? target : target.replace(origin, '')
  const mark = own.indexOf('?')
  if (mark < 0) return { path: own, queryText: '' }
  return { path: own.slice(0, mark), queryText: own.slice(mark + 1) }
}

const origin = /^[A-Za-z]+:\/\/[^/?]*/

/** A request that is answered with a bare status, after which the connection ends: where it ends is not certain. */
export interface RequestRefusal {
  readonly status: 400 | 408 | 413 | 417 | 431
}

/**
 * The head of a request, without the empty line behind it, one character a byte. Strict where servers that disagree
 * about a request can be played against each other (RFC 9112 sections 2.2, 3.2, 5.1, 5.2, 6.1, 6.3 and 11.2): a
 * line ends with CR LF, a field does not go on in the next line, no space stands before a colon, one length at
 * most, and never beside a coding.
 */
export function parseRequestHead(text: string): RequestHead | RequestRefusal {
  const lineEnd = text.indexOf('\r\n')
  const line = requestLine.exec(lineEnd < 0 ? text : text.slice(0, lineEnd))
  if (line === null) return badRequest
  const method = line[1] ?? ''
  const fields = lineEnd < 0 ? [] : parseFields(text, lineEnd + 2)
  if (!methods.has(method) || fields === undefined) return badRequest
  if (fields.length > 2 * fieldsMax) return { status: 431 }
  return withFraming({ method, target: line[2] ?? '', version: line[3] === '0' ? '1.0' : '1.1', fields })
}

/** The target is a path, a whole URL, or `*`; without a fragment. */
const requestLine =
  /^([A-Z-]+) (\/[!"$-~]*|\*|[A-Za-z]+:\/\/[\w.~!$%&'()*+,;=:@[\]-]*(?:[/?][!"$-~]*)?) HTTP\/1\.([01])$/

/** A tunnel is no request for a resource. */
const methods: ReadonlySet<string> = new Set(METHODS.filter((method) => method !== 'CONNECT'))

const fieldsMax = 200

const badRequest: RequestRefusal = { status: 400 }

/** Names and values of the lines from `start` on; `undefined` if one is not a field. */
function parseFields(text: string, start: number): string[] | undefined {
  const fields: string[] = []
  for (let at = start; at < text.length;) {
    const colon = endOf(text, at, isTokenCode)
    if (colon === at || text.charCodeAt(colon) !== colonCode) return undefined
    const end = endOf(text, colon + 1, isValueCode)
    if (end < text.length && (text.charCodeAt(end) !== 13 || text.charCodeAt(end + 1) !== 10)) return undefined
    fields.push(text.slice(at, colon).toLowerCase(), trim(text, colon + 1, end))
    at = end + 2
  }
  return fields
}

/**
 * Whether a line, without its end, may stand behind a chunked body: a field, but none that says where the body
 * ends.
 */
export function isTrailerLine(line: string): boolean {
  const [name, ...more] = parseFields(line, 0) ?? []
  return name !== undefined && more.length === 1 && name !== 'content-length' && name !== 'transfer-encoding'
}

/** The index of the first character from `start` on that is not of these. */
function endOf(text: string, start: number, isOfThese: Uint8Array): number {
  let at = start
  while (at < text.length && isOfThese[text.charCodeAt(at)] === 1) at++
  return at
}

const colonCode = 58
/** RFC 9110 section 5.6.2. A table, since a regular expression takes five times as long. */
const isTokenCode = codesOf(/[!#$%&'*+\-.^_`|~0-9A-Za-z]/)
/** RFC 9110 section 5.5: no control character but the tab. */
const isValueCode = codesOf(/[\t -~\x80-\xff]/)

function codesOf(characters: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => (characters.test(String.fromCharCode(code)) ? 1 : 0))
}

/** Without the spaces and tabs around it: `trim` takes other characters, too. */
function trim(text: string, start: number, end: number): string {
  let from = start
  let to = end
  while (from < to && isSpace(text.charCodeAt(from))) from++
  while (from < to && isSpace(text.charCodeAt(to - 1))) to--
  return text.slice(from, to)
}

function isSpace(code: number): boolean {
  return code === 32 || code === 9
}

type Unframed = Omit<RequestHead, 'body' | 'isPersistent' | 'expectsContinue'>

function withFraming(head: Unframed): RequestHead | RequestRefusal {
  const { method, target, version, fields } = head
  const hosts = valuesOf(fields, 'host')
  if (hosts.length > 1 || (version === '1.1' && hosts.length === 0)) return badRequest
  const body = bodyOf(head)
  if (body === undefined) return badRequest
  const expectation = version === '1.1' ? valuesOf(fields, 'expect') : none
  if (expectation.some((one) => one.toLowerCase() !== '100-continue')) return { status: 417 }
  const expectsContinue = expectation.length > 0
  return { method, target, version, fields, body, isPersistent: isPersistent(head), expectsContinue }
}

/** `undefined` if it cannot be known where the body ends, or if two servers may see it in different places. */
function bodyOf({ version, fields }: Unframed): RequestHead['body'] | undefined {
  const lengths = valuesOf(fields, 'content-length')
  const codings = valuesOf(fields, 'transfer-encoding')
  if (codings.length > 0) {
    const isChunked = codings.length === 1 && codings[0]?.toLowerCase() === 'chunked'
    return isChunked && lengths.length === 0 && version === '1.1' ? 'chunked' : undefined
  }
  const [length = '0'] = lengths
  return lengths.length <= 1 && /^\d{1,15}$/.test(length) ? Number(length) : undefined
}

function isPersistent({ version, fields }: Unframed): boolean {
  const options = valuesOf(fields, 'connection')
  if (options.length === 0) return version === '1.1'
  const words = options
    .join()
    .toLowerCase()
    .split(',')
    .map((word) => word.trim())
  return !words.includes('close') && (version === '1.1' || words.includes('keep-alive'))
}

const none: readonly string[] = []

function valuesOf(fields: readonly string[], name: string): readonly string[] {
  let values: string[] | undefined
  for (let i = 0; i < fields.length; i += 2) if (fields[i] === name) (values ??= []).push(fields[i + 1] ?? '')
  return values ?? none
}

/**
 * The value of a field as handlers see it, as node:http gives it: the first one, or all of a field that may be a
 * list.
 */
export function fieldValue(fields: readonly string[], name: string): string | undefined {
  const values = valuesOf(fields, name)
  if (values.length <= 1 || firstCounts.has(name)) return values[0]
  return values.join(name === 'cookie' ? '; ' : ', ')
}

/** Every line whose name begins so, of a list of names in lower case and values by turns. */
export function fieldsUnder(fields: readonly string[], prefix: string): readonly HeaderField[] {
  const found: HeaderField[] = []
  for (let i = 0; i < fields.length; i += 2)
    if (fields[i]?.startsWith(prefix) === true) found.push([fields[i] as string, fields[i + 1] ?? ''])
  return found
}

/** Source: Node.js documentation, `message.headers`. */
const firstCounts: ReadonlySet<string> = new Set(
  (
    'age authorization content-length content-type etag expires from host if-modified-since if-unmodified-since ' +
    'last-modified location max-forwards proxy-authorization referer retry-after server user-agent'
  ).split(' '),
)
