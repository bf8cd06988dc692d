import { isBase64 } from '../base64.ts'

/**
 * The string formats that Kubernetes checks, with the meaning its OpenAPI validator gives them (kube-openapi `strfmt`):
 * often the meaning of a Go parser, not of an RFC. A format that is not here is accepted unchecked, as Kubernetes does.
 * Every expression here is linear in the text.
 */
const formats: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['bsonobjectid', createMatcher(/^[0-9a-f]{24}$/i)],
  ['byte', isBase64],
  ['cidr', isCidr],
  ['creditcard', isCreditCard],
  ['date', isDate],
  ['datetime', isDateTime],
  ['duration', isDuration],
  ['email', isEmail],
  ['hexcolor', createMatcher(/^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i)],
  ['hostname', isHostname],
  ['ipv4', (text) => text.includes('.') && isSloppyIp(text)],
  ['ipv6', (text) => text.includes(':') && isIp(text)],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['k8slongname', (text) => text.length <= 253 && text.split('.').every((label) => shortName.test(label))],
  ['k8sshortname', (text) => text.length <= 63 && shortName.test(text)],
  ['mac', isMac],
  ['password', () => true],
  ['rgbcolor', createMatcher(/^rgb\((?:\s*(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*(?:,(?!\)$)|(?=\)$))){3}\)$/)],
  ['ssn', createMatcher(/^\d{3}[- ]\d{2}[- ]\d{4}$/)],
  ['uri', isRequestUri],
  ['uuid', createMatcher(/^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i)],
  ['uuid3', createMatcher(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid4', createMatcher(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['uuid5', createMatcher(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
])

/**
 * The check for a format of `type: string`; undefined if the format is not checked. Dashes in the name do not count.
 */
export function stringFormat(name: string): ((text: string) => boolean) | undefined {
  return formats.get(name.replaceAll('-', ''))
}

function createMatcher(expression: RegExp): (text: string) => boolean {
  return (text) => expression.test(text)
}

const shortName = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/

const day = '(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|[12]\\d))'
const date = new RegExp(`^\\d{4}-${day}$`)
const dateTime = new RegExp(
  `^\\d{4}-${day}t(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:.\\d+)?(?:z|[+-]\\d{2}:\\d{2})$`,
  'i',
)

function isDate(text: string): boolean {
  return date.test(text) && isInYear(text)
}

/** `format: date-time`: whether there is such a day and time, in any of the forms that programs in Go check. */
export function isDateTime(text: string): boolean {
  return dateTime.test(text) && isInYear(text)
}

/** Whether the year of 2026-02-29 has that day. */
function isInYear(text: string): boolean {
  if (!text.startsWith('02-29', 5)) return true
  const year = Number(text.slice(0, 4))
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
}

/** Go's own notation, or anything that contains a number with a unit, as Scala writes durations ("3 days"). */
function isDuration(text: string): boolean {
  return goDuration.test(text) || scalaDuration.test(text)
}

// Escaped, because one character beyond ASCII makes a bundle of Lambda slower to read: see infra/bundling/bundle.ts
const goDuration = /^[-+]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)$/
const scalaDuration =
  /(?<!\d)\d+[\t\n\f\r ]*(?:(?:ns|us|\u00b5s|ms|s|m|hr?|d|wk?)(?![A-Za-z\u00b5])|nano|micro|milli|sec|min|hour|day|week)/i

const atoms = String.raw`[\w!#$%&'*+\-/=?^{|}~\x60\u0080-\u{10ffff}]+(?:\.[\w!#$%&'*+\-/=?^{|}~\x60\u0080-\u{10ffff}]+)*`
const address = new RegExp(String.raw`^(?:${atoms}|"(?:[^"\\]|\\.)*")@(?:${atoms}|\[([^\]]*)\])$`, 'u')

/** An address, or a display name with the address in angle brackets; all in one line. */
function isEmail(text: string): boolean {
  const line = text.trim()
  if (/[\r\n]/.test(text)) return false
  if (!line.endsWith('>')) return isAddress(line)
  const start = line.lastIndexOf('<')
  const isName = /^(?:"(?:[^"\\]|\\.)*"|[^"()<>[\]:;@\\,]*)$/.test(line.slice(0, Math.max(start, 0)).trim())
  return start >= 0 && isName && isAddress(line.slice(start + 1, -1))
}

function isAddress(text: string): boolean {
  const match = address.exec(text)
  return match !== null && (match[1] === undefined || isIp(match[1]))
}

const hostLabel = String.raw`[a-zA-Z0-9\p{S}\p{L}](?:[-a-zA-Z0-9\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?`
const hostname = new RegExp(
  String.raw`^(?:[a-zA-Z0-9\p{S}\p{L}]-?[a-zA-Z0-9\p{S}\p{L}]{0,62}|(?:${hostLabel}\.)+[a-zA-Z\p{L}]{2,63})$`,
  'u',
)

