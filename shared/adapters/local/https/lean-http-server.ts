import type { AddressInfo } from 'node:net'
import { createServer } from 'node:tls'
import { certificateOf } from './client-certificates.ts'
import { createHttp2 } from './http2.ts'
import { end, expire, serveConnection } from './lean-connection.ts'
import { overReason, type Shell } from './lean-state.ts'
import {
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
import { dateText } from './response-text.ts'

/**
 * HTTP/1.1 on TLS with no more than the API needs, listening: half of the processor time of node:https. No
 * upgrades but to websockets, no tunnels, no trailers. Throws UNAVAILABLE if the address cannot be had.
 */
export async function startLeanHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { handler, logger, tls, host, port, timing = defaultTiming, http2 = true } = options
  const shell: Shell = {
    handler,
    logger,
    timing,
    connections: new Set(),
    second: 0,
    date: dateText(Date.now()),
    isClosing: false,
  }
  const server = createServer({
    ...tlsOptions(tls, http2),
    ...socketOptions,
    handshakeTimeout: timing.handshakeSeconds * 1000,
  })
  const sockets = trackSockets(server)
  const asks = tls.clientAuthority !== undefined
  const sessions = createHttp2({ handler, logger, timing })
  server.on('secureConnection', (socket) => {
    const certificate = asks ? certificateOf(socket) : undefined
    if (socket.alpnProtocol === 'h2') sessions.serve(socket, certificate)
    else serveConnection(shell, socket, certificate)
  })
  server.on('tlsClientError', (_, socket) => socket.destroy())
  await listen(server, host, port)
  server.on('error', (error) => logger.error('server failed', { error: error.stack ?? error.message }))
  const ticking = setInterval(() => tick(shell), 1000).unref()
  return {
    url: urlOf(server.address() as AddressInfo),
    renew: (next) => server.setSecureContext(tlsOptions(next, http2)),
    close: async (deadlineMs) => {
      const closed = closeAll(server, sockets, deadlineMs)
      leave(shell)
      sessions.close()
      await closed
      clearInterval(ticking)
    },
  }
}

function tick(shell: Shell): void {
  shell.second++
  shell.date = dateText(Date.now())
  for (const connection of shell.connections) if (connection.dueSecond < shell.second) expire(connection)
}

/** Ends streams, and what has no request; a request ends its connection when it is answered. */
function leave(shell: Shell): void {
  shell.isClosing = true
  for (const connection of shell.connections) {
    if (connection.phase === 'idle') end(connection)
    connection.exchange?.controller?.abort(overReason)
  }
}
