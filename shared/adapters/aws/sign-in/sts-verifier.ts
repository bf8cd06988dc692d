import { parseJson } from '../../../model/parse-json.ts'
import { OperatingError } from '../../../model/errors.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { KeyFetch } from '../../node/oidc-verifier.ts'
import { isThrottle } from '../client/service-failure.ts'
import { stsHostsOf } from './sts-regions.ts'

export interface StsVerifierOptions {
  /**
   * What the caller must have signed into the header `x-k8s-aws-id`: a token for another control plane is none for this
   * one.
   */
  readonly clusterId: string
  /** Where the control plane is: STS of its partition is asked, and no other. */
  readonly region?: string | undefined
  readonly fetch: KeyFetch
  readonly clock: Clock
}

export const stsTokenPrefix = 'k8s-aws-v1.'

/**
 * Verifies tokens as `aws eks get-token` makes them: a presigned GetCallerIdentity request, which STS is asked to
 * answer. The name is the caller's ARN, of an assumed role that of the role: the session's name is the caller's own
 * choice. Everything the token says of where and how to ask is checked before anything is asked. Source:
 * github.com/kubernetes-sigs/aws-iam-authenticator, pkg/token/token.go.
 */
export function createStsVerifier(options: StsVerifierOptions): (token: string) => Promise<string> {
  const { clusterId, region, fetch, clock } = options
  const hosts = stsHostsOf(region)
  return async (token) => {
    const url = parsePresignedUrl(token, hosts)
    checkParameters(url.searchParams, clock.nowMs())
    const { ok, status, text } = await ask(url, clusterId, fetch)
    if (!ok) throw notVouchedFor(status, text)
    return canonicalArn(callerOf(text))
  }
}

const tokenLengthMax = 4_096

function parsePresignedUrl(token: string, hosts: ReadonlySet<string>): URL {
  if (token.length > tokenLengthMax) throw tokenRefusal('it is too long')
  if (!token.startsWith(stsTokenPrefix)) throw tokenRefusal('it is not of this kind')
  const url = parseUrl(Buffer.from(token.slice(stsTokenPrefix.length), 'base64url').toString())
  if (url.protocol !== 'https:') throw tokenRefusal('its URL is not https')
  if (!hosts.has(url.host)) throw tokenRefusal(`${url.host} is no endpoint of STS here`)
  if (url.pathname !== '/' || url.username !== '' || url.password !== '' || url.hash !== '')
    throw tokenRefusal('its URL has more than a query')
  return url
}

function parseUrl(text: string): URL {
  try {
    return new URL(text)
  } catch (cause) {
    throw tokenRefusal('it holds no URL', cause)
  }
}

const allowed: ReadonlySet<string> = new Set([
  'action',
  'version',
  'x-amz-algorithm',
  'x-amz-credential',
  'x-amz-date',
  'x-amz-expires',
  'x-amz-security-token',
  'x-amz-signature',
  'x-amz-signedheaders',
  'x-amz-user-agent',
])

const expiresSecondsMax = 900
const lifetimeMs = 15 * 60_000

function checkParameters(query: URLSearchParams, nowMs: number): void {
  const values = new Map<string, string>()
  for (const [given, value] of query) {
    const name = given.toLowerCase()
    if (!allowed.has(name)) throw tokenRefusal(`parameter ${JSON.stringify(given)} is not allowed`)
    if (values.has(name)) throw tokenRefusal(`parameter ${JSON.stringify(given)} comes twice`)
    values.set(name, value)
  }
  if (values.get('action') !== 'GetCallerIdentity') throw tokenRefusal('it is no GetCallerIdentity')
  if (values.get('x-amz-signedheaders')?.split(';').includes('x-k8s-aws-id') !== true)
    throw tokenRefusal('x-k8s-aws-id is not signed')
  const expires = values.get('x-amz-expires') ?? ''
  if (!/^\d{1,3}$/.test(expires) || Number(expires) > expiresSecondsMax)
    throw tokenRefusal('X-Amz-Expires is out of range')
  if (timeOf(values.get('x-amz-date') ?? '') + lifetimeMs <= nowMs) throw tokenRefusal('it has expired')
}

/** `20261121T235959Z`. */
function timeOf(text: string): number {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text) ?? []
  const [year = '', month = '', day = '', hour = '', minute = '', second = ''] = parts
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  if (Number.isNaN(ms)) throw tokenRefusal('X-Amz-Date is no time')
  return ms
}

interface StsAnswer extends Pick<Response, 'ok' | 'status'> {
  readonly text: string
}

async function ask(url: URL, clusterId: string, fetch: KeyFetch): Promise<StsAnswer> {
  try {
    const response = await fetch(url.href, {
      headers: { 'x-k8s-aws-id': clusterId, accept: 'application/json' },
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    })
    const { ok, status } = response
    return { ok, status, text: await response.text() }
  } catch (cause) {
    throw new OperatingError('UNAVAILABLE', 'the token cannot be verified: STS does not answer', { cause })
  }
}

const timeoutMs = 10_000

/** STS is throttled with status 400, too: its code says so. The message may repeat what the caller has signed. */
function notVouchedFor(status: number, text: string): OperatingError {
  if (status < 500 && status !== 429 && !isThrottle(errorCodeIn(text))) return tokenRefusal(`STS answers ${status}`)
  return new OperatingError('UNAVAILABLE', `the token cannot be verified: STS answers ${status}`)
}

interface SaidBySts {
  readonly GetCallerIdentityResponse?: { readonly GetCallerIdentityResult?: { readonly Arn?: unknown } }
  readonly Error?: { readonly Code?: unknown }
}

/** As JSON, or as XML where STS gives that all the same. */
function errorCodeIn(text: string): string {
  const code = answerIn(text)?.Error?.Code
  return typeof code === 'string' ? code : (/<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? '')
}

function callerOf(text: string): string {
  const arn = answerIn(text)?.GetCallerIdentityResponse?.GetCallerIdentityResult?.Arn
  if (typeof arn !== 'string') throw new OperatingError('UNAVAILABLE', 'STS gives an answer that names nobody')
  return arn
}

/** Undefined for an answer that is no JSON. */
function answerIn(text: string): SaidBySts | undefined {
  try {
    return (parseJson(text) as SaidBySts | null) ?? undefined
  } catch {
    // It names nobody, as one of another form.
    return undefined
  }
}

/** Of an assumed role the role itself: `arn:aws:sts::1:assumed-role/Name/session` is `arn:aws:iam::1:role/Name`. */
function canonicalArn(arn: string): string {
  const [, partition, account, role] = /^arn:([^:]+):sts::(\d+):assumed-role\/([^/]+)\/.+$/.exec(arn) ?? []
  return role === undefined ? arn : `arn:${partition}:iam::${account}:role/${role}`
}

function tokenRefusal(why: string, cause?: unknown): OperatingError {
  return new OperatingError('UNAUTHORIZED', `the token was rejected: ${why}`, { cause })
}
