/** What a server sends over a websocket: frames without a mask (RFC 6455 section 5). */

export const opcode = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

const isLast = 0x80
const newLine = 10
const encoder = new TextEncoder()

/** Each line as one message of text, one behind the other, without its end. */
export function textFrames(lines: string): Uint8Array {
  const bytes = encoder.encode(lines)
  const ends: number[] = []
  let total = 0
  for (let from = 0, end = bytes.indexOf(newLine); end >= 0; from = end + 1, end = bytes.indexOf(newLine, from)) {
    ends.push(end)
    total += headLength(end - from) + end - from
  }
  const frames = new Uint8Array(total)
  let from = 0
  let at = 0
  for (const end of ends) {
    at = writeHead(frames, at, end - from)
    frames.set(bytes.subarray(from, end), at)
    at += end - from
    from = end + 1
  }
  return frames
}

function headLength(length: number): number {
  return length < 126 ? 2 : length < 65_536 ? 4 : 10
}

/** Returns where the message begins. */
function writeHead(frames: Uint8Array, at: number, length: number): number {
  const size = headLength(length)
  frames[at] = isLast | opcode.text
  frames[at + 1] = size === 2 ? length : size === 4 ? 126 : 127
  for (let i = at + size - 1, left = length; size > 2 && i > at + 1; i--, left = Math.floor(left / 256))
    frames[i] = left % 256
  return at + size
}

/** A frame of the protocol itself, with up to 125 bytes. */
export function controlFrame(code: number, payload: Uint8Array = nothing): Uint8Array {
  return Uint8Array.of(isLast | code, payload.length, ...payload)
}

const nothing = new Uint8Array(0)

/** Without a status the client gave none. */
export function closeFrame(status: number | undefined): Uint8Array {
  return controlFrame(opcode.close, status === undefined ? nothing : Uint8Array.of(status >> 8, status & 0xff))
}

/** Why a websocket ends (RFC 6455 section 7.4.1). */
export const closeStatus = {
  normal: 1000,
  goingAway: 1001,
  protocolError: 1002,
  noText: 1007,
  policy: 1008,
  tooBig: 1009,
} as const
