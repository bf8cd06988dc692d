import { ServerResponse, type IncomingMessage } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex, Writable } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { OperatingError } from '../../../model/errors.ts'
import type { HttpHandler, HttpRequest, HttpResponse } from '../../../ports/http-handler.ts'
import {
  breakOff,
  closeAll,
  defaultTiming,
  listen,
  socketOptions,
  tlsOptions,
  trackSockets,
  urlOf,
  type HttpServer,
  type HttpServerOptions,
} from './listener.ts'
import { BodyPieces } from './body-pieces.ts'
import { certificateOf } from './client-certificates.ts'
import { createHttp2 } from './http2.ts'
import { fieldsUnder, splitTarget } from './request-head.ts'
import { dateText, headText, isLong, partsOf } from './response-text.ts'
import { acceptWebsocket, opensWebsocket } from './websocket-text.ts'
import { watchUnread } from './unread-answer.ts'

/** Node's own HTTPS server before a handler, listening. Throws UNAVAILABLE if the address cannot be had. */
export async function startNodeHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { handler, logger, tls, host, port, timing = defaultTiming, http2 = true } = options
  const streams = new Set<AbortController>()
  const state = { isClosing: false }
  const asks = tls.clientAuthority !== undefined
  const server = createServer({
    ...tlsOptions(tls, http2),
    ...socketOptions,
    handshakeTimeout: timing.handshakeSeconds * 1000,
    headersTimeout: timing.requestSeconds * 1000,
    requestTimeout: timing.requestSeconds * 1000,
    keepAliveTimeout: timing.idleSeconds * 1000,
    connectionsCheckingInterval: 1000,
    shouldUpgradeCallback: offersWebsocket,
  })
  const sockets = trackSockets(server)
  const sessions = createHttp2({ handler, logger, timing })
  const takers = server.listeners('secureConnection')
  server.removeAllListeners('secureConnection')
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === 'h2') sessions.serve(socket, asks ? certificateOf(socket) : undefined)
    else {
      loseWhoTakesNothing(socket, timing.requestSeconds)
      for (const take of takers) take.call(server, socket)
    }
  })
  const shell: Shell = { handler, streams, state, asks }
  const begin = (incoming: IncomingMessage, outgoing: ServerResponse, upgrade?: Upgrade): void => {
    answer(shell, { incoming, outgoing, upgrade }).catch((error: unknown) => {
      breakOff(logger, error)
      outgoing.destroy()
    })
  }
  server.on('request', (incoming, outgoing) => begin(incoming, outgoing))
  server.on('upgrade', (incoming, socket, ahead) => {
    // What breaks a connection closes it.
    socket.on('error', () => {})
    const outgoing = lastResponse(incoming, socket)
    // Nobody who opens a websocket has asked for something before that is not answered yet.
    if (outgoing === undefined) return void socket.destroy()
    begin(incoming, outgoing, { socket, ahead, hear: undefined })
  })
  await listen(server, host, port)
  server.on('error', (error) => logger.error('server failed', { error: error.stack ?? error.message }))
  return {
    url: urlOf(server.address() as AddressInfo),
    renew: (next) => server.setSecureContext(tlsOptions(next, http2)),
    close: async (deadlineMs) => {
      state.isClosing = true
      const closed = closeAll(server, sockets, deadlineMs)
      // A stream that ends now has promised its client to keep the connection.
      const sweep = setInterval(() => server.closeIdleConnections(), 20)
      for (const stream of streams) stream.abort()
      sessions.close()
      await closed
      clearInterval(sweep)
    },
  }
}

/** A client that takes nothing of an answer; looked at each second. */
function loseWhoTakesNothing(socket: TLSSocket, secondsMax: number): void {
  const isUnread = watchUnread(() => {
    const { writableLength: waiting, bytesWritten } = socket
    return { waiting, taken: bytesWritten - waiting }
  }, secondsMax)
  const loseIfUnread = (): void => {
    if (isUnread()) socket.destroy()
  }
  const ticking = setInterval(loseIfUnread, 1_000).unref()
  socket.once('close', () => clearInterval(ticking))
}

interface Shell {
  readonly handler: HttpHandler
  /** Of requests that look at their signal: watches. */
  readonly streams: Set<AbortController>
  readonly state: { readonly isClosing: boolean }
  /** Whether clients are asked for certificates. */
  readonly asks: boolean
}

interface Exchange {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  /** Of a request that may become a websocket. */
  readonly upgrade: Upgrade | undefined
}

interface Upgrade {
  readonly socket: Duplex
  /** What came behind the request. */
  readonly ahead: Uint8Array
  hear: ((bytes: Uint8Array) => void) | undefined
}

function offersWebsocket({ method, headers, httpVersion }: IncomingMessage): boolean {
  return method === 'GET' && httpVersion === '1.1' && opensWebsocket(headers.upgrade, headers.connection)
}

/**
 * Node has taken its hands off the socket: the answer, if it is no websocket, is the last one. Undefined if the socket
 * still has an answer.
 */
