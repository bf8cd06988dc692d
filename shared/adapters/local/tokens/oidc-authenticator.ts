import { createHash } from 'node:crypto'
import { authenticatedGroup } from '../../../model/access/authorize.ts'
import { bearerToken } from '../../../model/access/bearer-token.ts'
import { hasCode } from '../../../model/errors.ts'
import { loadOnce } from '../../../model/load-once.ts'
import type { Authenticator, User } from '../../../ports/authenticator.ts'
import type { Clock } from '../../../ports/clock.ts'
import { claimedIssuer } from '../../node/claimed-issuer.ts'
import type { KeyFetch, VerifiedToken } from '../../node/oidc-verifier.ts'
import { claimUser, type ClaimRules } from '../../node/claim-user.ts'

export interface OidcOptions extends ClaimRules {
  readonly clientId: string
}

interface AuthenticatorOptions {
  readonly oidc: OidcOptions
  readonly fetch: KeyFetch
  readonly clock: Clock
}

/** The limit of a head is twice as much. */
const tokenLengthMax = 8_192
const knownMax = 1_000
/** Anybody can make a token that names the issuer: so often it is asked at most. */
const outageMs = 2_000

/**
 * Knows users by the tokens of one OIDC issuer. A token that is another's is nobody's here. Throws UNAVAILABLE while
 * the issuer cannot be asked for its keys.
 */
export function createOidcAuthenticator({ oidc, fetch, clock }: AuthenticatorOptions): Authenticator {
  const { issuer, clientId } = oidc
  /** Of tokens whose signature was checked, by their digests. */
  const known = new Map<string, Known>()

  const open = loadOnce(async () => {
    const { createOidcVerifier } = await import('../../node/oidc-verifier.ts')
    return createOidcVerifier({ issuers: [{ issuer, audience: clientId }], fetch, clock })
  })

  /** Why the issuer could not be asked when it was tried last. */
  let outage: { readonly error: unknown; readonly atMs: number } | undefined

  const verify = async (token: string): Promise<VerifiedToken | undefined> => {
    if (outage !== undefined && Math.abs(clock.nowMs() - outage.atMs) < outageMs) throw outage.error
    try {
      const verifyToken = await open()
      return await verifyToken(token)
    } catch (error) {
      if (hasCode(error, 'UNAUTHORIZED')) return
      outage = { error, atMs: clock.nowMs() }
      throw error
    }
  }

  return async (authorization) => {
    const token = bearerToken(authorization)
    if (token.length > tokenLengthMax || claimedIssuer(token) !== issuer) return
    const digest = createHash('sha256').update(token).digest('base64')
    const before = known.get(digest)
    if (before !== undefined && clock.nowMs() < before.endsAtMs) return before.user
    known.delete(digest)
    const verified = await verify(token)
    const user = verified && claimUser(verified.claims, oidc)
    if (user === undefined) return
    const [oldest] = known.keys()
    if (known.size >= knownMax && oldest !== undefined) known.delete(oldest)
    const signedIn = { ...user, groups: [...new Set([...user.groups, authenticatedGroup])] }
    known.set(digest, { user: signedIn, endsAtMs: (verified?.claims.exp ?? 0) * 1_000 })
    return signedIn
  }
}

interface Known {
  readonly user: User
  readonly endsAtMs: number
}
