import { pbkdf2, createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { PostgresFailure } from './failure.ts'

const iterations = 4_096
const deriveKey = promisify(pbkdf2)

/**
 * What PostgreSQL keeps of a password (RFC 5803): made here, so that the password itself never stands in a statement,
 * where the server's log would repeat it. Passwords are printable ASCII; others would need the normalisation of RFC
 * 4013.
 */
export async function scramVerifier(password: string): Promise<string> {
  requirePassword(password)
  return verifierOf(password, { salt: randomBytes(16), count: iterations })
}

/** Refuses for good what cannot be a password. */
export function requirePassword(text: string): void {
  if (/^[\x20-\x7e]+$/.test(text)) return
  throw new PostgresFailure('terminal', 'InvalidPassword', 'a password must consist of printable ASCII characters')
}

/**
 * Whether a stored verifier is that of the password; false for any other form of stored password, and for none. A
 * login may store a verifier of its own, of any count. One of another count than ours is never worked out, because a
 * high count would keep a thread busy for hours.
 */
export async function isVerifierOf(stored: string | null, password: string): Promise<boolean> {
  const [, count, salt] = /^SCRAM-SHA-256\$(\d+):([^$]+)\$/.exec(stored ?? '') ?? []
  if (stored === null || salt === undefined || Number(count) !== iterations) return false
  const expected = await verifierOf(password, { salt: Buffer.from(salt, 'base64'), count: iterations })
  return expected.length === stored.length && timingSafeEqual(Buffer.from(expected), Buffer.from(stored))
}

interface Salting {
  readonly salt: Buffer
  readonly count: number
}

// RFC 5802, section 3.
async function verifierOf(password: string, { salt, count }: Salting): Promise<string> {
  const saltedPassword = await deriveKey(password, salt, count, 32, 'sha256')
  const storedKey = createHash('sha256').update(hmac(saltedPassword, 'Client Key')).digest('base64')
  const serverKey = hmac(saltedPassword, 'Server Key').toString('base64')
  return `SCRAM-SHA-256$${count}:${salt.toString('base64')}$${storedKey}:${serverKey}`
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
