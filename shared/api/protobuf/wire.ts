import { bytesToBase64 } from '../../model/base64.ts'
import { parseJson } from '../../model/parse-json.ts'
import { OperatingError } from '../../model/errors.ts'
import type { Json, JsonObject } from '../../model/json.ts'
import { checkDepth } from '../body-depth.ts'
import { refuseInexact } from '../exact-numbers.ts'
import { makeWellFormed } from '../well-formed.ts'
import { formatOrderedTimestamp, timestamp } from '../../model/time.ts'

/**
 * Protocol buffers, wire format to JSON, by a table of fields. Kubernetes' mapping: 64-bit integers are numbers, bytes
 * are base64, `Time` and `MicroTime` are text, `FieldsV1` is the JSON it holds. Fields that the table does not name are
 * skipped, as protobuf asks.
 */
export type FieldType = Scalar | Message | { readonly map: MapEntry }

type MapEntry = 'string' | 'bytes' | 'quantity' | Message

type Scalar = 'string' | 'bytes' | 'bool' | 'int' | 'double' | 'time' | 'microTime' | 'json'

export interface Message {
  /** By field number. */
  readonly fields: { readonly [number: number]: Field }
  /** What stands for it in JSON, where that is not the object of its fields. */
  readonly as?: (decoded: JsonObject) => Json
}

export interface Field {
  readonly name: string
  readonly type: FieldType
  readonly repeated?: true
  /** A pointer in Go, which says by its absence that nothing is given: a zero that is sent is meant. */
  readonly pointer?: true
}

/** One message. Throws BAD_REQUEST for bytes that are none, TOO_LARGE for too many fields. */
export function decodeMessage(
  bytes: Uint8Array,
  message: Message,
  within: Decoding = { depth: 0, fields: 0 },
): JsonObject {
  if (within.depth > depthMax)
    throw new OperatingError('BAD_REQUEST', `the body is nested more than ${depthMax} messages deep`)
  const decoded: JsonObject = {}
  const { fields } = message
  within.depth++
  for (const { number, value } of wireFields(bytes)) {
    if (++within.fields > fieldsMax)
      throw new OperatingError('TOO_LARGE', `the body has more than ${fieldsMax} fields of protobuf; send it as JSON`)
    const field = fields[number]
    if (field !== undefined) place(decoded, field, value, within)
  }
  within.depth--
  return decoded
}

/** How deep one body is nested where it is read, and how many fields of it have been read. */
interface Decoding {
  depth: number
  fields: number
}

/** Schemas hold schemas; a level of a schema takes two or three messages. */
const depthMax = 200
/** A field may take two bytes and is much work all the same. No object that a store would keep has so many. */
const fieldsMax = 80_000

/** The bytes of one field of a message, undecoded; none if it is not there. Throws BAD_REQUEST. */
export function fieldBytes(bytes: Uint8Array, wanted: number): Uint8Array {
  let found: Uint8Array = new Uint8Array()
  for (const { number, value } of wireFields(bytes)) if (number === wanted) found = requireBytes(value)
  return found
}

/** A varint as a number, everything else as its bytes. */
type WireValue = number | Uint8Array

function place(
  decoded: JsonObject,
  { name, type, repeated, pointer }: Field,
  value: WireValue,
  within: Decoding,
): void {
  if (typeof type === 'object' && 'map' in type) {
    const entries = (decoded[name] ??= {}) as JsonObject
    const { key, entry } = mapEntry(value, type.map, within)
    entries[key] = entry
  } else if (repeated === true) {
    const items = (decoded[name] ??= []) as Json[]
    items.push(fieldValue(type, value, within))
  } else {
    const decodedValue = fieldValue(type, value, within)
    if (pointer === true || !isZero(decodedValue)) decoded[name] = decodedValue
  }
}

/** Go writes every field, given or not: its zero value stands for absent. */
function isZero(value: Json): boolean {
  return value === '' || value === 0 || value === false || value === null
}

function fieldValue(type: Exclude<FieldType, { map: unknown }>, value: WireValue, within: Decoding): Json {
  if (type === 'bool' || type === 'int') return type === 'bool' ? varint(value) !== 0 : exact(varint(value))
  const bytes = requireBytes(value)
  if (type === 'string') return utf8.decode(bytes)
  if (type === 'bytes') return bytesToBase64(bytes)
  if (type === 'time') return time(bytes, within)
  if (type === 'microTime') return microTime(bytes, within)
  if (type === 'json') return json(fieldBytes(bytes, 1))
  if (type === 'double') return double(bytes)
  const decoded = decodeMessage(bytes, type, within)
  return type.as === undefined ? decoded : type.as(decoded)
}

