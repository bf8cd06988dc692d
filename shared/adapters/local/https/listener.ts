import { constants } from 'node:crypto'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { TlsOptions } from 'node:tls'
import { OperatingError } from '../../../model/errors.ts'
import type { HttpHandler } from '../../../ports/http-handler.ts'
import type { Logger } from '../../../ports/logger.ts'

/** What both servers are told, and what both promise. */

/** PEM. */
export interface ServerIdentity {
  readonly key: string
  readonly cert: string
  /** Whose certificates of clients are looked at. Left out, no client is asked for one. */
  readonly clientAuthority?: string
}

export interface HttpServerOptions {
  readonly handler: HttpHandler
  readonly logger: Logger
  readonly tls: ServerIdentity
  readonly host: string
  /** 0 for any that is free. */
  readonly port: number
  /** Whether clients that speak HTTP/2 may. Default: that they may. */
  readonly http2?: boolean
  /** Default: `defaultTiming`. */
  readonly timing?: HttpTiming
}

export interface HttpServer {
  /** Such as `https://127.0.0.1:8443`. */
  readonly url: string
  /** What new connections are shown from now on. */
  renew(tls: ServerIdentity): void
  /**
   * Takes no new requests, ends streams, lets running requests finish; what still runs after `deadlineMs` is cut
   * off.
   */
  close(deadlineMs: number): Promise<void>
}

/** How long a client may take, in whole seconds; kept to a second. */
export interface HttpTiming {
  readonly handshakeSeconds: number
  /** To send a request, its head and its body each, and to make room for more of an answer. */
  readonly requestSeconds: number
  /** Until the next request on a connection. */
  readonly idleSeconds: number
}

/**
 * An idle connection outlives those that clients keep: one that ends it first never sends a request into an end
 * that is under way, which it would see as a hang-up. Go's clients, kubectl among them, keep one for 90 s, proxies
 * for 60 to 75 s.
 */
export const defaultTiming: HttpTiming = { handshakeSeconds: 10, requestSeconds: 60, idleSeconds: 120 }

/** So long a connection that is over stays for what is on its way. */
export const lingerSeconds = 2

/**
 * Of each connection. A client that vanished without a word is noticed, also by a watch that says nothing in silence:
 * after a minute the system asks the other end for a sign of life.
 */
export const socketOptions = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 } as const

/**
 * TLS 1.2 with authenticated encryption and forward secrecy only, as RFC 9325 section 4.2 asks; the names before
 * them are TLS 1.3's, of which all are. A client that speaks nothing of what is offered is refused in the handshake.
 */
export function tlsOptions({ key, cert, clientAuthority }: ServerIdentity, http2: boolean): TlsOptions {
  const ALPNProtocols = http2 ? ['h2', 'http/1.1'] : ['http/1.1']
  const own: TlsOptions = { key, cert, minVersion: 'TLSv1.2', ciphers, ALPNProtocols }
  if (clientAuthority === undefined) return own
  // A certificate is shown on each connection: none is remembered from the one before. Who has none may have a token.
  const secureOptions = constants.SSL_OP_NO_TICKET
  return { ...own, ca: clientAuthority, requestCert: true, rejectUnauthorized: false, secureOptions }
}

const ciphers = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  // For certificates of one's own: ours are of ECDSA.
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':')

/** Throws UNAVAILABLE if the address cannot be had. */
export function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const rejectStart = (cause: NodeJS.ErrnoException): void => {
      const why =
        cause.code === 'EADDRINUSE' ? 'the port is in use; stop what has it, or choose another (--port)' : cause.message
      reject(new OperatingError('UNAVAILABLE', `cannot listen on ${host}:${port}: ${why}`, { cause }))
    }
    server.once('error', rejectStart)
    server.listen(port, host, () => {
      server.off('error', rejectStart)
      resolve()
    })
  })
}

export function urlOf({ address, family, port }: AddressInfo): string {
  return `https://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

/** The open sockets, those too whose handshake is not over. */
export function trackSockets(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return sockets
}

/**
 * Takes no new connections and resolves when the last one has ended; those that are open after `deadlineMs` are cut
 * off.
 */
export function closeAll(server: Server, sockets: ReadonlySet<Socket>, deadlineMs: number): Promise<void> {
  return new Promise((resolve) => {
    const deadline = setTimeout(() => {
      for (const socket of sockets) socket.destroy()
    }, deadlineMs)
    server.close(() => {
      clearTimeout(deadline)
      resolve()
    })
  })
}

/** For the log: a response that broke off is a bug of ours, since handlers tell their own failures. */
export function breakOff(logger: Logger, error: unknown): void {
  logger.error('response aborted', { error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
}
