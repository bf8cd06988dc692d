import { stringFormat } from '../../schema/formats.ts'
import type { Meter } from '../meter.ts'
import { spendText, type Functions, type Run } from '../overload.ts'
import { BuiltMap, CelFailure, keyName, Opaque, type Result, type Value } from '../value.ts'

/** A URL, as Go's `url.Parse` takes it apart. */
class Url extends Opaque {
  readonly type = 'kubernetes.URL'
  readonly scheme: string
  readonly host: string
  /** As it is written. */
  readonly path: string
  readonly query: string
  /** What else tells two of them apart. */
  readonly rest: string

  constructor({ scheme, host, path, query, rest }: Parts) {
    super()
    this.scheme = scheme
    this.host = host
    this.path = path
    this.query = query
    this.rest = rest
  }

  equals(other: Opaque): boolean {
    if (!(other instanceof Url)) return false
    const isSame = this.scheme === other.scheme && this.host === other.host && this.rest === other.rest
    return isSame && this.path === other.path && this.query === other.query
  }
}

interface Parts {
  readonly scheme: string
  readonly host: string
  readonly path: string
  readonly query: string
  readonly rest: string
}

/** Whether Go's `url.ParseRequestURI` takes a text: a URL with a scheme, an absolute path, or `*`. */
export function isRequestUrl(text: string): boolean {
  return stringFormat('uri')?.(text) === true
}

/** The parts of what is one. A fragment is none of them: Kubernetes parses a second time, without it. */
function readUrl(text: string): Url | undefined {
  if (!isRequestUrl(text)) return undefined
  const [whole = '', ...behind] = text.split('#')
  const fragment = behind.join('#')
  const parts = hasWholeEscapes(fragment) ? parse(whole) : undefined
  return parts && new Url({ ...parts, rest: `${parts.rest}#${fragment}` })
}

const schemeForm = /^([a-z][a-z0-9+.-]*):(.*)$/is

/** Of what Go has taken for the URL of a request. Source: Go, `net/url`, `parse`. */
function parse(text: string): Parts | undefined {
  const [, scheme = '', behind = text] = schemeForm.exec(text) ?? []
  const at = behind.indexOf('?')
  const [rest, query] = at < 0 ? [behind, ''] : [behind.slice(0, at), behind.slice(at + 1)]
  const parts = { scheme: scheme.toLowerCase(), host: '', path: rest, query, rest: '' }
  if (!rest.startsWith('/')) return scheme === '' ? parts : { ...parts, path: '', rest }
  const mayHaveHost = scheme !== '' || !rest.startsWith('///')
  if (!mayHaveHost || !rest.startsWith('//')) return hasWholeEscapes(rest) ? parts : undefined
  const end = rest.indexOf('/', 2)
  const [authority, path] = end < 0 ? [rest.slice(2), ''] : [rest.slice(2, end), rest.slice(end)]
  const user = authority.slice(0, Math.max(0, authority.lastIndexOf('@')))
  const host = readHost(authority.slice(authority.lastIndexOf('@') + 1))
  const isRight = host !== undefined && userForm.test(user) && hasWholeEscapes(user) && hasWholeEscapes(path)
  return isRight ? { ...parts, host, path, rest: user } : undefined
}

