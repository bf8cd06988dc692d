import { accountTokenIssuer } from '../model/access/account-token.ts'
import type { TokenSigner } from '../ports/token-signer.ts'
import type { PathAnswer } from './path-answer.ts'
import { json, withHeader } from './reply.ts'

/**
 * How others know tokens of ServiceAccounts again: by the keys that signed them. Source: OpenID Connect Discovery 1.0;
 * kubernetes, `OpenIDMetadataServer`.
 */
export function issuerDocuments(tokens: TokenSigner | undefined): ReadonlyMap<string, PathAnswer> {
  if (tokens === undefined) return new Map()
  return new Map<string, PathAnswer>([
    [
      '/.well-known/openid-configuration',
      async (request) => {
        const jwks = `https://${request.header('host') ?? 'setpoint'}${keysPath}`
        return withHeader(json(200, { ...configuration, jwks_uri: jwks }), 'cache-control', cacheControl)
      },
    ],
    [
      keysPath,
      async () => {
        const keys = json(200, { keys: await tokens.publicKeys() })
        return withHeader(withHeader(keys, 'content-type', 'application/jwk-set+json'), 'cache-control', cacheControl)
      },
    ],
  ])
}

const keysPath = '/openid/v1/jwks'
const cacheControl = 'public, max-age=3600'
const configuration = {
  issuer: accountTokenIssuer,
  response_types_supported: ['id_token'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['ES256'],
}