function mapEntry(value: WireValue, map: MapEntry, within: Decoding): { readonly key: string; readonly entry: Json } {
  const type = map === 'quantity' ? quantity : map
  const fields: Message['fields'] = { 1: { name: 'key', type: 'string' }, 2: { name: 'entry', type } }
  const { key = '', entry = typeof map === 'object' ? (map.as?.({}) ?? {}) : '' } = decodeMessage(
    requireBytes(value),
    { fields },
    within,
  )
  if (key === '__proto__') throw new OperatingError('BAD_REQUEST', 'a field cannot be called __proto__')
  return { key: key as string, entry }
}

/** A text of its own. */
const quantity: Message = { fields: { 1: { name: 'text', type: 'string' } }, as: ({ text = '' }) => text }

const timeMessage: Message = { fields: { 1: { name: 'seconds', type: 'int' }, 2: { name: 'nanos', type: 'int' } } }

function time(bytes: Uint8Array, within: Decoding): Json {
  const moment = momentOf(bytes, within)
  return moment === undefined ? null : timestamp(moment.seconds * 1_000)
}

function microTime(bytes: Uint8Array, within: Decoding): Json {
  const moment = momentOf(bytes, within)
  if (moment === undefined) return null
  const micros = Math.floor(moment.nanos / 1_000)
  return formatOrderedTimestamp(moment.seconds * 1_000 + Math.floor(micros / 1_000), micros % 1_000)
}

interface Moment {
  readonly seconds: number
  readonly nanos: number
}

/** The zero time is an empty message: it stands for no time, as does one that no calendar has. */
function momentOf(bytes: Uint8Array, within: Decoding): Moment | undefined {
  const { seconds = 0, nanos = 0 } = decodeMessage(bytes, timeMessage, within)
  if (typeof seconds !== 'number' || seconds <= 0 || seconds >= yearTenThousand) return undefined
  return { seconds, nanos: typeof nanos === 'number' && nanos > 0 && nanos < 1e9 ? nanos : 0 }
}

function json(bytes: Uint8Array): Json {
  const text = utf8.decode(bytes)
  const value = checkDepth(parseField(text))
  refuseInexact(text)
  return makeWellFormed(value, text)
}

function parseField(text: string): unknown {
  try {
    return parseJson(text)
  } catch (cause) {
    throw new OperatingError('BAD_REQUEST', 'the body has a field that should hold JSON', { cause })
  }
}

const yearTenThousand = 253_402_300_800

function* wireFields(bytes: Uint8Array): Generator<{ readonly number: number; readonly value: WireValue }> {
  const reader = { bytes, at: 0 }
  while (reader.at < bytes.length) {
    const tag = readVarint(reader)
    yield { number: Math.floor(tag / 8), value: readValue(reader, tag & 7) }
  }
}

interface Reader {
  readonly bytes: Uint8Array
  at: number
}

function readValue(reader: Reader, wireType: number): WireValue {
  switch (wireType) {
    case 0:
      return readVarint(reader)
    case 1:
      return readBytes(reader, 8)
    case 2:
      return readBytes(reader, readVarint(reader))
    case 5:
      return readBytes(reader, 4)
    default:
      throw protobufRefusal()
  }
}

/** Up to ten bytes, seven bits each. A negative number has all ten: it is one less than minus what its bits are not. */
function readVarint(reader: Reader): number {
  let [value, complement] = [0, 0]
  for (let shift = 0; shift < 70; shift += 7) {
    const byte = reader.bytes[reader.at++]
    if (byte === undefined) throw protobufRefusal()
    if (shift === 63) {
      if (byte > 1) throw protobufRefusal()
      return byte === 1 ? -complement - 1 : value
    }
    value += (byte & 0x7f) * 2 ** shift
    complement += (~byte & 0x7f) * 2 ** shift
    if (byte < 0x80) return value
  }
  throw protobufRefusal()
}

function readBytes(reader: Reader, length: number): Uint8Array {
  const end = reader.at + length
  if (length < 0 || end > reader.bytes.length) throw protobufRefusal()
  const bytes = reader.bytes.subarray(reader.at, end)
  reader.at = end
  return bytes
}

function varint(value: WireValue): number {
  if (typeof value !== 'number') throw protobufRefusal()
  return value
}

/** As a number in JSON: see `refuseInexact`. */
function exact(value: number): number {
  if (Number.isSafeInteger(value)) return value
  throw new OperatingError('BAD_REQUEST', 'the body has a number that cannot be kept exactly')
}

function requireBytes(value: WireValue): Uint8Array {
  if (typeof value === 'number') throw protobufRefusal()
  return value
}

function protobufRefusal(): OperatingError {
  return new OperatingError('BAD_REQUEST', 'the body is not a protobuf message')
}

/** Texts may begin with a mark of the order of bytes, as files of Windows do: it is theirs. */
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** Infinity and what is no number cannot be said in JSON. */
function double(bytes: Uint8Array): number {
  if (bytes.length !== 8) throw protobufRefusal()
  const value = new DataView(bytes.buffer, bytes.byteOffset, 8).getFloat64(0, true)
  if (!Number.isFinite(value)) throw protobufRefusal()
  return value
}