function lastResponse(incoming: IncomingMessage, socket: Duplex): ServerResponse | undefined {
  const outgoing = new ServerResponse(incoming)
  outgoing.shouldKeepAlive = false
  try {
    outgoing.assignSocket(socket as TLSSocket)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_HTTP_SOCKET_ASSIGNED') return undefined
    throw error
  }
  outgoing.once('finish', () => socket.end())
  return outgoing
}

async function answer(shell: Shell, exchange: Exchange): Promise<void> {
  const { incoming, outgoing, upgrade } = exchange
  const response = await shell.handler(toRequest(shell, exchange))
  if (upgrade !== undefined && response.status === 101) return switchOver(incoming, upgrade, response)
  // A body that was not read to its end stands in the way of the next request.
  if (shell.state.isClosing || !incoming.complete) outgoing.shouldKeepAlive = false
  const { body } = response
  if (typeof body === 'string' || body instanceof Uint8Array) return send(outgoing, response, body)
  outgoing.writeHead(response.status, response.headers)
  outgoing.flushHeaders()
  await sendPieces(outgoing, body)
}

/** What comes from now on is the handler's; the connection ends with the stream. */
async function switchOver({ headers }: IncomingMessage, upgrade: Upgrade, response: HttpResponse): Promise<void> {
  const { socket, ahead, hear } = upgrade
  const accepted = acceptWebsocket(response, headers['sec-websocket-key'])
  const date = dateText(Date.now())
  socket.write(headText(accepted, { body: undefined, date, idleSeconds: undefined }), ascii)
  if (hear !== undefined) socket.on('data', hear)
  socket.once('end', () => socket.destroy())
  hear?.(ahead)
  for await (const piece of accepted.body) {
    if (socket.destroyed) return
    if (!socket.write(piece)) await roomOrEnd(socket)
  }
  // Who takes nothing of what is left is lost as with any answer.
  socket.end(() => setTimeout(() => socket.destroy(), lingerMs).unref())
}

/** Enough for the client's last word. */
const lingerMs = 2_000

function toRequest(shell: Shell, { incoming, outgoing, upgrade }: Exchange): HttpRequest {
  const { url = '/', method = 'GET', headers } = incoming
  const { path, queryText } = splitTarget(url)
  let controller: AbortController | undefined
  return {
    method,
    path,
    query: new URLSearchParams(queryText),
    ...(shell.asks && { certificate: certificateOf(incoming.socket as TLSSocket) }),
    header: (name) => {
      const value = headers[name]
      return Array.isArray(value) ? value.join(', ') : value
    },
    fieldsUnder: (prefix) => fieldsUnder(incoming.rawHeaders.map(lowerCaseNames), prefix),
    body: (bytesMax) => readBody(incoming, bytesMax),
    websocket: upgrade && {
      hear: (onBytes) => {
        upgrade.hear = onBytes
      },
    },
    get signal() {
      controller ??= streamController(shell, outgoing)
      return controller.signal
    },
  }
}

/** Names and values stand by turns. */
function lowerCaseNames(text: string, i: number): string {
  return i % 2 === 0 ? text.toLowerCase() : text
}

/** Aborts when the response is over, for whatever reason, or when the server closes. */
function streamController({ streams, state }: Shell, outgoing: ServerResponse): AbortController {
  const controller = new AbortController()
  if (outgoing.closed || state.isClosing) controller.abort()
  streams.add(controller)
  outgoing.once('close', () => {
    streams.delete(controller)
    controller.abort()
  })
  return controller
}

function readBody(incoming: IncomingMessage, bytesMax: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(new OperatingError('BAD_REQUEST', 'the client left before its body was whole'))
    if (incoming.destroyed) return leave()
    const pieces = new BodyPieces()
    incoming.on('data', (chunk: Buffer) => {
      pieces.add(chunk)
      if (pieces.length > bytesMax) {
        incoming.pause()
        reject(new OperatingError('TOO_LARGE', `Request entity too large: limit is ${bytesMax}`))
      }
    })
    incoming.once('end', () => resolve(pieces.join()))
    incoming.once('close', leave)
  })
}

async function send(
  outgoing: ServerResponse,
  { status, headers }: HttpResponse,
  body: string | Uint8Array,
): Promise<void> {
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  outgoing.writeHead(status, status === 304 ? headers : { ...headers, 'content-length': length })
  if (isLong(body)) await sendPieces(outgoing, partsOf(body))
  else outgoing.end(body, length === body.length ? ascii : 'utf8')
}

/** Text without other characters is the same bytes in Latin-1, which Node writes without counting them first. */
const ascii = 'latin1'

/** Takes the next piece when the client has room for it. */
async function sendPieces(
  outgoing: ServerResponse,
  pieces: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
): Promise<void> {
  for await (const piece of pieces)
    for (const part of partsOf(piece)) {
      if (outgoing.closed) return
      if (!outgoing.write(part, encodingOf(part))) await roomOrEnd(outgoing)
    }
  outgoing.end()
}

function encodingOf(piece: string | Uint8Array): BufferEncoding {
  return typeof piece === 'string' && Buffer.byteLength(piece) > piece.length ? 'utf8' : ascii
}

function roomOrEnd(outgoing: Writable): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      outgoing.off('drain', go)
      outgoing.off('close', go)
      resolve()
    }
    outgoing.on('drain', go)
    outgoing.on('close', go)
  })
}
