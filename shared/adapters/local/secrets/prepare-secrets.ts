import type { SqliteDatabase } from '../sqlite/sqlite-database.ts'
import { createKey, readKeyRing, writeKeyRing, type KeyRing } from './key-ring.ts'
import { isKeyNeeded, reseal } from './reseal.ts'
import { createSealing, type Sealing } from './sealing.ts'

export interface SecretsOptions {
  readonly keyFile: string
  /** Encrypts everything anew with another key, and forgets the one of before. */
  readonly rotateKey?: boolean | undefined
}

export interface PreparedSecrets {
  readonly sealing: Sealing
  /** The first one seals. The others stay for states that could not be sealed anew, until these are gone. */
  readonly keys: KeyRing
  /** How many states could not be sealed anew just now. */
  readonly left: number
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
): PreparedSecrets {
  const found = readKeyRing(keyFile)
  const ring: KeyRing = typeof found === 'string' ? [createKey()] : found
  const all: KeyRing = rotateKey && typeof found !== 'string' ? [createKey(), ...ring] : ring
  if (all !== found) writeKeyRing(keyFile, all)
  const [first, ...others] = all
  const left = first.id === knownKeyId ? 0 : reseal(database, createSealing(all)).left
  const keys: KeyRing = [first, ...others.filter(({ id }) => isKeyNeeded(database, id))]
  return { sealing: createSealing(keys), keys, left }
}

/** Once the database names the first of these. */
export function forgetOtherKeys({ keyFile }: SecretsOptions, keys: KeyRing): void {
  const found = readKeyRing(keyFile)
  if (typeof found !== 'string' && found.length > keys.length) writeKeyRing(keyFile, keys)
}
