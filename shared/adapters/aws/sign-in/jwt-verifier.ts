import { createOidcVerifier, type OidcVerifierOptions } from '../../node/oidc-verifier.ts'

/**
 * Whose token it is: the name of a principal. Throws UNAUTHORIZED for a token that proves nothing, UNAVAILABLE if
 * whoever could say so does not answer; then the client may come again with the same token.
 */
export type TokenVerifier = (token: string) => Promise<string>

/**
 * Verifies JWTs of OIDC issuers, those that STS makes for IAM principals (GetWebIdentityToken) among them. The name is
 * `issuer#subject`.
 */
export function createJwtVerifier(options: OidcVerifierOptions): TokenVerifier {
  const verify = createOidcVerifier(options)
  return async (token) => {
    const { issuer, claims } = await verify(token)
    return `${issuer}#${claims.sub}`
  }
}
