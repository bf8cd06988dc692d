import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2'
import { setTimeout as sleep } from 'node:timers/promises'
import { startHttpServer } from '../../shared/adapters/local/https/http-server.ts'
import { loadLocalCredentials } from '../../shared/adapters/local/https/local-credentials.ts'
import type { HttpHandler, HttpRequest } from '../../shared/ports/http-handler.ts'
import type { Logger } from '../../shared/ports/logger.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { connect, requestText, type Target } from './connection.ts'

/**
 * HTTP/2 beside HTTP/1.1 on the lean server, which is another process: its processor time for a request of 1 KB, and
 * what 1,000 watchers cost it. Each way has a server of its own, and the ways take turns.
 *
 *     node test/bench/http2.ts
 */
const requestsEach = 5_000
const rounds = 7
const watchers = 1_000
const kilobyte = JSON.stringify({ spec: { note: 'x'.repeat(1_000) } })
const logger: Logger = { debug() {}, info() {}, warn() {}, error: console.error, with: () => logger }

/** What the server is asked by its parent. */
type Ask = 'use' | 'memory' | 'tell'

interface Use {
  readonly us: number
  readonly heap: number
  readonly rss: number
}

async function serve(directory: string): Promise<void> {
  const waiting = new Set<() => void>()
  const event = Buffer.from(`${kilobyte}\n`)
  async function* watch({ signal }: HttpRequest): AsyncGenerator<string | Uint8Array> {
    yield ' '
    while (!signal.aborted) {
      await new Promise<void>((resolve) => waiting.add(resolve))
      yield event
    }
  }
  const handler: HttpHandler = async (request) => {
    const headers = { 'content-type': 'application/json' }
    if (request.path === '/watch') return { status: 200, headers, body: watch(request) }
    const body = request.method === 'GET' ? kilobyte : new TextDecoder().decode(await request.body(10_000))
    return { status: 200, headers, body }
  }
  const { tls } = loadLocalCredentials(directory, Date.now())
  const { url } = await startHttpServer('lean', { handler, logger, tls, host: '127.0.0.1', port: 0 })
  process.on('message', (ask: Ask) => {
    if (ask === 'tell') {
      const all = [...waiting]
      waiting.clear()
      for (const wake of all) wake()
      return
    }
    if (ask === 'memory') globalThis.gc?.()
    const { user, system } = process.cpuUsage()
    const { heapUsed, rss } = process.memoryUsage()
    process.send?.({ us: user + system, heap: heapUsed, rss } satisfies Use)
  })
  process.send?.(Number(new URL(url).port))
}

/** Clients of one way: each sends its next request when the last one is answered. */
interface Clients extends AsyncDisposable {
  readonly senders: readonly ((method: string) => Promise<void>)[]
  /** Resolves when the watch has begun; tells how many bytes come. */
  watch(i: number, onBytes: (count: number) => void): Promise<void>
}

type Way = (target: Target) => Promise<Clients>

const overHttp1 =
  (connections: number): Way =>
  async (target) => {
    const all = await Promise.all(Array.from({ length: connections }, () => connect(target)))
    const texts = new Map(['PATCH', 'GET'].map((method) => [method, requestText(target, requestOf(method))]))
    return {
      senders: all.map((client) => async (method) => void (await client.send(texts.get(method) ?? ''))),
      watch: (i, onBytes) =>
        new Promise((resolve) =>
          all[i]?.stream(requestText(target, { method: 'GET', path: '/watch' }), ({ length }) => {
            resolve()
            onBytes(length)
          }),
        ),
      [Symbol.asyncDispose]: async () => {
        for (const client of all) client.close()
      },
    }
  }

const overHttp2 =
  (connections: number, streams: number): Way =>
  async ({ port, authority, token }) => {
    const all = Array.from({ length: connections }, () => connectHttp2(`https://127.0.0.1:${port}`, { ca: authority }))
    await Promise.all(all.map((session) => once(session, 'connect')))
    const sender = (session: ClientHttp2Session) => async (method: string) => {
      const { path } = requestOf(method)
      const headers = {
        ':method': method,
        ':path': path,
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
      }
      const stream = session.request(headers, { endStream: method === 'GET' })
      if (method !== 'GET') stream.end(kilobyte)
      stream.resume()
      await once(stream, 'end')
    }
    return {
      senders: all.flatMap((session) => Array.from({ length: streams }, () => sender(session))),
      watch: async (i, onBytes) => {
        const session = all[i % connections] as ClientHttp2Session
        const stream = session.request({ ':path': '/watch', authorization: `Bearer ${token}` })
        await once(stream, 'data')
        stream.on('data', ({ length }: Buffer) => onBytes(length))
      },
      [Symbol.asyncDispose]: async () => {
        for (const session of all) session.destroy()
      },
    }
  }

