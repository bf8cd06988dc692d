/** Protobuf as a client would send it. */

export function varint(value: number): readonly number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))]
}

/** A field that holds text, bytes, or a message. */
export function field(number: number, content: string | readonly number[]): number[] {
  const bytes = typeof content === 'string' ? [...new TextEncoder().encode(content)] : content
  return varint(number * 8 + 2).concat(varint(bytes.length), bytes)
}

/** Kubernetes' envelope around a message. */
export function enveloped(kind: string, message: readonly number[], apiVersion = 'v1'): Uint8Array {
  const typeMeta = field(1, [...field(1, apiVersion), ...field(2, kind)])
  return Uint8Array.from([0x6b, 0x38, 0x73, 0].concat(typeMeta, field(2, message)))
}