const userForm = /^[\w.\-:~!$&'()*+,;=%@]*$/

function hasWholeEscapes(text: string): boolean {
  return !/%(?![0-9a-fA-F]{2})/.test(text)
}

/** Of ASCII, hosts have these signs only, and none of them escaped. */
// oxlint-disable-next-line no-control-regex -- all of ASCII
const hostForm = /^(?:[\w\-.~!$&'()*+,;=:[\]<>"]|[^\x00-\x7f]|%25|%[89a-fA-F][0-9a-fA-F])*$/
// oxlint-disable-next-line no-control-regex -- all of ASCII
const zoneForm = /^(?:[\w\-.~!$&'()*+,;=:[\]<>"]|[^\x00-\x7f]|%[0-9a-fA-F]{2})*$/

function readHost(host: string): string | undefined {
  const close = host.lastIndexOf(']')
  if (host.startsWith('[') && close < 0) return undefined
  const colon = host.startsWith('[') ? close + 1 : host.lastIndexOf(':')
  if (colon >= 0 && !/^(?::\d*)?$/.test(host.slice(colon))) return undefined
  const zone = host.startsWith('[') ? host.slice(0, close).indexOf('%25') : -1
  const [address, scope, port] =
    zone < 0 ? [host, '', ''] : [host.slice(0, zone), host.slice(zone, close), host.slice(close)]
  const isRight = hostForm.test(address) && zoneForm.test(scope) && hostForm.test(port)
  return isRight ? `${unescape(address)}${unescape(scope)}${unescape(port)}` : undefined
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Bytes that are no UTF-8 become the mark of what is none. */
function unescape(text: string): string {
  return text.includes('%') ? decoder.decode(unescapedBytes(text)) : text
}

function unescapedBytes(text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text)
  let length = 0
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0
    if (byte === percent) bytes[length++] = 16 * digitOf(bytes[++i]) + digitOf(bytes[++i])
    else bytes[length++] = byte
  }
  return bytes.subarray(0, length)
}

const percent = '%'.charCodeAt(0)

/** Of a hexadecimal digit, its worth. */
function digitOf(byte = 0): number {
  return byte < 0x40 ? byte & 0xf : (byte & 0xf) + 9
}

/** The port with its colon, if there is one. */
function portOf(host: string): string {
  return /:\d*$/.exec(host)?.[0] ?? ''
}

function hostname({ host }: Url): string {
  const name = host.slice(0, host.length - portOf(host).length)
  return name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name
}

/** As it is written, if all that must be escaped is; else unescaped, and escaped anew byte by byte. */
function escapedPath({ path }: Url, meter: Meter): string {
  if (/^[\w\-.~!$&'()*+,;=:@[\]%/]*$/.test(path)) return path
  meter.spend(path.length * stepsOfByte)
  let escaped = ''
  for (const byte of unescapedBytes(path)) escaped += escapes[byte]
  return escaped
}

const stepsOfByte = 2
/** How a path has each byte. */
const escapes: readonly string[] = Array.from({ length: 256 }, (_, byte) => {
  const sign = String.fromCharCode(byte)
  return /[\w\-.~$&+,/:;=@]/.test(sign) ? sign : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
})

/** Each becomes a list of its own. */
const stepsOfParameter = 30

/** Without what cannot be read. Source: Go, `net/url`, `parseQuery`. */
function queryOf({ query }: Url, meter: Meter): Result {
  const parameters = query.split('&').filter((one) => one !== '' && !one.includes(';') && hasWholeEscapes(one))
  meter.spend(query.split('&').length * stepsOfParameter)
  if (query.includes('%')) meter.spend(query.length * stepsOfByte)
  const values = new Map<string, string[]>()
  for (const parameter of parameters) {
    const [name = '', ...rest] = parameter.replaceAll('+', ' ').split('=')
    const [key, value] = [unescape(name), unescape(rest.join('='))]
    const known = values.get(key)
    if (known === undefined) values.set(key, [value])
    else known.push(value)
  }
  return new BuiltMap(new Map([...values].map(([name, all]) => [keyName(name) ?? name, [name, all] as const])))
}

const stepsOfParsing = 20

function of(read: (url: Url, meter: Meter) => Result): Run {
  return ([a], meter) => {
    spendText(meter, (a as Url).path, (a as Url).query)
    return read(a as Url, meter)
  }
}

export const urls: Functions = {
  'url(string) kubernetes.URL': ([a], meter) => {
    meter.spend(stepsOfParsing)
    spendText(meter, a as string)
    return readUrl(a as string) ?? new CelFailure(`URL parse error during conversion from string: ${shorten(a)}`)
  },
  'isURL(string) bool': ([a], meter) => {
    meter.spend(stepsOfParsing)
    spendText(meter, a as string)
    return isRequestUrl(a as string)
  },
  'kubernetes.URL.getScheme() string': of(({ scheme }) => scheme),
  'kubernetes.URL.getHost() string': of(({ host }) => host),
  'kubernetes.URL.getHostname() string': of(hostname),
  'kubernetes.URL.getPort() string': of(({ host }) => portOf(host).slice(1)),
  'kubernetes.URL.getEscapedPath() string': of(escapedPath),
  'kubernetes.URL.getQuery() map(string, list(string))': of(queryOf),
}

function shorten(value: Value | undefined): string {
  return String(value).slice(0, 100)
}
