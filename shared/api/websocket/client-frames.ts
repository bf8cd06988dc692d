import { closeStatus, opcode } from './server-frames.ts'

/** What a client says that is only to be heard; what else it sends is dropped as it comes, and never kept. */
export interface Heard {
  onPing(payload: Uint8Array): void
  /** The last word. With the status that the client gave, or the one of what it did wrong. */
  onEnd(status: number | undefined): void
}

/**
 * Reads the frames of a client, however they are cut into pieces (RFC 6455 section 5). It keeps a head and the payload
 * of a control frame: 139 bytes at most.
 */
export function createClientFrames(heard: Heard): (bytes: Uint8Array) => void {
  const reading: Reading = {
    head: new Uint8Array(14),
    length: 0,
    frame: undefined,
    payload: nothing,
    left: 0,
    sent: -1,
  }
  let isOver = false
  const end = (status: number | undefined): void => {
    isOver = true
    heard.onEnd(status)
  }
  return (bytes) => {
    for (let at = 0; at < bytes.length && !isOver;) {
      if (reading.frame === undefined) {
        reading.head[reading.length++] = bytes[at++] ?? 0
        const frame = headOf(reading)
        if (typeof frame === 'number') return end(frame)
        if (frame === undefined) continue
        const fault = begin(reading, frame)
        if (fault !== undefined) return end(fault)
      } else at += take(reading, bytes.subarray(at, at + reading.left))
      const { frame, left, payload } = reading
      if (frame === undefined || left > 0) continue
      reading.frame = undefined
      if (frame.code === opcode.ping) heard.onPing(payload)
      else if (frame.code === opcode.close) end(statusOf(payload))
    }
  }
}

interface Frame {
  readonly code: number
  readonly isLast: boolean
  readonly length: number
  /** Where the mask stands in the head. */
  readonly maskAt: number
}

interface Reading {
  readonly head: Uint8Array
  /** Of the head, as far as it has come. */
  length: number
  /** Whose payload comes now. */
  frame: Frame | undefined
  /** Of a control frame, without its mask. */
  payload: Uint8Array
  /** Bytes of the payload that have not come. */
  left: number
  /** Bytes of the message that is not whole yet; -1 between messages. */
  sent: number
}

const nothing = new Uint8Array(0)
/** A watch wants no messages. A client that sends a long one has taken it for something else. */
const messageBytesMax = 65_536
const controlBytesMax = 125

/** The frame that a head announces, `undefined` until it is whole; the status to end with for one that is none. */
function headOf({ head, length, sent }: Reading): Frame | number | undefined {
  const [first = 0, second = 0] = head
  if (length < 2) return undefined
  const code = first & 0x0f
  const isMasked = second >= 0x80
  if ((first & 0x70) !== 0 || !isMasked || !known.has(code)) return closeStatus.protocolError
  const size = second & 0x7f
  const isLast = first >= 0x80
  if (code >= opcode.close && (!isLast || size > controlBytesMax)) return closeStatus.protocolError
  if (code < opcode.close && (code === opcode.continuation) !== sent >= 0) return closeStatus.protocolError
  const maskAt = size < 126 ? 2 : size === 126 ? 4 : 10
  if (length < maskAt + 4) return undefined
  let long = 0
  for (let i = 2; i < maskAt; i++) long = long * 256 + (head[i] ?? 0)
  return { code, isLast, length: size < 126 ? size : long, maskAt }
}

const known: ReadonlySet<number> = new Set(Object.values(opcode))

/** Begins with the payload; the status to end with if there must be none. */
function begin(reading: Reading, frame: Frame): number | undefined {
  const { code, isLast, length } = frame
  reading.length = 0
  reading.frame = frame
  reading.left = length
  reading.payload = code < opcode.close ? nothing : new Uint8Array(length)
  if (code >= opcode.close) return undefined
  const sent = (code === opcode.continuation ? reading.sent : 0) + length
  reading.sent = isLast ? -1 : sent
  return sent > messageBytesMax ? closeStatus.tooBig : undefined
}

/** Takes bytes of the payload; says how many. */
function take(reading: Reading, bytes: Uint8Array): number {
  const { head, frame, payload } = reading
  const from = payload.length - reading.left
  if (frame !== undefined && payload.length > 0)
    for (const [i, byte] of bytes.entries()) payload[from + i] = byte ^ (head[frame.maskAt + ((from + i) % 4)] ?? 0)
  reading.left -= bytes.length
  return bytes.length
}

/** What to answer to the client's close (RFC 6455 sections 5.5.1 and 7.4). */
function statusOf(payload: Uint8Array): number | undefined {
  if (payload.length === 0) return undefined
  const status = (payload[0] ?? 0) * 256 + (payload[1] ?? 0)
  const isGiven = (status >= 1000 && status <= 1014 && !reserved.has(status)) || (status >= 3000 && status <= 4999)
  if (payload.length === 1 || !isGiven) return closeStatus.protocolError
  return isText(payload.subarray(2)) ? status : closeStatus.noText
}

/** Never sent, but for what was not. */
const reserved: ReadonlySet<number> = new Set([1004, 1005, 1006])

function isText(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}
