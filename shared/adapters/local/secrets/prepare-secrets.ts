import type { SqliteDatabase } from '../sqlite/sqlite-database.ts'
import { createKey, readKeyRing, writeKeyRing, type KeyRing } from './key-ring.ts'
import { reseal } from './reseal.ts'
import { createSealing, type Sealing } from './sealing.ts'

export interface SecretsOptions {
  readonly keyFile: string
  /** Encrypts everything anew with another key, and forgets the one of before. */
  readonly rotateKey?: boolean | undefined
}

/**
 * Has all Secrets sealed with the first key of the file: makes the file on the first start, seals what an earlier
 * version stored in clear, changes the key. Each step can be made again: the file holds the keys of both sides until
 * the database names the first one.
 */
export function prepareSecrets(
  database: Pick<SqliteDatabase, 'prepare'>,
  { keyFile, rotateKey = false }: SecretsOptions,
  knownKeyId: string | undefined,
): Sealing {
  const found = readKeyRing(keyFile)
  const ring: KeyRing = typeof found === 'string' ? [createKey()] : found
  const keys: KeyRing = rotateKey && typeof found !== 'string' ? [createKey(), ...ring] : ring
  const sealing = createSealing(keys)
  if (keys.length === 1 && keys[0].id === knownKeyId) return sealing
  if (keys !== found) writeKeyRing(keyFile, keys)
  reseal(database, sealing)
  return createSealing([keys[0]])
}

/** Once the database names the first one. */
export function forgetOtherKeys({ keyFile }: SecretsOptions): void {
  const keys = readKeyRing(keyFile)
  if (typeof keys !== 'string' && keys.length > 1) writeKeyRing(keyFile, [keys[0]])
}
