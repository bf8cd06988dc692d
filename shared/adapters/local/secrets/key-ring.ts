import { createHash, randomBytes } from 'node:crypto'
import { readIfThere, writeAtomically } from '../../node/atomic-file.ts'

/** A key of 256 bits, named by its digest. */
export interface SecretKey {
  readonly id: string
  readonly bytes: Buffer
}

/** The keys of a file: the first one encrypts, all of them decrypt. More than one only while keys are changed. */
export type KeyRing = readonly [SecretKey, ...SecretKey[]]

const keyBytes = 32

export function createKey(): SecretKey {
  return nameKey(randomBytes(keyBytes))
}

function nameKey(bytes: Buffer): SecretKey {
  return { id: createHash('sha256').update(bytes).digest('hex').slice(0, 8), bytes }
}

/** One key a line, in base64. Throws UNAVAILABLE if the file cannot be read. */
export function readKeyRing(file: string): KeyRing | 'missing' | 'damaged' {
  const text = readIfThere(file)
  if (text === undefined) return 'missing'
  const keys = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => nameKey(Buffer.from(line, 'base64')))
  const [first, ...others] = keys
  return first === undefined || keys.some(({ bytes }) => bytes.length !== keyBytes) ? 'damaged' : [first, ...others]
}

/** On disk when it returns, for its owner's eyes only: what is encrypted with it comes later. */
export function writeKeyRing(file: string, keys: KeyRing): void {
  writeAtomically(file, keys.map(({ bytes }) => `${bytes.toString('base64')}\n`).join(''))
}
