import { loadOnce } from '../../model/load-once.ts'
import type { KeyFetch } from '../../adapters/node/oidc-verifier.ts'
import { bearerToken } from '../../model/access/bearer-token.ts'
import { hasCode } from '../../model/errors.ts'
import type { Authenticator } from '../../ports/authenticator.ts'
import type { AwsBoundary } from './boundary.ts'
import { accountOfPlane } from './environment.ts'

/**
 * Whose a token is that the authorizer would let in, for a TokenReview; undefined where the stack does not tell the API
 * who comes in. What asks issuers is loaded for the first token.
 */
export function openTokenReview(boundary: AwsBoundary, fetch: KeyFetch): Authenticator | undefined {
  const account = accountOfPlane(boundary.environment)
  if (account === undefined) return undefined
  const open = loadOnce(async () => {
    const { createIdentify } = await import('./authorizer.ts')
    return createIdentify(boundary, fetch)
  })
  return async (authorization) => {
    try {
      const identify = await open()
      const { name, groups, isAdmitted } = await identify(bearerToken(authorization), account)
      return isAdmitted ? { name, groups } : undefined
    } catch (error) {
      if (hasCode(error, 'UNAUTHORIZED')) return
      throw error
    }
  }
}
