import { fork, type ChildProcess } from 'node:child_process'
import { httpServerNames, startHttpServer, type HttpServerName } from '../../shared/adapters/local/https/http-server.ts'
import { loadLocalCredentials } from '../../shared/adapters/local/https/local-credentials.ts'
import type { HttpHandler } from '../../shared/ports/http-handler.ts'
import type { Logger } from '../../shared/ports/logger.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { connect, requestText, type Connection, type Target } from './connection.ts'

/**
 * What each HTTPS server costs before the same handler: CPU of the server's process per request, the load coming
 * from another process. The handler does next to nothing: it sends a body of 1 KB back, or one that it has.
 *
 *     node test/bench/http-servers.ts [requests] [connections]
 */
const requests = Number(process.argv[2] ?? 60_000)
const connections = Number(process.argv[3] ?? 64)
const rounds = 12

const kilobyte = JSON.stringify({ spec: { note: 'x'.repeat(1_000) } })
const cases = {
  'PATCH 1 KB': { method: 'PATCH', path: '/apis/a/v1/b?fieldManager=c', type: 'application/json', body: kilobyte },
  'GET 1 KB': { method: 'GET', path: '/apis/a/v1/b' },
} as const

const echo: HttpHandler = async (request) => {
  const body = request.method === 'GET' ? kilobyte : new TextDecoder().decode(await request.body(10_000))
  return { status: 200, headers: { 'content-type': request.header('content-type') ?? 'application/json' }, body }
}

const logger: Logger = { debug() {}, info() {}, warn() {}, error: console.error, with: () => logger }

if (process.argv[2] === 'serve') await serve(process.argv[3] as HttpServerName, process.argv[4] ?? '')
else await compare()

async function serve(name: HttpServerName, directory: string): Promise<void> {
  const { tls } = loadLocalCredentials(directory, Date.now())
  const { url } = await startHttpServer(name, { handler: echo, logger, tls, host: '127.0.0.1', port: 0 })
  process.on('message', () => process.send?.(process.cpuUsage()))
  process.send?.(Number(new URL(url).port))
}

/**
 * The servers take turns, so that what else the machine does falls on both; the medians of the rounds are shown,
 * without the first, which warms up.
 */
async function compare(): Promise<void> {
  using directory = temporaryDirectory('bench')
  const { authority, token } = loadLocalCredentials(directory.path, Date.now())
  const servers = httpServerNames.map((name) => fork(import.meta.filename, ['serve', name, directory.path]))
  const targets: Target[] = []
  for (const server of servers) targets.push({ port: await message<number>(server), authority, token })
  console.log(
    `${connections} connections; CPU of the server per request, µs\n${''.padEnd(12)}${cells(httpServerNames)}`,
  )
  for (const [name, one] of Object.entries(cases)) {
    const measured: number[][] = servers.map(() => [])
    for (let round = 0; round <= rounds; round++) {
      for (const [i, server] of servers.entries()) measured[i]?.push(await cpuUs(server, targets[i] as Target, one))
    }
    console.log(`${name.padEnd(12)}${cells(measured.map(([_, ...settled]) => median(settled).toFixed(1)))}`)
  }
  for (const server of servers) server.kill()
}

function cells(texts: readonly string[]): string {
  return texts.map((text) => text.padStart(8)).join('')
}

function message<Message>(server: ChildProcess): Promise<Message> {
  return new Promise((resolve) => server.once('message', (value) => resolve(value as Message)))
}

async function cpuUs(server: ChildProcess, target: Target, one: (typeof cases)[keyof typeof cases]): Promise<number> {
  const clients = await Promise.all(Array.from({ length: connections }, () => connect(target)))
  const text = requestText(target, one)
  const before = await cpuOf(server)
  let left = requests / rounds
  await Promise.all(
    clients.map(async (client: Connection) => {
      while (left-- > 0) await client.send(text)
    }),
  )
  const used = (await cpuOf(server)) - before
  for (const client of clients) client.close()
  return used / (requests / rounds)
}

async function cpuOf(server: ChildProcess): Promise<number> {
  server.send('cpu')
  const { user, system } = await message<NodeJS.CpuUsage>(server)
  return user + system
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
