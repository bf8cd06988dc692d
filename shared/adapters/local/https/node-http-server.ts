import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { SecureContextOptions } from 'node:tls'
import { OperatingError } from '../../../model/errors.ts'
import type { HttpHandler, HttpRequest, HttpResponse } from '../../../ports/http-handler.ts'
import type { Logger } from '../../../ports/logger.ts'

/** PEM. */
export interface ServerIdentity {
  readonly key: string
  readonly cert: string
}

export interface NodeHttpServerOptions {
  readonly handler: HttpHandler
  readonly logger: Logger
  readonly tls: ServerIdentity
  readonly host: string
  /** 0 for any that is free. */
  readonly port: number
}

export interface NodeHttpServer {
  /** Such as `https://127.0.0.1:8443`. */
  readonly url: string
  /** What new connections are shown from now on. */
  renew(tls: ServerIdentity): void
  /** Takes no new requests, ends streams, lets running requests finish; what still runs after `deadlineMs` is cut off. */
  close(deadlineMs: number): Promise<void>
}

/** An HTTPS server before a handler, listening. Throws UNAVAILABLE if the address cannot be had. */
export async function startNodeHttpServer({
  handler,
  logger,
  tls,
  host,
  port,
}: NodeHttpServerOptions): Promise<NodeHttpServer> {
  const streams = new Set<AbortController>()
  const state = { isClosing: false }
  const server = createServer({
    ...secureContext(tls),
    noDelay: true,
    handshakeTimeout: 10_000,
    requestTimeout: 60_000,
  })
  const sockets = new Set<Duplex>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('request', (incoming, outgoing) => {
    answer({ handler, streams, state }, incoming, outgoing).catch((error: unknown) => {
      // The handler tells its own failures, so this is a bug of ours; the client sees that the response broke off.
      logger.error('response broke off', {
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      })
      outgoing.destroy()
    })
  })
  await listening(server, host, port)
  server.on('error', (error) => logger.error('server failed', { error: error.stack ?? error.message }))
  return {
    url: urlOf(server.address() as AddressInfo),
    renew: (next) => server.setSecureContext(secureContext(next)),
    close: (deadlineMs) => {
      state.isClosing = true
      const closed = ended(server, sockets, deadlineMs)
      for (const stream of streams) stream.abort()
      return closed
    },
  }
}

function secureContext({ key, cert }: ServerIdentity): SecureContextOptions {
  return { key, cert, minVersion: 'TLSv1.2' }
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `https://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const refused = (cause: NodeJS.ErrnoException): void => {
      const why =
        cause.code === 'EADDRINUSE' ? 'the port is in use; stop what has it, or choose another' : cause.message
      reject(new OperatingError('UNAVAILABLE', `cannot listen on ${host}:${port}: ${why}`, { cause }))
    }
    server.once('error', refused)
    server.listen(port, host, () => {
      server.off('error', refused)
      resolve()
    })
  })
}

function ended(server: Server, sockets: ReadonlySet<Duplex>, deadlineMs: number): Promise<void> {
  return new Promise((resolve) => {
    // Those, too, of which Node's own list does not know: their handshake is not over.
    const deadline = setTimeout(() => {
      for (const socket of sockets) socket.destroy()
    }, deadlineMs)
    // A stream that ends now has promised its client to keep the connection.
    const sweep = setInterval(() => server.closeIdleConnections(), 20)
    server.close(() => {
      clearTimeout(deadline)
      clearInterval(sweep)
      resolve()
    })
  })
}

interface Shell {
  readonly handler: HttpHandler
  /** Of requests that look at their signal: watches. */
  readonly streams: Set<AbortController>
  readonly state: { readonly isClosing: boolean }
}

async function answer(shell: Shell, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const response = await shell.handler(toRequest(shell, incoming, outgoing))
  // A body that was not read to its end stands in the way of the next request.
  if (shell.state.isClosing || !incoming.complete) outgoing.shouldKeepAlive = false
  const { body } = response
  if (typeof body === 'string' || body instanceof Uint8Array) return send(outgoing, response, body)
  await sendStream(outgoing, response, body)
}

function toRequest(shell: Shell, incoming: IncomingMessage, outgoing: ServerResponse): HttpRequest {
  const { url = '/', method = 'GET', headers } = incoming
  const mark = url.indexOf('?')
  let controller: AbortController | undefined
  return {
    method,
    path: mark < 0 ? url : url.slice(0, mark),
    query: new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1)),
    header: (name) => {
      const value = headers[name]
      return Array.isArray(value) ? value.join(', ') : value
    },
    body: (bytesMax) => readBody(incoming, bytesMax),
    get signal() {
      controller ??= streamController(shell, outgoing)
      return controller.signal
    },
  }
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
    const chunks: Buffer[] = []
    let length = 0
    incoming.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= bytesMax) chunks.push(chunk)
      else {
        incoming.pause()
        reject(new OperatingError('TOO_LARGE', `Request entity too large: limit is ${bytesMax}`))
      }
    })
    incoming.once('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)))
    incoming.once('close', () => {
      if (!incoming.readableEnded)
        reject(new OperatingError('BAD_REQUEST', 'the client left before its body was whole'))
    })
  })
}

function send(outgoing: ServerResponse, { status, headers }: HttpResponse, body: string | Uint8Array): void {
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  outgoing.writeHead(status, status === 304 ? headers : { ...headers, 'content-length': length })
  outgoing.end(body, length === body.length ? ascii : 'utf8')
}

/** Text without other characters is the same bytes in Latin-1, which Node writes without counting them first. */
const ascii = 'latin1'

/** Takes the next piece when the client has room for it. */
async function sendStream(
  outgoing: ServerResponse,
  { status, headers }: HttpResponse,
  pieces: AsyncIterable<string>,
): Promise<void> {
  outgoing.writeHead(status, headers)
  for await (const piece of pieces) {
    if (outgoing.closed) return
    if (!outgoing.write(piece, Buffer.byteLength(piece) === piece.length ? ascii : 'utf8')) await roomOrEnd(outgoing)
  }
  outgoing.end()
}

function roomOrEnd(outgoing: ServerResponse): Promise<void> {
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
