import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { OperatingError } from '../../../model/errors.ts'
import type { TokenKeys } from '../../node/account-tokens.ts'
import { readIfThere, writeAtomically } from '../../node/atomic-file.ts'

/**
 * One key in a file. The first token makes it. If somebody removes the file, all tokens of the key end with the next
 * start.
 */
export function createTokenKeyFile(keyFile: string): TokenKeys {
  let pair: Pair | undefined

  const load = (): Pair | undefined => {
    const pem = pair === undefined ? readIfThere(keyFile) : undefined
    if (pem !== undefined) pair = pairOf(parseKey(pem, keyFile))
    return pair
  }

  const make = (): Pair => {
    const made = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    writeAtomically(keyFile, made.export({ type: 'pkcs8', format: 'pem' }).toString())
    return (pair = pairOf(made))
  }

  return {
    current: async () => load() ?? make(),
    find: async () => load()?.publicKey,
    all: async () => {
      const key = load()?.publicKey
      return key === undefined ? [] : [{ key }]
    },
  }
}

/** In words, with how to go on. Undefined if there is nothing to say. */
export function findDamagedTokenKey(file: string): string | undefined {
  try {
    const pem = readIfThere(file)
    if (pem !== undefined) parseKey(pem, file)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

interface Pair {
  readonly key: KeyObject
  readonly publicKey: KeyObject
}

function pairOf(key: KeyObject): Pair {
  return { key, publicKey: createPublicKey(key) }
}

function parseKey(pem: string, file: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch (cause) {
    const message = `${file} is no key: remove it, and every token of a ServiceAccount ends`
    throw new OperatingError('UNAVAILABLE', message, { cause })
  }
}
