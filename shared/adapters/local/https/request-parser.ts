import { isTrailerLine, parseRequestHead, type RequestRefusal, type RequestHead } from './request-head.ts'

/** What has been read of a stream of requests. The pieces of a body are views of the bytes that were pushed. */
export type RequestEvent =
  | { readonly type: 'head'; readonly head: RequestHead }
  | { readonly type: 'data'; readonly bytes: Buffer }
  | { readonly type: 'end' }
  | { readonly type: 'refused'; readonly refusal: RequestRefusal }

/**
 * Requests out of the bytes of a connection (RFC 9112), in turn: head, data, end, head … However the bytes are cut
 * into pieces, the requests are the same. It reads only when it is asked, so that nobody gets a request before the
 * one ahead is answered.
 */
export interface RequestParser {
  push(bytes: Buffer): void
  /** The next event; `undefined` until there are more bytes. A refusal is the last one, and stays. */
  next(): RequestEvent | undefined
  /** Takes what was pushed and not read out of its hands: it is no request. */
  takeRest(): Buffer
  /** Bytes that were pushed and not read. */
  readonly waiting: number
}

export interface ParserLimits {
  /** Of request line and fields with all their line ends, and of the fields behind a chunked body. */
  readonly headBytesMax: number
  /** Of the line that a chunk begins with. */
  readonly chunkLineBytesMax: number
}

/** 16 KiB as Node's own server. Nobody sends extensions of chunks but to test for holes. */
export const defaultLimits: ParserLimits = { headBytesMax: 16_384, chunkLineBytesMax: 1_024 }

type State =
  | { readonly at: 'head'; readonly scanned: number }
  | { readonly at: 'body'; readonly left: number }
  | { readonly at: 'chunkLine' }
  | { readonly at: 'chunk'; readonly left: number }
  | { readonly at: 'chunkEnd' }
  | { readonly at: 'trailers'; readonly left: number }
  | { readonly at: 'end' }
  | { readonly at: 'refused'; readonly refusal: RequestRefusal }

interface Reading {
  bytes: Buffer
  state: State
  readonly limits: ParserLimits
}

export function createRequestParser(limits: ParserLimits = defaultLimits): RequestParser {
  const reading: Reading = { bytes: nothing, state: headState, limits }
  return {
    push: (bytes) => {
      if (reading.state.at === 'refused') return
      reading.bytes = reading.bytes.length === 0 ? bytes : Buffer.concat([reading.bytes, bytes])
    },
    next: () => {
      for (;;) {
        const before = reading.state
        const event = readers[before.at](reading, before as never)
        if (event !== undefined || reading.state === before) return event
      }
    },
    takeRest: () => {
      const { bytes } = reading
      drop(reading, bytes.length)
      return bytes
    },
    get waiting() {
      return reading.bytes.length
    },
  }
}

const nothing = Buffer.alloc(0)
const headState: State = { at: 'head', scanned: 0 }
const chunkLineState: State = { at: 'chunkLine' }
const chunkEndState: State = { at: 'chunkEnd' }
const endState: State = { at: 'end' }
const endEvent: RequestEvent = { type: 'end' }

type Reader<At extends State['at']> = (reading: Reading, state: Extract<State, { at: At }>) => RequestEvent | undefined

/** Each reads on from one state: an event, another state, or neither if there are too few bytes. */
const readers: { readonly [At in State['at']]: Reader<At> } = {
  head: readHead,
  body: (reading, { left }) => readData(reading, left, (rest) => (rest === 0 ? endState : { at: 'body', left: rest })),
  chunkLine: readChunkLine,
  chunk: (reading, { left }) =>
    readData(reading, left, (rest) => (rest === 0 ? chunkEndState : { at: 'chunk', left: rest })),
  chunkEnd: readChunkEnd,
  trailers: readTrailer,
  end: (reading) => {
    reading.state = headState
    return endEvent
  },
  refused: (_, { refusal }) => ({ type: 'refused', refusal }),
}

function readHead(reading: Reading, { scanned }: { readonly scanned: number }): RequestEvent | undefined {
  const { limits } = reading
  if (scanned === 0 && !skipEmptyLines(reading)) return undefined
  const { bytes } = reading
  const end = bytes.indexOf('\r\n\r\n', Math.max(scanned - 3, 0), 'latin1')
  const isWithin = end < 0 ? bytes.length <= limits.headBytesMax : end + 4 <= limits.headBytesMax
  if (end < 0 || !isWithin) {
    if (hasBareLineFeed(bytes, scanned, limits.headBytesMax + 1)) return refuse(reading, 400)
    if (!isWithin) return refuse(reading, 431)
    if (bytes.length > scanned) reading.state = { at: 'head', scanned: bytes.length }
    return undefined
  }
  const head = parseRequestHead(bytes.toString('latin1', 0, end))
  if ('status' in head) return refuse(reading, head.status)
  drop(reading, end + 4)
  reading.state = bodyState(head)
  return { type: 'head', head }
}

