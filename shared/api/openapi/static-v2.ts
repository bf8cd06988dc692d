/**
 * `/openapi/v2` in protobuf: a document of no paths. kubectl asks for it before it takes a file with a `List` or with a
 * kind it has not met; finding nothing, it leaves validation to the server. What matters is in v3, and in v2 in JSON.
 */

/** The media type that kubectl's Go reads: with a dot where its Accept has an `@`. */
export const openApiV2ProtobufType = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'

/** `openapi.v2.Document { swagger: "2.0", info { title, version }, paths {} }`. */
export function openApiV2Protobuf(setpoint: string): Uint8Array {
  const info = [...field(1, 'Setpoint'), ...field(2, setpoint)]
  return Uint8Array.from([...field(1, '2.0'), ...field(2, info), ...field(8, [])])
}

/** A field of protobuf's wire type 2; all of ours are shorter than 128 bytes. */
function field(number: number, content: string | readonly number[]): readonly number[] {
  const bytes = typeof content === 'string' ? [...new TextEncoder().encode(content)] : content
  return [number * 8 + 2, bytes.length, ...bytes]
}
