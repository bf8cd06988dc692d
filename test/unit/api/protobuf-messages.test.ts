import { describe, expect, it } from 'vitest'
import type { Json } from '../../../shared/model/json.ts'
import { decodeMessage, type FieldType, type Message } from '../../../shared/api/protobuf/wire.ts'
import { field, varint } from './protobuf-bytes.ts'

const refused = expect.objectContaining({ code: 'BAD_REQUEST', message: 'the body is not a protobuf message' })

/** What a message of one field, number 1, holds. */
function decode(type: FieldType, bytes: readonly number[]): Json | undefined {
  return decodeMessage(Uint8Array.from(bytes), { fields: { 1: { name: 'it', type } } })['it']
}

/** Field 1 of this wire type. */
const wire = (wireType: number, ...bytes: readonly number[]): readonly number[] => [8 + wireType, ...bytes]

const seventhBits = (count: number, last: number): readonly number[] => [
  ...Array.from({ length: count }, () => 0xff),
  last,
]

describe('a number of protobuf', () => {
  it.each<readonly [string, readonly number[], number]>([
    ['one byte', [0x7f], 127],
    ['two bytes', [0x80, 0x01], 128],
    ['eight bytes', seventhBits(7, 0x0f), 2 ** 53 - 1],
    ['ten bytes, of which the last says minus', seventhBits(9, 0x01), -1],
  ])('of %s', (_, bytes, wanted) => {
    expect(decode('int', wire(0, ...bytes))).toBe(wanted)
  })

  it.each<readonly [string, FieldType, readonly number[]]>([
    ['that ends in the middle', 'int', wire(0, 0x80)],
    ['of which there is nothing', 'int', wire(0)],
    ['with more than 64 bits', 'int', wire(0, ...seventhBits(9, 0x02))],
    ['of eleven bytes', 'int', wire(0, ...seventhBits(9, 0x80), 0)],
    ['that is bytes', 'int', wire(2, 1, 5)],
    ['in the place of a text', 'string', wire(0, 1)],
    ['of a wire type that there is not', 'int', wire(3, 1)],
    ['with a fraction of seven bytes', 'double', field(1, [0, 0, 0, 0, 0, 0, 0])],
    ['with a fraction of nine bytes', 'double', field(1, [0, 0, 0, 0, 0, 0, 0, 0, 0])],
    ['that is infinite', 'double', wire(1, 0, 0, 0, 0, 0, 0, 0xf0, 0x7f)],
    ['that is none', 'double', wire(1, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f)],
    ['of four bytes that are three', 'double', wire(5, 0, 0, 0)],
  ])('%s is refused', (_, type, bytes) => {
    expect(() => decode(type, bytes)).toThrow(refused)
  })

  it.each([
    ['eight bytes', seventhBits(7, 0x10)],
    ['nine bytes', seventhBits(8, 0x7f)],
  ])('of %s is refused if it cannot be kept exactly', (_, bytes) => {
    expect(() => decode('int', wire(0, ...bytes))).toThrow('has a number that cannot be kept exactly')
  })

  it('with a fraction may be anywhere in a body', () => {
    const message: Message = { fields: { 1: { name: 'text', type: 'string' }, 2: { name: 'it', type: 'double' } } }
    const bytes = [...field(1, 'abc'), 17, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f]
    expect(decodeMessage(Uint8Array.from(bytes), message)).toEqual({ text: 'abc', it: 1.5 })
  })
})

describe('a time of protobuf', () => {
  const moment = (seconds: number, nanos?: number): readonly number[] =>
    field(1, [8, ...varint(seconds), ...(nanos === undefined ? [] : [16, ...varint(nanos)])])
  const minus = [16, ...seventhBits(9, 0x01)]

  it.each<readonly [string, readonly number[], Json | undefined]>([
    ['the first second there is', moment(1), '1970-01-01T00:00:01Z'],
    ['the last second of the year 9999', moment(253_402_300_799), '9999-12-31T23:59:59Z'],
    ['the year 10000', moment(253_402_300_800), undefined],
    ['the zero time', field(1, []), undefined],
  ])('%s', (_, bytes, wanted) => {
    expect(decode('time', bytes)).toBe(wanted)
  })

  it.each<readonly [string, readonly number[], Json]>([
    ['no nanoseconds', moment(1), '1970-01-01T00:00:01.000000Z'],
    ['less than a microsecond', moment(1, 999), '1970-01-01T00:00:01.000000Z'],
    ['microseconds', moment(1, 2_003_999), '1970-01-01T00:00:01.002003Z'],
    ['the most nanoseconds there can be', moment(1, 999_999_999), '1970-01-01T00:00:01.999999Z'],
    ['a whole second of nanoseconds, which are none', moment(1, 1e9), '1970-01-01T00:00:01.000000Z'],
    ['nanoseconds below zero, which are none', field(1, [8, 1, ...minus]), '1970-01-01T00:00:01.000000Z'],
  ])('to the microsecond, with %s', (_, bytes, wanted) => {
    expect(decode('microTime', bytes)).toBe(wanted)
  })
})

describe('what bounds a body of protobuf', () => {
  const nested: { fields: Record<number, { name: string; type: FieldType }> } = { fields: {} }
  nested.fields[1] = { name: 'in', type: nested }
  const levels = (count: number): readonly number[] => (count === 0 ? [] : field(1, levels(count - 1)))

  it('a message lies within at most two hundred others', () => {
    expect(() => decodeMessage(Uint8Array.from(levels(200)), nested)).not.toThrow()
    expect(() => decodeMessage(Uint8Array.from(levels(201)), nested)).toThrow(
      expect.objectContaining({ code: 'BAD_REQUEST', message: 'the body is nested more than 200 messages deep' }),
    )
  })

  it('a body has at most 80,000 fields, known or not', () => {
    const fields = (count: number): Uint8Array => new Uint8Array(2 * count).fill(0x10)
    expect(() => decodeMessage(fields(80_000), { fields: {} })).not.toThrow()
    expect(() => decodeMessage(fields(80_001), { fields: {} })).toThrow(expect.objectContaining({ code: 'TOO_LARGE' }))
  })

  it('messages side by side are not deeper than one', () => {
    const many = Array.from({ length: 300 }, () => field(1, [])).flat()
    expect(() => decodeMessage(Uint8Array.from(many), nested)).not.toThrow()
  })
})

it.each<readonly [string, FieldType, readonly number[], Json]>([
  ['a text', { map: 'string' }, [], ''],
  ['an amount', { map: 'quantity' }, [], ''],
  ['a list', { map: { fields: {}, as: () => [] } }, [], []],
  ['an object', { map: { fields: {} } }, [], {}],
])('an entry of a map without a value is empty: %s', (_, type, value, wanted) => {
  expect(decode(type, field(1, [...field(1, 'key'), ...value]))).toEqual({ key: wanted })
})
