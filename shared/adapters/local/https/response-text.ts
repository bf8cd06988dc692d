import { STATUS_CODES } from 'node:http'
import type { HttpResponse } from '../../../ports/http-handler.ts'

/** What goes over the wire ahead of a response's body, and around the pieces of a stream. */

export interface ResponseFraming {
  /**
   * In bytes; `chunked` for a stream, `untilClose` for one to a client of HTTP/1.0; undefined where no body may
   * follow.
   */
  readonly body: number | 'chunked' | 'untilClose' | undefined
  /** As `dateText` gives it. */
  readonly date: string
  /** For how long an idle connection stays open; undefined if it ends with this response. */
  readonly idleSeconds: number | undefined
}

/**
 * Status line and fields with the empty line behind them. Throws TypeError for a value that would break out of its
 * line.
 */
export function headText({ status, headers }: HttpResponse, { body, date, idleSeconds }: ResponseFraming): string {
  let text = statusLine(status)
  for (const name in headers) {
    const value = headers[name] ?? ''
    if (unsendable.test(value)) throw new TypeError(`the header ${name} holds a character that no header may hold`)
    text += `${name}: ${value}\r\n`
  }
  const connection = status === 101 ? upgradeFields : connectionFields(idleSeconds)
  return `${text}date: ${date}\r\n${connection}${lengthField(body)}\r\n`
}

const unsendable = /[^\t -~\x80-\xff]/

/** The whole answer to what is no request. */
export function refusalText(status: number): string {
  return `${statusLine(status)}connection: close\r\n\r\n`
}

export const continueText = 'HTTP/1.1 100 Continue\r\n\r\n'

function statusLine(status: number): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`
}

const upgradeFields = 'upgrade: websocket\r\nconnection: Upgrade\r\n'

/** The second field is a hint that Node's clients follow: they leave an idle connection before we end it. */
function connectionFields(idleSeconds: number | undefined): string {
  return idleSeconds === undefined
    ? 'connection: close\r\n'
    : `connection: keep-alive\r\nkeep-alive: timeout=${idleSeconds}\r\n`
}

function lengthField(body: ResponseFraming['body']): string {
  if (body === 'chunked') return 'transfer-encoding: chunked\r\n'
  return typeof body === 'number' ? `content-length: ${body}\r\n` : ''
}

/** RFC 9110 section 5.6.7. */
export function dateText(nowMs: number): string {
  return new Date(nowMs).toUTCString()
}

/** Text with its length in bytes and the cheapest encoding that gives it: ASCII is the same bytes in Latin-1. */
export interface SizedText {
  readonly bytes: number
  readonly encoding: 'latin1' | 'utf8'
}

export function sizeOf(text: string): SizedText {
  const bytes = Buffer.byteLength(text)
  return { bytes, encoding: bytes === text.length ? 'latin1' : 'utf8' }
}

/** A piece of a chunked body that is not empty: an empty one would end it. */
export function chunkText(piece: string, bytes: number): string {
  return `${bytes.toString(16)}\r\n${piece}\r\n`
}

/** The same of bytes. */
export function chunkBytes(piece: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, lineEnd])
}

const lineEnd = Buffer.from('\r\n')

/**
 * More is handed over in parts of so many bytes: of one that is taken slowly Node does not tell that some of it was. A
 * client that takes less than four kilobytes a second is as good as gone.
 */
const partBytes = 262_144

export function isLong(piece: string | Uint8Array): boolean {
  return piece.length > partBytes
}

/** The piece itself, if it is not long. */
export function partsOf(piece: string | Uint8Array): Iterable<string | Uint8Array> {
  return isLong(piece) ? cutUp(piece) : [piece]
}

function* cutUp(piece: string | Uint8Array): Iterable<Uint8Array> {
  const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
  for (let from = 0; from < bytes.length; from += partBytes) yield bytes.subarray(from, from + partBytes)
}

export const lastChunk = '0\r\n\r\n'
