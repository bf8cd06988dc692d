import { randomUUID, type KeyObject } from 'node:crypto'
import { accountTokenIssuer as issuer } from '../../model/access/account-token.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Clock } from '../../ports/clock.ts'
import type { TokenClaims, TokenSigner } from '../../ports/token-signer.ts'

/** Where the keys of tokens are kept. All are of the curve P-256. */
export interface TokenKeys {
  /** The private key that signs now; it is made if there is none. */
  current(): Promise<SigningKey>
  readonly find: FindTokenKey
  /** The public keys of all tokens that may hold. */
  all(): Promise<readonly SigningKey[]>
}

export interface SigningKey {
  readonly key: KeyObject
  /** What its tokens name it by. Left out where there is one key only. */
  readonly id?: string
}

/** The public key of this name. The same object says that it is still the same key. */
export type FindTokenKey = (id: string | undefined) => Promise<KeyObject | undefined>

/** JWTs of ServiceAccounts, signed with ES256. A token ends with its key. */
export function createTokenSigner({ keys, clock }: { readonly keys: TokenKeys; readonly clock: Clock }): TokenSigner {
  return {
    verify: createTokenVerifier({ findKey: keys.find, clock }),
    publicKeys: async () => (await keys.all()).map(jwkOf),
    sign: async ({ audiences, subject, bound }, seconds) => {
      const { SignJWT } = await import('jose')
      const { key, id } = await keys.current()
      const startSeconds = Math.floor(clock.nowMs() / 1_000)
      const token = await new SignJWT({ [boundClaim]: bound })
        .setProtectedHeader({ alg: algorithm, ...(id !== undefined && { kid: id }) })
        .setIssuer(issuer)
        .setSubject(subject)
        .setAudience([...audiences])
        .setIssuedAt(startSeconds)
        .setNotBefore(startSeconds - clockErrorSeconds)
        .setExpirationTime(startSeconds + seconds)
        .setJti(randomUUID())
        .sign(key)
      return { token, endsAtMs: (startSeconds + seconds) * 1_000 }
    },
  }
}

function jwkOf({ key, id }: SigningKey): JsonObject {
  const { kty = '', crv = '', x = '', y = '' } = key.export({ format: 'jwk' })
  return { use: 'sig', kty, ...(id !== undefined && { kid: id }), crv, alg: algorithm, x, y }
}

export interface TokenVerifierOptions {
  readonly findKey: FindTokenKey
  readonly clock: Clock
}

/** Knows the tokens of these keys again. Source: RFC 8725 for what is checked. */
export function createTokenVerifier({ findKey, clock }: TokenVerifierOptions): TokenSigner['verify'] {
  /** Of tokens whose signature was checked: to check one takes longer than the request. */
  const known = new Map<string, Known>()

  return async (token) => {
    const nowMs = clock.nowMs()
    const before = known.get(token)
    if (before !== undefined && nowMs < before.endsAtMs && (await findKey(before.keyId)) === before.key)
      return before.claims
    known.delete(token)
    const checked = looksSigned(token) ? await check(token, findKey, nowMs) : undefined
    if (checked === undefined) return
    const [oldest] = known.keys()
    if (known.size >= knownMax && oldest !== undefined) known.delete(oldest)
    known.set(token, checked)
    return checked.claims
  }
}

interface Known {
  readonly claims: TokenClaims
  readonly endsAtMs: number
  readonly keyId: string | undefined
  readonly key: KeyObject
}

const knownMax = 1_000
/** A clock that is behind by less takes a new token. Source: go-jose, whose leeway is a minute, too. */
const clockErrorSeconds = 60
const algorithm = 'ES256'
const boundClaim = 'kubernetes.io'
/** The limit of a head is twice as much. */
const tokenLengthMax = 8_192

/** What is no JWT at all is not looked at more closely. */
function looksSigned(token: string): boolean {
  return token.length <= tokenLengthMax && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)
}

async function check(token: string, findKey: FindTokenKey, nowMs: number): Promise<Known | undefined> {
  const { decodeProtectedHeader, errors, jwtVerify } = await import('jose')
  const keyId = keyIdOf(token, decodeProtectedHeader)
  const key = await findKey(keyId)
  if (key === undefined) return
  try {
    const { payload } = await jwtVerify(token, key, {
      issuer,
      algorithms: [algorithm],
      currentDate: new Date(nowMs),
      requiredClaims: ['sub', 'exp', 'aud', 'jti'],
    })
    const { aud = [], sub = '', exp = 0, jti = '' } = payload
    const bound = payload[boundClaim] as TokenClaims['bound']
    const audiences = typeof aud === 'string' ? [aud] : aud
    return { claims: { audiences, subject: sub, bound, id: jti }, endsAtMs: exp * 1_000, keyId, key }
  } catch (error) {
    if (error instanceof errors.JOSEError) return
    throw error
  }
}

/** What a token names its key by, unproven. */
function keyIdOf(token: string, decode: (token: string) => { readonly kid?: unknown }): string | undefined {
  try {
    const { kid } = decode(token)
    return typeof kid === 'string' ? kid : undefined
  } catch {
    // Its head is none, which is found out with the signature.
    return undefined
  }
}
