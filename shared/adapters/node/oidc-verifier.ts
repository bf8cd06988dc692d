import {
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  errors,
  jwtVerify,
  type JWTPayload,
  type JWTVerifyGetKey,
} from 'jose'
import { OperatingError } from '../../model/errors.ts'
import type { Clock } from '../../ports/clock.ts'

/** `fetch`, as far as it is needed here. */
export type KeyFetch = (url: string, init: RequestInit) => Promise<Response>

export interface OidcIssuer {
  readonly issuer: string
  readonly audience: string
}

export interface OidcVerifierOptions<Issuer extends OidcIssuer = OidcIssuer> {
  /** Whose tokens are taken, each for its own audience. One issuer may be there several times, with other audiences. */
  readonly issuers: readonly Issuer[]
  readonly fetch: KeyFetch
  readonly clock: Clock
}

/** What a token says that is proven to be its issuer's, for us and of now: `sub` and `exp` are there. */
export interface VerifiedToken<Issuer extends OidcIssuer = OidcIssuer> {
  /** The first of those for whose audience it is. */
  readonly issuer: Issuer
  readonly claims: JWTPayload
}

/**
 * Throws UNAUTHORIZED for a token that proves nothing, UNAVAILABLE if whoever could say so does not answer; then the
 * client may come again with the same token.
 */
export type OidcVerifier<Issuer extends OidcIssuer = OidcIssuer> = (token: string) => Promise<VerifiedToken<Issuer>>

/** No HMAC: with those, who can verify a token can make one. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']
const clockToleranceSeconds = 5

/**
 * Verifies JWTs of OIDC issuers. Keys come from the issuer's discovery document, which is kept as long as the process;
 * the keys are kept for ten minutes, and looked at again for a key that is not among them, twice a minute at most.
 * Source: OpenID Connect Discovery 1.0, section 4; RFC 8725 for what is checked.
 */
export function createOidcVerifier<Issuer extends OidcIssuer>({
  issuers,
  fetch,
  clock,
}: OidcVerifierOptions<Issuer>): OidcVerifier<Issuer> {
  const keys = new Map<string, Promise<JWTVerifyGetKey>>()

  /** A discovery that failed is tried again with the next token. */
  function keysOf(issuer: string): Promise<JWTVerifyGetKey> {
    const known = keys.get(issuer) ?? discover(issuer, fetch)
    keys.set(issuer, known)
    known.catch(() => keys.delete(issuer))
    return known
  }

  return async (token) => {
    const iss = issuerOf(token)
    const trusted = issuers.filter(({ issuer }) => issuer === iss)
    if (iss === undefined || trusted.length === 0) throw tokenRefusal('its issuer is none of ours')
    try {
      const { payload } = await jwtVerify(token, await keysOf(iss), {
        issuer: iss,
        audience: trusted.map(({ audience }) => audience),
        algorithms,
        clockTolerance: clockToleranceSeconds,
        currentDate: new Date(clock.nowMs()),
        requiredClaims: ['sub', 'exp'],
      })
      const audiences = [payload.aud].flat()
      const issuer = trusted.find(({ audience }) => audiences.includes(audience))
      if (issuer === undefined) throw tokenRefusal('it is for nobody here')
      return { issuer, claims: payload }
    } catch (error) {
      throw failureOf(error)
    }
  }
}

/** What a token says of its issuer, unproven. Throws UNAUTHORIZED for what is no JWT. */
function issuerOf(token: string): string | undefined {
  try {
    return decodeJwt(token).iss
  } catch (error) {
    throw tokenRefusal('it is no JWT', error)
  }
}

async function discover(issuer: string, fetch: KeyFetch): Promise<JWTVerifyGetKey> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(timeoutMs) })
  if (!response.ok) throw unavailable(`${url} answers ${response.status}`)
  const document = (await response.json()) as { readonly issuer?: unknown; readonly jwks_uri?: unknown }
  if (document.issuer !== issuer) throw unavailable(`${url} is the document of ${String(document.issuer)}`)
  const jwks = new URL(String(document.jwks_uri))
  if (jwks.protocol !== 'https:') throw unavailable(`the keys of ${issuer} are not behind https`)
  return createRemoteJWKSet(jwks, { timeoutDuration: timeoutMs, [customFetch]: fetch })
}

const timeoutMs = 5_000

/** What jose says of the token, and not of the way to its keys. */
const aboutTheToken = [
  errors.JWTClaimValidationFailed,
  errors.JWTExpired,
  errors.JWTInvalid,
  errors.JWSInvalid,
  errors.JWSSignatureVerificationFailed,
  errors.JOSEAlgNotAllowed,
  errors.JOSENotSupported,
  errors.JWKSNoMatchingKey,
  errors.JWKSMultipleMatchingKeys,
]

function failureOf(error: unknown): OperatingError {
  if (error instanceof OperatingError) return error
  const message = error instanceof Error ? error.message : String(error)
  return aboutTheToken.some((kind) => error instanceof kind)
    ? tokenRefusal(message, error)
    : unavailable(message, error)
}

function tokenRefusal(why: string, cause?: unknown): OperatingError {
  return new OperatingError('UNAUTHORIZED', `the token was rejected: ${why}`, { cause })
}

function unavailable(why: string, cause?: unknown): OperatingError {
  return new OperatingError('UNAVAILABLE', `the token cannot be verified: ${why}`, { cause })
}
