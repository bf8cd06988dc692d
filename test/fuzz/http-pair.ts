import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { duplexPair, type Duplex } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { serveConnection } from '../../shared/adapters/local/https/lean-connection.ts'
import type { Shell } from '../../shared/adapters/local/https/lean-state.ts'
import { defaultTiming } from '../../shared/adapters/local/https/listener.ts'
import type { Traffic } from './http-grammar.ts'

/** A request as a handler got it, with its body whole. */
export interface Seen {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What came of the traffic. */
export interface Outcome {
  readonly seen: readonly Seen[]
  /** Of the responses, in turn, without `100 Continue`. */
  readonly statuses: readonly number[]
  /** Whether the server ended the connection. */
  readonly isEnded: boolean
}

/** The head of a request as node:http parsed it, whatever it answered. */
export interface NodeHead {
  readonly version: string
  readonly target: string
  /** Names in lower case, each followed by its value. */
  readonly fields: readonly string[]
}

export interface Pair {
  readonly text: string
  readonly lean: Outcome
  readonly node: Outcome & { readonly heads: readonly NodeHead[] }
}

/** The same traffic through the lean server and through node:http, each over a connection in memory. */
export async function runPair({ pieces, text }: Traffic): Promise<Pair> {
  const heads: NodeHead[] = []
  const lean = await run(pieces, serveLean)
  // A byte at a time: of what comes at once with bytes that are no request, it leaves the requests ahead of them
  // unanswered.
  const node = await run(text.split(''), (connection, seen) => serveNode(connection, seen, heads))
  return { text, lean, node: { ...node, heads } }
}

type Serve = (connection: Duplex, seen: Seen[]) => void

/** Nothing waits for time or for a network, so that some turns of the loop are enough for all that will happen. */
const turns = 8

async function run(pieces: readonly string[], serve: Serve): Promise<Outcome> {
  const [client, server] = duplexPair()
  const seen: Seen[] = []
  let heard = ''
  client.on('data', (bytes: Buffer) => (heard += bytes.toString('latin1')))
  for (const side of [client, server]) side.on('error', () => {})
  serve(server, seen)
  // The last one ends a head that is not whole, so that both have to say what they think of it.
  for (const piece of [...pieces, '\r\n\r\n']) {
    if (server.destroyed || server.writableEnded) break
    client.write(piece, 'latin1')
    await turn()
  }
  for (let i = 0; i < turns; i++) await turn()
  const isEnded = server.writableEnded || server.destroyed
  client.destroy()
  server.destroy()
  const statuses = [...heard.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => Number(status))
  return { seen, statuses: statuses.filter((status) => status !== 100), isEnded }
}

const bodyBytesMax = 1_000_000

function serveLean(connection: Duplex, seen: Seen[]): void {
  const shell: Shell = {
    handler: async (request) => {
      const body = await request.body(bodyBytesMax).catch(() => null)
      if (body === null) return { status: 400, headers: {}, body: '' }
      const { method, path, query } = request
      const text = Buffer.from(body).toString('latin1')
      seen.push({
        method,
        path,
        query: query.toString(),
        headers: headersOf((name) => request.header(name)),
        body: text,
      })
      return { status: 200, headers: {}, body: 'ok\n' }
    },
    logger: { debug() {}, info() {}, warn() {}, error() {}, with: () => shell.logger },
    timing: defaultTiming,
    connections: new Set(),
    second: 0,
    date: '',
    isClosing: false,
  }
  serveConnection(shell, connection)
}

/** Those that the grammar has. */
const names = (
  'host accept authorization connection content-length content-type cookie empty expect keep-alive te trailer transfer-encoding ' +
  "upgrade wide colons x x-a y proxy-connection odd!#$%&'*+-.^_`|~"
).split(' ')

function headersOf(header: (name: string) => string | undefined): Seen['headers'] {
  return Object.fromEntries(names.map((name) => [name, header(name) ?? '(none)']))
}

function serveNode(connection: Duplex, seen: Seen[], heads: NodeHead[]): void {
  const server = createServer({ connectionsCheckingInterval: 1_000_000 }, (incoming, outgoing) => {
    heads.push(headOf(incoming))
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('error', () => {})
    incoming.on('end', () => {
      const { method = '', headers } = incoming
      const body = Buffer.concat(chunks).toString('latin1')
      seen.push({ method, ...targetOf(incoming), headers: headersOf((name) => textOf(headers[name])), body })
      outgoing.writeHead(200, { 'content-length': 3 }).end('ok\n')
    })
  })
  // As without a listener.
  server.on('checkExpectation', (incoming, outgoing) => {
    heads.push(headOf(incoming))
    outgoing.writeHead(417).end()
  })
  server.emit('connection', connection)
}

function headOf({ httpVersion, url = '', rawHeaders }: IncomingMessage): NodeHead {
  const fields = rawHeaders.map((text, i) => (i % 2 === 0 ? text.toLowerCase() : text))
  return { version: httpVersion, target: url, fields }
}

/** Of a whole URL the path counts, which node:http leaves to its handlers. */
function targetOf({ url = '' }: IncomingMessage): Pick<Seen, 'path' | 'query'> {
  const own = url.replace(/^[a-z]+:\/\/[^/?]*/i, '')
  const mark = own.indexOf('?')
  const query = new URLSearchParams(mark < 0 ? '' : own.slice(mark + 1))
  return { path: mark < 0 ? own : own.slice(0, mark), query: query.toString() }
}

function textOf(value: IncomingHttpHeaders[string]): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value
}
