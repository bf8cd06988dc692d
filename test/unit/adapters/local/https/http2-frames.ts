/** Frames of HTTP/2, byte by byte (RFC 9113 section 4.1). */
export function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

export function settings(): Buffer {
  return frame(4, 0, 0, Buffer.alloc(0))
}

/** What a client begins with. */
export const preface = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), settings()])

/** By the static table: GET https / of x (RFC 7541 appendix A). */
export const fields = Buffer.from([0x82, 0x87, 0x84, 0x41, 1, 0x78])
