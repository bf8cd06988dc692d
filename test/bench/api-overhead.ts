import { fork } from 'node:child_process'
import { Agent, createServer, request as httpsRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import { loadLocalCredentials } from '../../shared/adapters/local/https/local-credentials.ts'
import { startHttpServer } from '../../shared/adapters/local/https/http-server.ts'
import { createPrometheusTelemetry } from '../../shared/adapters/local/prometheus-telemetry.ts'
import { systemClock } from '../../shared/adapters/node/system-clock.ts'
import { createTokenAuthenticator, localAdministrator } from '../../shared/adapters/local/https/token-authenticator.ts'
import { createAccessBook } from '../../shared/model/access/access-book.ts'
import { createApi } from '../../shared/api/api.ts'
import type { ApiObject } from '../../shared/model/object.ts'
import type { ServedKind } from '../../shared/model/served-kind.ts'
import type { HttpHandler, HttpRequest } from '../../shared/ports/http-handler.ts'
import type { Logger } from '../../shared/ports/logger.ts'
import type { Resources } from '../../shared/resources/resources.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/**
 * What the API costs on top of a bare HTTPS server that parses the same JSON and sends it back: CPU of the server
 * process per request, the load coming from another process. Resources answer at once, so that no store is in the
 * numbers.
 *
 *     node test/bench/api-overhead.ts [requests] [connections]
 */
const requests = Number(process.argv[2] ?? 40_000)
const connections = Number(process.argv[3] ?? 16)
const rounds = 10
const token = 'benchmark'

const kind: ServedKind = {
  group: 'example.com',
  version: 'v1',
  storageVersion: 'v1',
  kind: 'Widget',
  listKind: 'WidgetList',
  plural: 'widgets',
  singular: 'widget',
  shortNames: [],
  categories: [],
  namespaced: true,
  schema: { type: 'object' },
  hasStatus: true,
  columns: [],
  selectableFields: [],
  builtIn: false,
}

const collection = '/apis/example.com/v1/namespaces/default/widgets'
/** About 1 KB. */
const widget = {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'w1', namespace: 'default', labels: { app: 'bench', tier: 'one' } },
  spec: {
    color: 'red',
    sizes: [1, 2, 3],
    parts: Array.from({ length: 10 }, (_, i) => ({ name: `part-${i}`, note: 'x'.repeat(50) })),
  },
}
const stored: ApiObject = {
  ...widget,
  metadata: {
    ...widget.metadata,
    uid: '77c9eb2b-c299-4782-b047-7f4b0a301a9c',
    resourceVersion: '7',
    generation: 1,
    creationTimestamp: '2026-05-01T12:00:00Z',
  },
}

const written = { stored: { object: stored, engine: {} }, outcome: 'updated', warnings: [] } as const
const resources: Resources = {
  get: () => Promise.resolve(written.stored),
  list: () => Promise.resolve({ items: [written.stored], resourceVersion: '7' }),
  create: () => Promise.resolve(written),
  update: () => Promise.resolve(written),
  patch: () => Promise.resolve(written),
  delete: () => Promise.resolve({ stored: written.stored, gone: true }),
}
const logger: Logger = { debug() {}, info() {}, warn() {}, error: console.error, with: () => logger }

const api: HttpHandler = createApi({
  resources,
  catalog: {
    byPlural: () => Promise.resolve(kind),
    byKind: () => Promise.resolve(kind),
    inVersion: () => Promise.resolve(kind),
    all: () => Promise.resolve([kind]),
    listStored: () => Promise.resolve([kind]),
  },
  feed: {
    async *follow() {},
    latest: () => Promise.resolve('7'),
  },
  clock: systemClock,
  authenticate: createTokenAuthenticator(token, localAdministrator),
  readAccess: async () => createAccessBook(),
  policies: { mutate: (): undefined => {}, review: (): undefined => {} },
  version: '0.0.0',
  logger,
  telemetry: createPrometheusTelemetry(),
  explain: async () => '',
  pages: new Map(),
})

interface Case {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly type?: string
  readonly body?: string
}

const patch = JSON.stringify({ spec: { color: 'blue', parts: widget.spec.parts } })
const cases: readonly Case[] = [
  {
    name: 'POST 1 KB',
    method: 'POST',
    path: `${collection}?fieldManager=kubectl-create&fieldValidation=Strict`,
    type: 'application/json',
    body: JSON.stringify(widget),
  },
  {
    name: 'PATCH 1 KB',
    method: 'PATCH',
    path: `${collection}/w1?fieldManager=kubectl-edit`,
    type: 'application/merge-patch+json',
    body: patch,
  },
  { name: 'GET 1 KB', method: 'GET', path: `${collection}/w1` },
]