function isHostname(text: string): boolean {
  return byteLength(text) <= 255 && hostname.test(text) && text.split('.').every((label) => byteLength(label) <= 63)
}

function byteLength(text: string): number {
  return text.length > 255 ? text.length : new TextEncoder().encode(text).length
}

function isIp(text: string): boolean {
  return text.includes(':') ? isIpv6(text) : isIpv4(text)
}

/** Octets may have leading zeros, as before Go 1.17. */
function isSloppyIp(text: string): boolean {
  return isIp(text.includes(':') ? text : text.replace(/\b0+(?=\d)/g, ''))
}

const isIpv4 = createMatcher(/^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/)

function isIpv6(text: string): boolean {
  const dotted = text.slice(text.lastIndexOf(':') + 1)
  if (dotted.includes('.')) return isIpv4(dotted) && isIpv6(`${text.slice(0, -dotted.length)}0:0`)
  const halves = text.split('::', 3)
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')))
  const hasRoom = halves.length === 1 ? groups.length === 8 : halves.length === 2 && groups.length <= 7
  return hasRoom && groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))
}

function isCidr(text: string): boolean {
  const [, ip = '', bits = ''] = /^([^/]*)\/(\d{1,3})$/.exec(text) ?? []
  return isSloppyIp(ip) && Number(bits) <= (ip.includes(':') ? 128 : 32)
}

/** 6, 8 or 20 octets with colons or dashes between, or the same in groups of two octets with dots between. */
function isMac(text: string): boolean {
  if (text.length > 59) return false
  if (text.includes('.')) return /^[0-9a-f]{4}(?:\.[0-9a-f]{4})+$/i.test(text) && [14, 19, 49].includes(text.length)
  return /^[0-9a-f]{2}([-:])[0-9a-f]{2}(?:\1[0-9a-f]{2})*$/i.test(text) && [17, 23, 59].includes(text.length)
}

/** What Go's `url.ParseRequestURI` takes: an absolute URI, an absolute path, or `*`. */
function isRequestUri(text: string): boolean {
  if (text === '*') return true
  const [, scheme, rest = ''] = /^(?:([a-z][a-z0-9+.-]*):)?([ -~\u0080-\u{10ffff}]*)$/iu.exec(text) ?? []
  if (!rest.startsWith('/')) return scheme !== undefined
  const [beforeQuery = ''] = rest.split('?', 1)
  if (scheme === undefined || !beforeQuery.startsWith('//')) return hasOnlyWholeEscapes(beforeQuery)
  const pathStart = beforeQuery.indexOf('/', 2)
  const authority = pathStart < 0 ? beforeQuery.slice(2) : beforeQuery.slice(2, pathStart)
  return isAuthority(authority) && hasOnlyWholeEscapes(pathStart < 0 ? '' : beforeQuery.slice(pathStart))
}

function hasOnlyWholeEscapes(text: string): boolean {
  return !/%(?![0-9a-f]{2})/i.test(text)
}

function isAuthority(authority: string): boolean {
  const at = authority.lastIndexOf('@')
  const [, ip, name] = hostWithPort.exec(authority.slice(at + 1)) ?? []
  const isHost = ip === undefined ? name !== undefined : isIpv6(ip)
  return isHost && (at < 0 || /^[\w\-.:~!$&'()*+,;=%@]*$/.test(authority.slice(0, at)))
}

const hostWithPort =
  /^(?:\[([^\]%]*)(?:%25(?:[^\]%]|%[\da-f]{2})+)?\]|((?:[^\s/\\^`{|}#?@%[\]:]|%[89a-f][\da-f])*))(?::\d*)?$/i

const cardNumber =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/

function isCreditCard(text: string): boolean {
  const number = text.replace(/\D+/g, '')
  if (!cardNumber.test(number)) return false
  const doubled = number
    .split('')
    .toReversed()
    .map((digit, i) => Number(digit) * (1 + (i % 2)))
  return sum(doubled.map((n) => (n > 9 ? n - 9 : n))) % 10 === 0
}

function isIsbn10(text: string): boolean {
  const number = text.replace(/[\s-]/g, '')
  if (!/^\d{9}[\dX]$/.test(number)) return false
  return sum(number.split('').map((digit, i) => (digit === 'X' ? 10 : Number(digit)) * (i + 1))) % 11 === 0
}

function isIsbn13(text: string): boolean {
  const number = text.replace(/[\s-]/g, '')
  if (!/^\d{13}$/.test(number)) return false
  return sum(number.split('').map((digit, i) => Number(digit) * (i % 2 === 0 ? 1 : 3))) % 10 === 0
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0)
}
