import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createAuthority } from './client-certificate.ts'

/** An issuer of tokens on this machine, with a certificate of an authority of its own. */
export interface OidcIssuer extends AsyncDisposable {
  readonly url: string
  /** PEM of who signed its certificate. */
  readonly authority: string
  /** The paths that were asked for. */
  readonly asked: string[]
  /** What it answers with, instead of documents and keys. */
  broken: { readonly status: number; readonly body: string } | undefined
  /** Signs with another key from now on, which its keys name. */
  rotate(): Promise<void>
  token(claims: JWTPayload, options?: { readonly audience?: string; readonly endsInSeconds?: number }): Promise<string>
}

export async function startOidcIssuer(): Promise<OidcIssuer> {
  const authority = createAuthority('issuer authority')
  const asked: string[] = []
  let keys = await newKeys('1')
  const server = createServer(authority.issueServer(), ({ url: path = '' }, response) => {
    asked.push(path)
    const documents: Record<string, unknown> = {
      '/.well-known/openid-configuration': { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` },
      '/keys': { keys: [keys.jwk] },
    }
    response.statusCode = issuer.broken?.status ?? (path in documents ? 200 : 404)
    response.end(issuer.broken?.body ?? JSON.stringify(documents[path]))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer: OidcIssuer = {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    authority: authority.pem,
    asked,
    broken: undefined,
    rotate: async () => {
      keys = await newKeys(`${Number(keys.jwk.kid) + 1}`)
    },
    token: (claims, { audience = 'setpoint', endsInSeconds = 600 } = {}) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'ES256', kid: keys.jwk.kid })
        .setIssuer(issuer.url)
        .setAudience(audience)
        .setIssuedAt()
        .setExpirationTime(Math.floor(Date.now() / 1_000) + endsInSeconds)
        .sign(keys.privateKey),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return issuer
}

async function newKeys(kid: string) {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256' } }
}
