import type { Duplex } from 'node:stream'
import type { HttpResponse } from '../../../ports/http-handler.ts'
import { skipBody } from './lean-request.ts'
import type { Connection, Exchange } from './lean-state.ts'
import { fieldValue } from './request-head.ts'
import {
  chunkBytes,
  chunkText,
  headText,
  isLong,
  lastChunk,
  partsOf,
  sizeOf,
  type ResponseFraming,
} from './response-text.ts'
import { dismiss, isStream } from './unsent-body.ts'
import { acceptWebsocket } from './websocket-text.ts'

type Stream = Exclude<HttpResponse['body'], string | Uint8Array>

/**
 * Writes the response; resolves with whether the connection is there for another request, when the client has room
 * for more.
 */
export async function respond(connection: Connection, exchange: Exchange, response: HttpResponse): Promise<boolean> {
  const { body } = response
  if (connection.phase === 'over') {
    await dismiss(body)
    return false
  }
  if (response.status === 101) return switchOver(connection, exchange, response)
  const { shell, socket } = connection
  const { isPersistent, method, version } = exchange.head
  const framing = framingOf(response, version)
  const isWhole = skipBody(connection, exchange)
  const keeps = isPersistent && isWhole && !shell.isClosing && framing !== 'untilClose'
  const idleSeconds = keeps ? shell.timing.idleSeconds : undefined
  const head = headText(response, { body: framing, date: shell.date, idleSeconds })
  if (method === 'HEAD' || framing === undefined) {
    socket.write(head, 'latin1')
    await dismiss(body)
  } else if (isStream(body)) await sendStream(connection, { head, pieces: body, isChunked: framing === 'chunked' })
  else if (isLong(body)) await sendStream(connection, { head, pieces: partsOf(body), isChunked: false })
  else if (!sendWhole(socket, head, body)) await room(connection)
  return keeps
}

function framingOf({ status, body }: HttpResponse, version: '1.0' | '1.1'): ResponseFraming['body'] {
  if (status === 204 || status === 304) return undefined
  if (isStream(body)) return version === '1.1' ? 'chunked' : 'untilClose'
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length
}

/** One write, so one TLS record and one packet for most. Whether there is room for more. */
function sendWhole(socket: Duplex, head: string, body: string | Uint8Array): boolean {
  if (typeof body === 'string') return socket.write(head + body, sizeOf(body).encoding)
  socket.cork()
  socket.write(head, 'latin1')
  const hasRoom = socket.write(body)
  socket.uncork()
  return hasRoom
}

/** What comes from now on is the handler's, also what has come; the connection ends with the stream. */
async function switchOver(connection: Connection, exchange: Exchange, response: HttpResponse): Promise<false> {
  const { shell, socket, parser } = connection
  const { headers, status, body } = acceptWebsocket(response, fieldValue(exchange.head.fields, 'sec-websocket-key'))
  const head = headText({ status, headers, body }, { body: undefined, date: shell.date, idleSeconds: undefined })
  skipBody(connection, exchange)
  exchange.isSwitched = true
  exchange.hear?.(parser.takeRest())
  if (socket.isPaused()) socket.resume()
  await sendStream(connection, { head, pieces: body, isChunked: false })
  return false
}

interface StreamToSend {
  readonly head: string
  readonly pieces: Stream | Iterable<string | Uint8Array>
  readonly isChunked: boolean
}

/** Takes the next piece when the client has room for it. */
async function sendStream(connection: Connection, { head, pieces, isChunked }: StreamToSend): Promise<void> {
  const { socket } = connection
  // What there is to say at once goes with the head; the head does not wait for what is not there.
  socket.cork()
  setImmediate(() => socket.uncork())
  socket.write(head, 'latin1')
  for await (const piece of pieces) {
    for (const part of partsOf(piece)) {
      if (isOver(connection)) return
      if (part.length > 0 && !sendPiece(socket, part, isChunked)) await room(connection)
    }
  }
  if (isChunked && !isOver(connection)) socket.write(lastChunk, 'latin1')
}

function isOver({ phase }: Connection): boolean {
  return phase === 'over'
}

function sendPiece(socket: Duplex, piece: string | Uint8Array, isChunked: boolean): boolean {
  if (typeof piece === 'string') {
    const { bytes, encoding } = sizeOf(piece)
    return socket.write(isChunked ? chunkText(piece, bytes) : piece, encoding)
  }
  return socket.write(isChunked ? frame(piece) : piece)
}

/** The same bytes go to many watchers: they are framed once. */
const framed = new WeakMap<Uint8Array, Uint8Array>()

function frame(piece: Uint8Array): Uint8Array {
  const known = framed.get(piece)
  if (known !== undefined) return known
  const bytes = chunkBytes(piece)
  framed.set(piece, bytes)
  return bytes
}

/** Waits for a client that takes what it asked for, and has a time to do so. */
async function room(connection: Connection): Promise<void> {
  const { shell, socket } = connection
  if (socket.destroyed) return
  connection.dueSecond = shell.second + shell.timing.requestSeconds
  await new Promise<void>((resolve) => {
    const go = (): void => {
      socket.off('drain', go)
      socket.off('close', go)
      resolve()
    }
    socket.on('drain', go)
    socket.on('close', go)
  })
  connection.dueSecond = Infinity
}
