import { describe, expect, it } from 'vitest'
import type { KeyRing } from '../../../../../shared/adapters/local/secrets/key-ring.ts'
import {
  createSealing,
  isSealed,
  isSecret,
  openStored,
  sealStored,
} from '../../../../../shared/adapters/local/secrets/sealing.ts'
import type { ApiObject } from '../../../../../shared/model/object.ts'
import { storedWidget } from '../../../../support/stored-object.ts'

const keys: KeyRing = [{ id: 'now', bytes: Buffer.alloc(32, 1) }]
const others: KeyRing = [{ id: 'other', bytes: Buffer.alloc(32, 2) }]
const sealing = createSealing(keys)
const applied = 'kubectl.kubernetes.io/last-applied-configuration'
const inClear = 'what was applied'

function secret(data?: unknown, metadata: object = {}): ApiObject {
  const { spec: _, ...rest } = storedWidget('a').object
  const named = { ...rest, metadata: { ...rest.metadata, ...metadata }, apiVersion: 'v1', kind: 'Secret' }
  return data === undefined ? named : ({ ...named, data } as ApiObject)
}

const annotated = (text: string): object => ({ annotations: { [applied]: text, kept: 'x' } })

describe('a Secret', () => {
  it.each<[string, ApiObject]>([
    ['values', secret({ a: 'YQ==' })],
    ['none', secret()],
    ['what was applied', secret(undefined, annotated(inClear))],
    ['both', secret({ a: 'YQ==', ü: 'Yg==' }, annotated(inClear))],
    ['no namespace', secret({ a: 'YQ==' }, { namespace: undefined })],
    ['many values', secret({ a: 'ab'.repeat(60_000) })],
  ])('with %s is what it was when it is opened', (_what, object) => {
    const sealed = sealing.seal(object)
    expect(sealing.open(sealed)).toEqual(object)
    expect(isSealed(sealed, 'now')).toBe(true)
    expect(isSealed(object)).toBe(object['data'] === undefined && object.metadata.annotations === undefined)
  })

  it('is the same but for its values and what was applied, which are another text each time', () => {
    const object = secret({ a: 'YQ==' }, annotated(inClear))
    const [one, other] = [sealing.seal(object), sealing.seal(object)]
    const text = expect.stringMatching(/^sealed:now:[\w+/]+=*$/)
    expect(one).toEqual({
      ...object,
      data: text,
      metadata: { ...object.metadata, annotations: { [applied]: text, kept: 'x' } },
    })
    expect(one['data']).not.toBe(other['data'])
  })

  it.each([
    ['plain', '37U4L/Rp/BUzCaEM8Kczz8xp+11mr6cxoBLp//J6oUOYe/etTgD33ss='],
    ['packed, as long ones are', 'AwMDAwMDAwMDAwMD+cpC0Ks2ZeOhSFMyZhwkukgBuLXfSptrtyzZUn/o5A=='],
  ])('that was stored before is opened: %s', (_how, text) => {
    expect(sealing.open(secret(`sealed:now:${text}`))).toEqual(secret({ a: 'YQ==' }))
  })

  it('is read as it is where an earlier version stored it in clear', () => {
    const object = secret({ a: 'YQ==' }, annotated(inClear))
    expect(sealing.open(object)).toEqual(object)
  })

  const sealed = sealing.seal(secret({ a: 'YQ==' }))
  const changed = (change: (bytes: Buffer) => Buffer): ApiObject => {
    const bytes = change(Buffer.from(String(sealed['data']).split(':')[2] ?? '', 'base64'))
    return { ...sealed, data: `sealed:now:${bytes.toString('base64')}` }
  }
  const flip = (at: number) => (bytes: Buffer) => {
    const place = at < 0 ? bytes.length + at : at
    bytes[place] = (bytes[place] ?? 0) ^ 1
    return bytes
  }

  it.each<[string, ApiObject]>([
    ['another name', { ...sealed, metadata: { ...sealed.metadata, name: 'b' } }],
    ['another namespace', { ...sealed, metadata: { ...sealed.metadata, namespace: 'b' } }],
    ['another uid', { ...sealed, metadata: { ...sealed.metadata, uid: 'b' } }],
    ['its vector changed', changed(flip(0))],
    ['its text changed', changed(flip(12))],
    ['its proof changed', changed(flip(-1))],
    ['its end cut off', changed((bytes) => bytes.subarray(0, -1))],
    ['all of it cut off', changed(() => Buffer.alloc(0))],
    ['a key that is not there', { ...sealed, data: String(sealed['data']).replace('now', 'gone') }],
    ['a text that nobody sealed', { ...sealed, data: 'text' }],
    ['the annotation of another', { ...sealed, metadata: { ...sealed.metadata, ...annotated('sealed:now:AAAA') } }],
  ])('with %s cannot be opened', (_what, object) => expect(sealing.open(object)).toBeUndefined())

  it('is opened with any key of the ring, and sealed with the first', () => {
    const both = createSealing([...others, ...keys])
    const object = secret({ a: 'YQ==' })
    expect(both.keyId).toBe('other')
    expect(both.open(sealing.seal(object))).toEqual(object)
    expect(sealing.open(both.seal(object))).toBeUndefined()
    expect(both.seal(object)['data']).toMatch(/^sealed:other:/)
  })
})