function bodyState({ body }: RequestHead): State {
  if (body === 'chunked') return chunkLineState
  return body === 0 ? endState : { at: 'body', left: body }
}

/**
 * RFC 9112 section 2.2: those ahead of a request line are of a client that ended its last body with one. False if
 * there may be more.
 */
function skipEmptyLines(reading: Reading): boolean {
  const { bytes } = reading
  let at = 0
  while (bytes[at] === 13 && bytes[at + 1] === 10) at += 2
  if (at > 0) drop(reading, at)
  const isCut = reading.bytes.length === 1 && reading.bytes[0] === 13
  return reading.bytes.length > 0 && !isCut
}

/** Told before the head is whole: whoever ends lines with it may wait for an answer. */
function hasBareLineFeed(bytes: Buffer, from: number, to: number): boolean {
  for (let at = bytes.indexOf(10, from); at >= 0 && at < to; at = bytes.indexOf(10, at + 1))
    if (bytes[at - 1] !== 13) return true
  return false
}

function readData(reading: Reading, left: number, stateOf: (left: number) => State): RequestEvent | undefined {
  if (reading.bytes.length === 0) return undefined
  const bytes = reading.bytes.subarray(0, left)
  drop(reading, bytes.length)
  reading.state = stateOf(left - bytes.length)
  return { type: 'data', bytes }
}

function readChunkLine(reading: Reading): RequestEvent | undefined {
  const line = takeLine(reading, reading.limits.chunkLineBytesMax)
  if (line === undefined) return undefined
  if (line === tooLong) return refuse(reading, 413)
  const size = chunkLine.exec(line)?.[1]
  if (size === undefined) return refuse(reading, 400)
  const left = Number.parseInt(size, 16)
  reading.state = left === 0 ? { at: 'trailers', left: reading.limits.headBytesMax } : { at: 'chunk', left }
  return undefined
}

/** RFC 9112 section 7.1: a size, and extensions, which mean nothing here. As many digits as a number holds exactly. */
const chunkLine =
  /^0*([0-9A-Fa-f]{1,13})(?:;[!#$%&'*+\-.^_`|~\w]+(?:=(?:[!#$%&'*+\-.^_`|~\w]+|"(?:[\t !#-[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*"))?)*$/

function readChunkEnd(reading: Reading): RequestEvent | undefined {
  const { bytes } = reading
  if (bytes.length > 0 && bytes[0] !== 13) return refuse(reading, 400)
  if (bytes.length < 2) return undefined
  if (bytes[1] !== 10) return refuse(reading, 400)
  drop(reading, 2)
  reading.state = chunkLineState
  return undefined
}

function readTrailer(reading: Reading, { left }: { readonly left: number }): RequestEvent | undefined {
  const line = takeLine(reading, left)
  if (line === undefined) return undefined
  if (line === tooLong) return refuse(reading, 431)
  if (line === '') reading.state = endState
  else if (isTrailerLine(line)) reading.state = { at: 'trailers', left: left - line.length - 2 }
  else return refuse(reading, 400)
  return undefined
}

/**
 * A line without its end; `undefined` until it has one. What ends with a bare LF is given with it, so that it fits
 * nothing.
 */
function takeLine(reading: Reading, bytesMax: number): string | typeof tooLong | undefined {
  const { bytes } = reading
  const end = bytes.indexOf(10)
  if ((end < 0 ? bytes.length : end) >= bytesMax) return tooLong
  if (end < 0) return undefined
  drop(reading, end + 1)
  return bytes.toString('latin1', 0, bytes[end - 1] === 13 ? end - 1 : end + 1)
}

const tooLong = Symbol('too long')

function drop(reading: Reading, count: number): void {
  reading.bytes = count === reading.bytes.length ? nothing : reading.bytes.subarray(count)
}

function refuse(reading: Reading, status: RequestRefusal['status']): RequestEvent {
  const refusal = { status }
  reading.bytes = nothing
  reading.state = { at: 'refused', refusal }
  return { type: 'refused', refusal }
}
