import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { afterAll, beforeAll } from 'vitest'
import { startHttpServer, type HttpServerName } from '../../../../../shared/adapters/local/https/http-server.ts'
import type { HttpServer, HttpServerOptions } from '../../../../../shared/adapters/local/https/listener.ts'
import {
  loadLocalCredentials,
  type LocalCredentials,
} from '../../../../../shared/adapters/local/https/local-credentials.ts'
import type { HttpHandler, HttpResponse } from '../../../../../shared/ports/http-handler.ts'
import type { Logger } from '../../../../../shared/ports/logger.ts'

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Sent {
  readonly method?: string
  readonly headers?: Record<string, string | string[]>
  readonly body?: string | Uint8Array
  readonly agent?: Agent
}

/** A client that writes bytes as the test says. */
export interface RawClient {
  readonly socket: TLSSocket
  write(text: string): void
  /** All that came until the text matches; rejects when the server ends first. */
  hears(pattern: RegExp): Promise<string>
  /** All that came until the server ended. */
  ended(): Promise<string>
}

export interface ServerHarness {
  serve(handler: HttpHandler, options?: Partial<HttpServerOptions>): Promise<HttpServer>
  newAgent(): Agent
  send(server: HttpServer, path: string, sent?: Sent): Promise<Reply>
  connect(server: HttpServer, options?: ConnectionOptions): Promise<RawClient>
  /** Of the servers' certificates. */
  authority(): string
  /** Certificates made anew, of another authority. */
  otherCredentials(): LocalCredentials
}

/** Servers and clients of the tests of a file, gone after the last. */
export function useServers(name: HttpServerName): ServerHarness {
  let directory = ''
  let credentials: LocalCredentials
  const running: HttpServer[] = []
  const agents: Agent[] = []
  const sockets: TLSSocket[] = []
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'setpoint-server-'))
    credentials = loadLocalCredentials(directory, Date.now())
  })
  afterAll(async () => {
    for (const client of [...agents, ...sockets]) client.destroy()
    await Promise.all(running.map((server) => server.close(100)))
    rmSync(directory, { recursive: true })
  })

  const newAgent = (): Agent => {
    const agent = new Agent({ ca: credentials.authority, keepAlive: true, maxSockets: 1 })
    agents.push(agent)
    return agent
  }
  return {
    serve: async (handler, options = {}) => {
      const own = { handler, logger, tls: credentials.tls, host: '127.0.0.1', port: 0 }
      const server = await startHttpServer(name, { ...own, ...options })
      running.push(server)
      return server
    },
    newAgent,
    send: (server, path, sent = {}) => send(`${server.url}${path}`, { agent: newAgent(), ...sent }),
    connect: async (server, options = {}) => {
      const socket = connectTls({ port: portOf(server), host: '127.0.0.1', ca: credentials.authority, ...options })
      sockets.push(socket)
      await once(socket, 'secureConnect')
      return rawClient(socket)
    },
    authority: () => credentials.authority,
    otherCredentials: () => loadLocalCredentials(join(directory, 'other'), Date.now()),
  }
}

export function portOf(server: HttpServer): number {
  return Number(new URL(server.url).port)
}

export const ok = (body: HttpResponse['body']): HttpResponse => ({
  status: 200,
  headers: { 'content-type': 'text/plain' },
  body,
})

const logger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error(message, fields) {
    throw new Error(`${message}: ${JSON.stringify(fields)}`)
  },
  with: () => logger,
}

function send(url: string, { body, ...options }: Sent): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest(url, options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const { statusCode = 0, headers } = response
        resolve({ status: statusCode, headers, body: Buffer.concat(chunks).toString() })
      })
      response.on('error', reject)
    })
    request.on('error', reject)
    request.end(body)
  })
}

function rawClient(socket: TLSSocket): RawClient {
  let heard = ''
  let look = (): void => {}
  socket.setNoDelay(true)
  socket.on('data', (bytes: Buffer) => {
    heard += bytes.toString()
    look()
  })
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  return {
    socket,
    write: (text) => void socket.write(text, 'latin1'),
    hears: (pattern) =>
      new Promise((resolve, reject) => {
        look = () => {
          if (pattern.test(heard)) resolve(heard)
        }
        look()
        void closed.then(() => reject(new Error(`the server ended; it said ${JSON.stringify(heard)}`)))
      }),
    ended: () => closed.then(() => heard),
  }
}