/** The server's side: one of two servers, and its CPU time on demand. */
async function serve(mode: string, directory: string): Promise<void> {
  const { tls } = loadLocalCredentials(directory, Date.now())
  const url =
    mode === 'api'
      ? (await startHttpServer('node', { handler: api, logger, tls, host: '127.0.0.1', port: 0 })).url
      : await serveEcho(tls)
  process.on('message', () => process.send?.(process.cpuUsage()))
  process.send?.(url)
}

function serveEcho(tls: { readonly key: string; readonly cert: string }): Promise<string> {
  const reply = JSON.stringify(stored)
  const server = createServer({ ...tls, noDelay: true }, (incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const body = text === '' ? reply : JSON.stringify(JSON.parse(text))
      outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      outgoing.end(body)
    })
  })
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`https://127.0.0.1:${(server.address() as AddressInfo).port}`))
  })
}

/** A server in a process of its own, and clients for it. */
interface Subject {
  /** CPU of the server per request, in µs. */
  cpuUs(one: Case): Promise<number>
  end(): void
}

async function start(mode: string, directory: string): Promise<Subject> {
  const server = fork(import.meta.filename, ['serve', mode, directory])
  const message = <Message>(): Promise<Message> =>
    new Promise((resolve) => server.once('message', (value) => resolve(value as Message)))
  const url = await message<string>()
  const agent = new Agent({
    ca: loadLocalCredentials(directory, Date.now()).authority,
    keepAlive: true,
    maxSockets: connections,
  })
  const cpu = async (): Promise<number> => {
    server.send('cpu')
    const { user, system } = await message<NodeJS.CpuUsage>()
    return user + system
  }
  return {
    cpuUs: async (one) => {
      const before = await cpu()
      await load(url, agent, one, requests / rounds)
      return ((await cpu()) - before) / (requests / rounds)
    },
    end: () => {
      agent.destroy()
      server.kill()
    },
  }
}

async function load(url: string, agent: Agent, one: Case, count: number): Promise<void> {
  let left = count
  const client = async (): Promise<void> => {
    while (left-- > 0) await send(url, agent, one)
  }
  await Promise.all(Array.from({ length: connections }, client))
}

function send(url: string, agent: Agent, { method, path, type, body }: Case): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      accept: 'application/json',
      'user-agent': 'kubectl/v1.32.0 (linux/amd64)',
      ...(type === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(body ?? '') }),
    }
    const sent = httpsRequest(url + path, { method, agent, headers }, (response) => {
      if ((response.statusCode ?? 500) >= 300) reject(new Error(`${method} ${path}: ${response.statusCode}`))
      response.on('data', () => {}).on('end', resolve)
    })
    sent.on('error', reject).end(body)
  })
}

/** The handler alone, in this process: µs per request. */
async function handlerUs({ method, path, type, body = '' }: Case): Promise<number> {
  const bytes = Buffer.from(body)
  const [pathname = '', query = ''] = path.split('?')
  const headers: Record<string, string | undefined> = {
    authorization: `Bearer ${token}`,
    accept: 'application/json',
    'user-agent': 'kubectl/v1.32.0',
    'content-type': type,
  }
  const idle = new AbortController().signal
  const toRequest = (): HttpRequest => ({
    method,
    path: pathname,
    query: new URLSearchParams(query),
    header: (name) => headers[name],
    fieldsUnder: () => [],
    body: () => Promise.resolve(bytes),
    signal: idle,
  })
  const run = async (count: number): Promise<number> => {
    const before = process.cpuUsage()
    for (let i = 0; i < count; i++) await api(toRequest())
    const { user, system } = process.cpuUsage(before)
    return (user + system) / count
  }
  await run(20_000)
  const runs: number[] = []
  for (let round = 0; round < rounds; round++) runs.push(await run(10_000))
  return median(runs)
}

if (process.argv[2] === 'serve') await serve(process.argv[3] ?? '', process.argv[4] ?? '')
else await compare()

/** Both servers take turns, so that what else the machine does falls on both; the medians of the rounds are shown. */
async function compare(): Promise<void> {
  using temporary = temporaryDirectory('bench')
  const directory = temporary.path
  const [echo, full] = [await start('echo', directory), await start('api', directory)]
  console.log('request       echo CPU µs   API CPU µs   on top µs   handler alone µs')
  for (const one of cases) {
    const measured: (readonly [number, number])[] = []
    for (let round = 0; round <= rounds; round++) measured.push([await echo.cpuUs(one), await full.cpuUs(one)])
    // The first round warms up.
    const settled = measured.slice(1)
    const cells = [
      median(settled.map(([bare]) => bare)),
      median(settled.map(([, whole]) => whole)),
      median(settled.map(([bare, whole]) => whole - bare)),
      await handlerUs(one),
    ]
    const widths = [11, 12, 11, 18]
    console.log(
      `${one.name.padEnd(12)}${cells.map((cell, i) => ` ${cell.toFixed(1).padStart(widths[i] ?? 0)}`).join(' ')}`,
    )
  }
  for (const subject of [echo, full]) subject.end()
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
