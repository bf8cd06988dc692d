import type { Meter } from '../meter.ts'
import { spendText, type Functions, type Run } from '../overload.ts'
import { BuiltMap, CelFailure, keyName, Opaque, type Result, type Value } from '../value.ts'

/** What Go's `url.ParseRequestURI` takes: a URL with a scheme, or an absolute path. */
export class Url extends Opaque {
  readonly type = 'kubernetes.URL'
  readonly scheme: string
  readonly host: string
  readonly path: string
  readonly query: string

  constructor(parts: {
    readonly scheme: string
    readonly host: string
    readonly path: string
    readonly query: string
  }) {
    super()
    this.scheme = parts.scheme
    this.host = parts.host
    this.path = parts.path
    this.query = parts.query
  }

  equals(other: Opaque): boolean {
    if (!(other instanceof Url)) return false
    const isSame = this.scheme === other.scheme && this.host === other.host
    return isSame && this.path === other.path && this.query === other.query
  }
}

const form = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^/?]*))?([^?]*)(?:\?(.*))?$/s

export function readUrl(text: string): Url | undefined {
  const found = form.exec(text)
  // oxlint-disable-next-line no-control-regex -- what no URL may hold
  if (found === null || text === '' || /[\x00-\x1f\x7f]/.test(text)) return undefined
  const [, scheme = '', authority, path = '', query = ''] = found
  if (scheme === '' && !text.startsWith('/')) return undefined
  if (/%(?![0-9a-fA-F]{2})/.test(path)) return undefined
  const host = authority === undefined ? '' : hostOf(authority)
  return host === undefined ? undefined : new Url({ scheme: scheme.toLowerCase(), host, path, query })
}

function hostOf(authority: string): string | undefined {
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  const isRight = /^(?:\[[0-9a-fA-F:.%]*\]|[^[\]:<>"\\^`{|} ]*)(?::\d*)?$/.test(host)
  return isRight ? host : undefined
}

function hostname({ host }: Url): string {
  return host.startsWith('[') ? host.slice(1, host.indexOf(']')) : host.replace(/:\d*$/, '')
}

function port({ host }: Url): string {
  return /:(\d*)$/.exec(host.slice(host.indexOf(']') + 1))?.[1] ?? ''
}

function escapedPath({ path }: Url): string {
  return encodeURI(path.toWellFormed()).replace(/%25([0-9a-fA-F]{2})/g, '%$1')
}

/** Each becomes a list of its own. */
const stepsOfParameter = 30

function queryOf({ query }: Url, meter: Meter): Result {
  meter.spend(query.split('&').length * stepsOfParameter)
  const values = new Map<string, string[]>()
  for (const [name, value] of new URLSearchParams(query)) {
    const known = values.get(name)
    if (known === undefined) values.set(name, [value])
    else known.push(value)
  }
  return new BuiltMap(new Map([...values].map(([name, all]) => [keyName(name) ?? name, [name, all] as const])))
}

function of(read: (url: Url, meter: Meter) => Result): Run {
  return ([a], meter) => {
    spendText(meter, (a as Url).path, (a as Url).query)
    return read(a as Url, meter)
  }
}

export const urls: Functions = {
  'url(string) kubernetes.URL': ([a], meter) => {
    spendText(meter, a as string)
    return readUrl(a as string) ?? new CelFailure(`URL parse error during conversion from string: ${shorten(a)}`)
  },
  'isURL(string) bool': ([a], meter) => {
    spendText(meter, a as string)
    return readUrl(a as string) !== undefined
  },
  'kubernetes.URL.getScheme() string': of(({ scheme }) => scheme),
  'kubernetes.URL.getHost() string': of(({ host }) => host),
  'kubernetes.URL.getHostname() string': of(hostname),
  'kubernetes.URL.getPort() string': of(port),
  'kubernetes.URL.getEscapedPath() string': of(escapedPath),
  'kubernetes.URL.getQuery() map(string, list(string))': of(queryOf),
}

function shorten(value: Value | undefined): string {
  return String(value).slice(0, 100)
}
