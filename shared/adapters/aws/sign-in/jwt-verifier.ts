import { OperatingError } from '../../../model/errors.ts'
import { claimUser } from '../../node/claim-user.ts'
import { createOidcVerifier, type OidcIssuer, type OidcVerifierOptions } from '../../node/oidc-verifier.ts'

/** Whom a token names. */
export interface Principal {
  readonly name: string
  readonly groups: readonly string[]
  /** Whoever vouches for them vouches for everybody who may come in. */
  readonly isAdmitted: boolean
}

/**
 * Throws UNAUTHORIZED for a token that proves nothing, UNAVAILABLE if whoever could say so does not answer; then the
 * client may come again with the same token.
 */
export type TokenVerifier = (token: string) => Promise<Principal>

export interface TokenIssuer extends OidcIssuer {
  /** All its subjects come in, not the listed ones alone. */
  readonly anySubject?: boolean
  /** The claim with a subject's groups. */
  readonly groupsClaim?: string
  /** Stands before each of them. */
  readonly groupsPrefix?: string
}

export type JwtVerifierOptions = OidcVerifierOptions<TokenIssuer>

/**
 * Verifies JWTs of OIDC issuers, those that STS makes for IAM principals (GetWebIdentityToken) among them. The name is
 * `issuer#subject`.
 */
export function createJwtVerifier(options: JwtVerifierOptions): TokenVerifier {
  const verify = createOidcVerifier(options)
  return async (token) => {
    const { issuer, claims } = await verify(token)
    const { anySubject = false, ...rules } = issuer
    const user = claimUser(claims, rules)
    if (user === undefined) throw new OperatingError('UNAUTHORIZED', 'the token was rejected: its claims name no user')
    return { ...user, isAdmitted: anySubject }
  }
}
