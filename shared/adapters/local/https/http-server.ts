import { startLeanHttpServer } from './lean-http-server.ts'
import type { HttpServer, HttpServerOptions } from './listener.ts'
import { startNodeHttpServer } from './node-http-server.ts'

/** `lean`: our own HTTP/1.1 on node:tls. `node`: node:https, should a client find a fault in ours. */
export const httpServerNames = ['lean', 'node'] as const
export type HttpServerName = (typeof httpServerNames)[number]

/** An HTTPS server before a handler, listening. Throws UNAVAILABLE if the address cannot be had. */
export function startHttpServer(name: HttpServerName, options: HttpServerOptions): Promise<HttpServer> {
  return name === 'lean' ? startLeanHttpServer(options) : startNodeHttpServer(options)
}
