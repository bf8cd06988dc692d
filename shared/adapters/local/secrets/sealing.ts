import { parseJson } from '../../../model/parse-json.ts'
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { constants, deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Json } from '../../../model/json.ts'
import type { ApiObject } from '../../../model/object.ts'
import type { StoredObject } from '../../../model/stored-object.ts'
import { writeKeyRing, type KeyRing, type SecretKey } from './key-ring.ts'

/** What makes the values of a Secret unreadable where it is stored, and readable again. */
export interface Sealing {
  /** Of the key that seals. */
  readonly keyId: string
  /** Other objects stay as they are. */
  seal(object: ApiObject): ApiObject
  /** Undefined if no key fits, or what is stored was changed. */
  open(object: ApiObject): ApiObject | undefined
  /** Writes the keys into a file. They replace what the file had. Throws UNAVAILABLE. */
  writeKeys(file: string): void
}

/** kubectl keeps in it all that was applied, values included. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

const cipher = 'aes-256-gcm'
const ivBytes = 12
const tagBytes = 16

/**
 * AES-256-GCM under a new initialization vector for each text. Place and uid of the Secret are authenticated with it,
 * so that no value can be put into another Secret. A sealed text is `sealed:KEY:BASE64`.
 */
export function createSealing(keys: KeyRing): Sealing {
  const [current] = keys
  return {
    keyId: current.id,
    seal: (object) =>
      isSecret(object) ? sealValues(object, (text) => sealText(text, current, contextOf(object))) : object,
    open: (object) => (isSecret(object) ? openSecret(object, keys) : object),
    writeKeys: (file) => writeKeyRing(file, keys),
  }
}

function openSecret(object: ApiObject, keys: KeyRing): ApiObject | undefined {
  try {
    return openValues(object, (text) => openText(text, keys, contextOf(object)))
  } catch {
    // What it says would be of no use, and may quote.
    return undefined
  }
}

export function isSecret({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): boolean {
  return kind === 'Secret' && apiVersion === 'v1'
}

/** Whether all of its values are sealed, with this key if one is named. */
export function isSealed(object: ApiObject, keyId?: string): boolean {
  const start = keyId === undefined ? mark : startOfSealed(keyId)
  const texts = [object['data'], object.metadata.annotations?.[lastApplied]].filter((text) => text !== undefined)
  return texts.every((text) => typeof text === 'string' && text.startsWith(start))
}

const mark = 'sealed:'

/** How each text begins that is sealed with this key. */
export function startOfSealed(keyId: string): string {
  return `${mark}${keyId}:`
}

/** `data` as one text, so that neither number nor length of the values is told. */
function sealValues(object: ApiObject, seal: (text: string) => string): ApiObject {
  const data = object['data']
  return { ...withApplied(object, seal), ...(data === undefined ? {} : { data: seal(JSON.stringify(data)) }) }
}

/** What an earlier version stored in clear is read as it is. */
function openValues(object: ApiObject, open: (text: string) => string): ApiObject {
  const data = object['data']
  const opened = withApplied(object, (text) => (text.startsWith(mark) ? open(text) : text))
  return typeof data === 'string' ? { ...opened, data: parseJson(open(data)) as Json } : opened
}

function withApplied(object: ApiObject, map: (text: string) => string): ApiObject {
  const { metadata } = object
  const applied = metadata.annotations?.[lastApplied]
  if (applied === undefined) return object
  return { ...object, metadata: { ...metadata, annotations: { ...metadata.annotations, [lastApplied]: map(applied) } } }
}

function contextOf({ metadata: { namespace = '', name, uid } }: ApiObject): Buffer {
  return Buffer.from(JSON.stringify([namespace, name, uid] satisfies Json))
}

function sealText(text: string, { id, bytes }: SecretKey, context: Buffer): string {
  const iv = randomBytes(ivBytes)
  const encrypting = createCipheriv(cipher, bytes, iv).setAAD(context)
  const sealed = [iv, encrypting.update(pack(text)), encrypting.final(), encrypting.getAuthTag()]
  return `${startOfSealed(id)}${Buffer.concat(sealed).toString('base64')}`
}

function openText(text: string, keys: KeyRing, context: Buffer): string {
  const [, id, base64 = ''] = /^sealed:(\w+):(.*)$/.exec(text) ?? []
  const key = keys.find((one) => one.id === id)
  if (key === undefined) throw new Error('no key fits')
  const sealed = Buffer.from(base64, 'base64')
  const end = sealed.length - tagBytes
  const decrypting = createDecipheriv(cipher, key.bytes, sealed.subarray(0, ivBytes), { authTagLength: tagBytes })
  decrypting.setAAD(context).setAuthTag(sealed.subarray(end))
  return unpack(Buffer.concat([decrypting.update(sealed.subarray(ivBytes, end)), decrypting.final()]))
}

const [plain, packed] = [0, 1]
const packedFrom = 50_000

/** A long text of base64 in base64 would be a third longer, beyond what an object may be: a Huffman code undoes it. */
function pack(text: string): Buffer {
  const bytes = Buffer.from(text)
  if (bytes.length < packedFrom) return Buffer.concat([Buffer.of(plain), bytes])
  return Buffer.concat([Buffer.of(packed), deflateRawSync(bytes, { strategy: constants.Z_HUFFMAN_ONLY })])
}

function unpack(bytes: Buffer): string {
  const rest = bytes.subarray(1)
  return (bytes[0] === packed ? inflateRawSync(rest) : rest).toString()
}

/** The same of an object with its engine state. */
export function sealStored({ seal }: Sealing, { object, engine }: StoredObject): StoredObject {
  return { object: seal(object), engine }
}

/** Undefined as `open` says. */
export function openStored({ open }: Sealing, stored: StoredObject): StoredObject | undefined {
  const object = open(stored.object)
  return object === stored.object ? stored : object && { object, engine: stored.engine }
}
