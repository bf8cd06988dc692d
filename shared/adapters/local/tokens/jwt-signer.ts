import { createPrivateKey, createPublicKey, generateKeyPairSync, randomUUID, type KeyObject } from 'node:crypto'
import { OperatingError } from '../../../model/errors.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { TokenClaims, TokenSigner } from '../../../ports/token-signer.ts'
import { readIfThere, writeAtomically } from '../../node/atomic-file.ts'

/**
 * JWTs signed with ES256 by a key in a file, which is made when the first token is. Without the file none of its tokens
 * holds any more. Source: RFC 8725 for what is checked.
 */
export function createJwtSigner({ keyFile, clock }: { readonly keyFile: string; readonly clock: Clock }): TokenSigner {
  let key: KeyObject | undefined
  /** Of tokens whose signature was checked: to check one takes longer than the request. */
  const known = new Map<string, Known>()

  const load = (): KeyObject | undefined => {
    const pem = key === undefined ? readIfThere(keyFile) : undefined
    if (pem !== undefined) key = parseKey(pem, keyFile)
    return key
  }

  const make = (): KeyObject => {
    const made = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    writeAtomically(keyFile, made.export({ type: 'pkcs8', format: 'pem' }).toString())
    return (key = made)
  }

  const verify = async (token: string): Promise<TokenClaims | undefined> => {
    const nowMs = clock.nowMs()
    const before = known.get(token)
    if (before !== undefined && nowMs < before.endsAtMs) return before.claims
    known.delete(token)
    const checked = looksSigned(token) ? await check(token, load(), nowMs) : undefined
    if (checked === undefined) return
    const [oldest] = known.keys()
    if (known.size >= knownMax && oldest !== undefined) known.delete(oldest)
    known.set(token, checked)
    return checked.claims
  }

  return {
    verify,
    sign: async ({ audiences, subject, bound }, seconds) => {
      const { SignJWT } = await import('jose')
      const startSeconds = Math.floor(clock.nowMs() / 1_000)
      const token = await new SignJWT({ [boundClaim]: bound })
        .setProtectedHeader({ alg: algorithm })
        .setIssuer(issuer)
        .setSubject(subject)
        .setAudience([...audiences])
        .setIssuedAt(startSeconds)
        .setNotBefore(startSeconds)
        .setExpirationTime(startSeconds + seconds)
        .setJti(randomUUID())
        .sign(load() ?? make())
      return { token, endsAtMs: (startSeconds + seconds) * 1_000 }
    },
  }
}

interface Known {
  readonly claims: TokenClaims
  readonly endsAtMs: number
}

const knownMax = 1_000
const algorithm = 'ES256'
const issuer = 'https://setpoint'
const boundClaim = 'kubernetes.io'
/** The limit of a head is twice as much. */
const tokenLengthMax = 8_192

/** What is no JWT at all is not looked at more closely. */
function looksSigned(token: string): boolean {
  return token.length <= tokenLengthMax && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)
}

async function check(token: string, key: KeyObject | undefined, nowMs: number): Promise<Known | undefined> {
  if (key === undefined) return
  const { errors, jwtVerify } = await import('jose')
  try {
    const { payload } = await jwtVerify(token, createPublicKey(key), {
      issuer,
      algorithms: [algorithm],
      currentDate: new Date(nowMs),
      requiredClaims: ['sub', 'exp', 'aud', 'jti'],
    })
    const { aud = [], sub = '', exp = 0, jti = '' } = payload
    const bound = payload[boundClaim] as TokenClaims['bound']
    const audiences = typeof aud === 'string' ? [aud] : aud
    return { claims: { audiences, subject: sub, bound, id: jti }, endsAtMs: exp * 1_000 }
  } catch (error) {
    if (error instanceof errors.JOSEError) return
    throw error
  }
}

function parseKey(pem: string, file: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch (cause) {
    const message = `${file} is no key: remove it, and every token of a ServiceAccount ends`
    throw new OperatingError('UNAVAILABLE', message, { cause })
  }
}