/** How many bytes a text of JSON of so many takes when it is sealed: vector, mark and proof, and it. */
it.each([
  [100, 129],
  [49_999, 50_028],
])('values of %d letters take %d bytes', (letters, bytes) => {
  const object = secret({ a: 'x'.repeat(letters - '{"a":""}'.length) })
  const base64 = String(sealing.seal(object)['data']).split(':')[2] ?? ''
  expect(Buffer.from(base64, 'base64')).toHaveLength(bytes)
})

it('values of 50,000 letters and more take fewer bytes than letters', () => {
  const object = secret({ a: 'xy'.repeat(24_996) })
  expect(JSON.stringify(object['data'])).toHaveLength(50_000)
  expect(String(sealing.seal(object)['data']).length).toBeLessThan(40_000)
})

it.each([
  ['v1', 'Secret', true],
  ['v1', 'ConfigMap', false],
  ['example.com/v1', 'Secret', false],
])('%s %s is a Secret: %s', (apiVersion, kind, is) => {
  const stored = { object: { ...secret({ a: 'YQ==' }), apiVersion, kind }, engine: {} }
  expect(isSecret(stored.object)).toBe(is)
  expect(sealing.seal(stored.object) === stored.object).toBe(!is)
  const sealed = sealStored(sealing, stored)
  expect(openStored(sealing, sealed)).toEqual(stored)
  expect(openStored(sealing, sealed) === sealed).toBe(!is)
  expect(openStored(createSealing(others), sealed)).toEqual(is ? undefined : stored)
})

it('what is no Secret is left as it is, whatever it holds', () => {
  const map = { ...secret('sealed:now:AAAA'), kind: 'ConfigMap' }
  expect(sealing.open(map)).toBe(map)
})

it.each<[unknown, string | undefined, string | undefined, boolean]>([
  ['sealed:now:x', undefined, undefined, true],
  ['sealed:now:x', undefined, 'now', true],
  ['sealed:now:x', undefined, 'other', false],
  ['sealed:now:x', 'sealed:now:x', 'now', true],
  ['sealed:now:x', 'sealed:other:x', 'now', false],
  ['sealed:now:x', inClear, undefined, false],
  [undefined, 'sealed:now:x', 'now', true],
  [undefined, inClear, undefined, false],
  [{ a: 'YQ==' }, 'sealed:now:x', undefined, false],
  ['text', undefined, undefined, false],
])('data %j, applied %j: sealed with %s is %s', (data, annotation, keyId, is) => {
  expect(isSealed(secret(data, annotation === undefined ? {} : annotated(annotation)), keyId)).toBe(is)
})