function requestOf(method: string): { method: string; path: string; type?: string; body?: string } {
  const path = '/apis/a/v1/b'
  return method === 'GET' ? { method, path } : { method, path, type: 'application/json', body: kilobyte }
}

const forRequests: Readonly<Record<string, Way>> = {
  'HTTP/1.1, 64 connections': overHttp1(64),
  'HTTP/2, 64 connections of 1 stream': overHttp2(64, 1),
  'HTTP/2, 4 connections of 16 streams': overHttp2(4, 16),
}

const forWatchers: Readonly<Record<string, Way>> = {
  'HTTP/1.1, 1,000 connections': overHttp1(watchers),
  'HTTP/2, 4 connections': overHttp2(4, 1),
}

async function compare(): Promise<void> {
  using directory = temporaryDirectory('bench')
  console.log('processor time of the server for a request of 1 KB, µs (medians)')
  for (const [name, way] of Object.entries(forRequests)) {
    const cells = await withServer(directory.path, async (server, target) => {
      await using clients = await way(target)
      return [await requestUs(server, clients, 'PATCH'), await requestUs(server, clients, 'GET')]
    })
    console.log(`${name.padEnd(38)} PATCH ${cells[0]?.toFixed(0)}  GET ${cells[1]?.toFixed(0)}`)
  }
  console.log(`${watchers} watchers, for each of them`)
  for (const [name, way] of Object.entries(forWatchers))
    console.log(await withServer(directory.path, watchersOf(name, way)))
}

async function withServer<Result>(
  directory: string,
  measure: (server: ChildProcess, target: Target) => Promise<Result>,
): Promise<Result> {
  const { authority, token } = loadLocalCredentials(directory, Date.now())
  const server = fork(import.meta.filename, ['serve', directory], { execArgv: ['--expose-gc'] })
  const [port] = (await once(server, 'message')) as [number]
  try {
    return await measure(server, { port, authority, token })
  } finally {
    server.kill()
  }
}

async function requestUs(server: ChildProcess, { senders }: Clients, method: string): Promise<number> {
  const measured: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const before = await useOf(server)
    let left = requestsEach
    await Promise.all(
      senders.map(async (send) => {
        while (left-- > 0) await send(method)
      }),
    )
    measured.push(((await useOf(server)).us - before.us) / requestsEach)
  }
  return median(measured.slice(1))
}

function watchersOf(name: string, way: Way) {
  return async (server: ChildProcess, target: Target): Promise<string> => {
    const empty = await useOf(server, 'memory')
    await using clients = await way(target)
    let got = 0
    for (let i = 0; i < watchers; i++) await clients.watch(i, (count) => (got += count))
    const opened = await useOf(server)
    const full = await useOf(server, 'memory')
    const told: number[] = []
    for (let i = 0; i <= rounds; i++) {
      got = 0
      const before = await useOf(server)
      server.send('tell' satisfies Ask)
      while (got < watchers * kilobyte.length) await sleep(20)
      told.push((await useOf(server)).us - before.us)
    }
    const each = (total: number, by: number): string => (total / watchers / by).toFixed(1)
    const [openMs, eventUs] = [each(opened.us - empty.us, 1_000), each(median(told.slice(1)), 1)]
    const memory = `heap ${each(full.heap - empty.heap, 1_000)} KB  all memory ${each(full.rss - empty.rss, 1_000)} KB`
    return `${name.padEnd(38)} to open ${openMs} ms  an event of 1 KB ${eventUs} µs  ${memory}`
  }
}

/** Of memory only what is in use counts. */
async function useOf(server: ChildProcess, ask: Ask = 'use'): Promise<Use> {
  server.send(ask)
  const [use] = (await once(server, 'message')) as [Use]
  return use
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

if (process.argv[2] === 'serve') await serve(process.argv[3] ?? '')
else await compare()
