import { connect as connectHttp2 } from 'node:http2'
import https from 'node:https'
import { syncBuiltinESMExports } from 'node:module'
import type { Server } from 'node:net'
import { duplexPair, type Duplex } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import tls from 'node:tls'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  httpServerNames,
  startHttpServer,
  type HttpServerName,
} from '../../../../../shared/adapters/local/https/http-server.ts'
import type { HttpServer, HttpServerOptions } from '../../../../../shared/adapters/local/https/listener.ts'
import {
  loadLocalCredentials,
  type LocalCredentials,
} from '../../../../../shared/adapters/local/https/local-credentials.ts'
import type { HttpHandler, HttpRequest } from '../../../../../shared/ports/http-handler.ts'
import { eventually } from '../../../../support/eventually.ts'
import { temporaryDirectory } from '../../../../support/temporary-directory.ts'
import { openBody } from './noted-pieces.ts'
import { ok } from './server-harness.ts'

/** Both servers, whose handshakes are over when the test says so: each connection is one in memory. */

const directory = temporaryDirectory('servers')
let credentials: LocalCredentials
beforeAll(() => {
  credentials = loadLocalCredentials(directory.path, Date.now())
})
afterAll(() => directory[Symbol.dispose]())

const timing = { handshakeSeconds: 2, requestSeconds: 3, idleSeconds: 5 }
let opened: { readonly server: HttpServer; readonly clients: readonly Duplex[] }[] = []

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] }))
afterEach(async () => {
  for (const { server, clients } of opened) {
    for (const client of clients) client.destroy()
    await settle()
    await server.close(1)
  }
  opened = []
  vi.useRealTimers()
  vi.restoreAllMocks()
})

async function settle(): Promise<void> {
  for (let i = 0; i < 12; i++) await turn()
}

async function pass(ms: number): Promise<void> {
  vi.advanceTimersByTime(ms)
  await settle()
}

interface Shown {
  readonly alpnProtocol?: string
  readonly authorized?: boolean
  readonly commonName?: string
}

async function serve(name: HttpServerName, handler: HttpHandler, more: Partial<HttpServerOptions> = {}) {
  const logged: unknown[] = []
  const log = (message: string, fields?: object): void => void logged.push([message, fields])
  const logger = { debug: log, info: log, warn: log, error: log, with: () => logger }
  let inner: Server | undefined
  let asked: unknown
  const module = (name === 'lean' ? tls : https) as { createServer: typeof tls.createServer }
  const { createServer } = module
  module.createServer = ((...given: Parameters<typeof createServer>) => {
    const made = createServer(...given)
    // The one over which HTTP/2 comes is none of these.
    asked = given[0]
    return (inner = made)
  }) as typeof createServer
  syncBuiltinESMExports()
  const options = { handler, logger, tls: credentials.tls, host: '127.0.0.1', port: 0, timing, ...more }
  const server = await startHttpServer(name, options).finally(() => {
    module.createServer = createServer
    syncBuiltinESMExports()
  })
  const clients: Duplex[] = []
  opened.push({ server, clients })
  const connect = ({ alpnProtocol = 'http/1.1', authorized = true, commonName = 'alice' }: Shown = {}) => {
    const [near, far] = duplexPair()
    clients.push(near)
    const subject = { CN: commonName }
    const tlsParts = { alpnProtocol, authorized, getPeerCertificate: () => ({ subject, valid_to: '' }) }
    const socket = Object.assign(far, tlsParts, { encrypted: true, setKeepAlive: () => far, setNoDelay: () => far })
    let heard = ''
    near.on('error', () => {})
    inner?.emit('secureConnection', socket)
    const hear = (): void => void near.on('data', (bytes: Buffer) => (heard += bytes.toString('latin1')))
    return {
      near,
      far,
      hear,
      say: async (text: string) => {
        near.write(text, 'latin1')
        await settle()
      },
      heard: () => heard,
    }
  }
  const connected = () => {
    const client = connect()
    client.hear()
    return client
  }
  return { server, inner: inner as Server, asked, logged, connect, connected }
}

const host = 'Host: x\r\n'
const get = (path = '/', more = ''): string => `GET ${path} HTTP/1.1\r\n${host}${more}\r\n`
const post = (more: string): string => `POST / HTTP/1.1\r\n${host}${more}\r\n`
const hasEnded = (socket: Duplex): boolean => socket.writableEnded || socket.destroyed
const bodyOf = (text: string): string | undefined => text.split('\r\n\r\n')[1]

async function* untilOver({ signal }: HttpRequest): AsyncGenerator<string> {
  yield 'begun'
  await new Promise<void>((go) => signal.addEventListener('abort', () => go(), { once: true }))
  yield ' over'
}

describe.each(httpServerNames)('the %s server in memory', (name) => {
  it('asks of its sockets what it promises', async () => {
    const { asked } = await serve(name, async () => ok(''))
    expect(asked).toMatchObject({
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: 60_000,
      handshakeTimeout: 2_000,
      ALPNProtocols: ['h2', 'http/1.1'],
    })
    expect((await serve(name, async () => ok(''), { http2: false })).asked).toMatchObject({
      ALPNProtocols: ['http/1.1'],
    })
  })

  it.each([
    [Object.assign(new Error('why'), { stack: 'why at where' }), 'why at where'],
    [Object.assign(new Error('why'), { stack: undefined }), 'why'],
  ])('says in the log that it failed: %#', async (error, said) => {
    const { inner, logged } = await serve(name, async () => ok(''))
    inner.emit('error', error)
    expect(logged).toEqual([['server failed', { error: said }]])
  })

  it.each([
    [undefined, {}, 'nobody'],
    ['CA', {}, 'alice'],
    ['CA', { authorized: false }, 'nobody'],
  ])('knows whose certificate it is where it asks for one: of %s, %j is %s', async (asks, shown, told) => {
    const clientAuthority = asks === undefined ? {} : { clientAuthority: credentials.authority }
    const handler: HttpHandler = async ({ certificate }) => ok(certificate?.commonName ?? 'nobody')
    const { connect } = await serve(name, handler, { tls: { ...credentials.tls, ...clientAuthority } })
    const client = connect(shown)
    client.hear()
    await client.say(get())
    expect(bodyOf(client.heard())).toBe(told)
    const other = connect({ ...shown, alpnProtocol: 'h2' })
    const session = connectHttp2('http://x', { createConnection: () => other.near })
    session.on('error', () => {})
    const stream = session.request({ ':path': '/' })
    let body = ''
    stream.on('data', (bytes: Buffer) => (body += bytes.toString()))
    // The first one waits until its half of the server is loaded.
    await eventually(async () => expect(body).toBe(told))
    session.destroy()
  })

  it('lets go of a file that it would have sent to a client that left', async () => {
    const made = Promise.withResolvers<void>()
    const body = await openBody()
    const { connect } = await serve(name, async () => made.promise.then(() => ok(body)))
    const client = connect()
    await client.say(get())
    client.near.destroy()
    client.far.destroy()
    await settle()
    made.resolve()
    await eventually(async () => expect(body.closed).toBe(true))
  })

  it('keeps a connection for as long as it says, and not longer', async () => {
    const { connected } = await serve(name, async () => ok('x'))
    const client = connected()
    await client.say(get())
    expect(client.heard()).toMatch(/\r\nkeep-alive: timeout=5\r\n/i)
    await client.say(get())
    expect(client.heard().match(/200 OK/g)).toHaveLength(2)
  })

  it('ends streams, the idle and the last request when it closes', async () => {
    const timers = vi.getTimerCount()
    const release = Promise.withResolvers<void>()
    const { server, connected } = await serve(name, async (request) => {
      if (request.path === '/s') return ok(untilOver(request))
      if (request.path === '/slow') await release.promise
      return ok('done')
    })
    const [idle, stream, slow] = [connected(), connected(), connected()]
    await idle.say(get())
    await stream.say(get('/s'))
    await slow.say(get('/slow'))
    const closed = server.close(1_000_000)
    await pass(100)
    await closed
    expect([hasEnded(idle.far), bodyOf(stream.heard())]).toEqual([true, '5\r\nbegun\r\n5\r\n over\r\n0'])
    expect(hasEnded(slow.far)).toBe(false)
    release.resolve()
    await settle()
    expect(slow.heard()).toMatch(/connection: close\r\n[^]*\r\ndone$/i)
    expect(hasEnded(slow.far)).toBe(true)
    // Nothing is left to do, also for those who have left.
    for (const { near, far } of [idle, stream, slow]) for (const end of [near, far]) end.destroy()
    await settle()
    expect(vi.getTimerCount()).toBe(timers)
  })
})

describe('the lean server, second by second', () => {
  it('ends who does not ask in time, and no sooner', async () => {
    const { connected } = await serve('lean', async () => ok('x'))
    const client = connected()
    await pass(3_000)
    expect(client.far.writableEnded).toBe(false)
    await pass(1_000)
    expect([client.far.writableEnded, client.heard()]).toEqual([true, ''])
  })

  it('ends the idle in time, and no sooner', async () => {
    const { connected } = await serve('lean', async () => ok('x'))
    const client = connected()
    await client.say(get())
    await pass(5_000)
    expect(client.far.writableEnded).toBe(false)
    await pass(1_000)
    expect(client.far.writableEnded).toBe(true)
  })

  it('says what time it is', async () => {
    vi.useRealTimers()
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'], now: 1_000 })
    const { connected } = await serve('lean', async () => ok('x'))
    const client = connected()
    await client.say(get())
    await pass(60_000)
    const later = connected()
    await later.say(get())
    expect([client, later].map((one) => /date: (.*)\r\n/.exec(one.heard())?.[1])).toEqual([
      'Thu, 01 Jan 1970 00:00:01 GMT',
      'Thu, 01 Jan 1970 00:01:01 GMT',
    ])
  })

  it('leaves a handshake that fails', async () => {
    const { inner } = await serve('lean', async () => ok('x'))
    const [near, far] = duplexPair()
    inner.emit('tlsClientError', new Error('no'), far)
    expect(far.destroyed).toBe(true)
    near.destroy()
  })
})

describe('the server of Node', () => {
  it('has the times of its connections, and looks at them each second', async () => {
    const { inner, asked } = await serve('node', async () => ok(''))
    expect(asked).toMatchObject({ connectionsCheckingInterval: 1_000 })
    expect(inner).toMatchObject({ headersTimeout: 3_000, requestTimeout: 3_000, keepAliveTimeout: 5_000 })
  })

  it('hands over what was sent, each name in small letters and each value as it is', async () => {
    const { connected } = await serve('node', async (request) =>
      ok(
        JSON.stringify([
          request.fieldsUnder('x'),
          request.header('set-cookie'),
          request.header('x'),
          request.header('y'),
        ]),
      ),
    )
    const client = connected()
    await client.say(get('/', 'X: Y\r\nX-A: B\r\nset-cookie: a\r\nset-cookie: b\r\n'))
    const fields = [
      ['x', 'Y'],
      ['x-a', 'B'],
    ]
    expect(JSON.parse(bodyOf(client.heard()) ?? '')).toEqual([fields, 'a, b', 'Y', null])
  })

  it.each([
    [ok('ü'), 'content-length: 2', '\xc3\xbc'],
    [ok('abc'), 'content-length: 3', 'abc'],
    [ok(Uint8Array.of(255)), 'content-length: 1', '\xff'],
    [{ ...ok(''), status: 304 }, undefined, ''],
  ])('sends a whole answer with its length: %#', async (response, length, body) => {
    const { connected } = await serve('node', async () => response)
    const client = connected()
    await client.say(get())
    expect(/content-length: \d+/i.exec(client.heard())?.[0].toLowerCase()).toBe(length)
    expect(bodyOf(client.heard())).toBe(body)
  })

  it('sends a stream of text and bytes', async () => {
    const body = (async function* () {
      yield 'ü'
      yield 'abc'
      yield Uint8Array.of(255)
    })()
    const { connected } = await serve('node', async () => ({ status: 201, headers: { 'x-kind': 'test' }, body }))
    const client = connected()
    await client.say(get('/', 'Connection: close\r\n'))
    expect(client.heard()).toMatch(
      /^HTTP\/1\.1 201 Created\r\nx-kind: test\r\n[^]*\r\n\r\n2\r\n\xc3\xbc\r\n3\r\nabc\r\n1\r\n\xff\r\n0\r\n\r\n$/,
    )
  })

  it.each<[string, string, string, boolean]>([
    ['whole', 'Content-Length: 4\r\n', 'abcd', true],
    ['in pieces', 'Transfer-Encoding: chunked\r\n', '2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n', true],
    ['too long', 'Content-Length: 5\r\n', 'abcde', false],
    ['too long in pieces', 'Transfer-Encoding: chunked\r\n', '4\r\nabcd\r\n1\r\ne\r\n', false],
  ])('reads a body that is %s', async (_what, more, body, fits) => {
    let read: unknown
    const { connected } = await serve('node', async (request) => {
      read = await request.body(4).then(
        (bytes) => Buffer.from(bytes).toString(),
        (error: unknown) => error,
      )
      return ok('answered')
    })
    const client = connected()
    await client.say(post(more))
    for (const piece of body.match(/.*?\r\n|.+$/gs) ?? []) await client.say(piece)
    expect(read).toEqual(
      fits ? 'abcd' : expect.objectContaining({ code: 'TOO_LARGE', message: expect.stringMatching(/limit is 4$/) }),
    )
    expect(bodyOf(client.heard())).toBe('answered')
    if (more.startsWith('T') && !fits) expect(client.heard()).toMatch(/connection: close\r\n/i)
  })

  it('takes no more of a body that is too long', async () => {
    const { connected } = await serve('node', async (request) => {
      await request.body(4).catch(() => {})
      return new Promise(() => {})
    })
    const client = connected()
    await client.say(post('Content-Length: 1000000\r\n') + 'abcde')
    for (let i = 0; i < 50; i++) await client.say('x'.repeat(20_000))
    expect(client.near.writableLength).toBeGreaterThan(500_000)
  })

  it('tells its handler that the client left in the middle of a body', async () => {
    let failure: unknown
    const { connected } = await serve('node', async (request) => {
      await request.body(10).catch((error: unknown) => (failure = error))
      return ok('')
    })
    const client = connected()
    await client.say(post('Content-Length: 4\r\n') + 'ab')
    client.far.destroy()
    await settle()
    expect(failure).toMatchObject({ code: 'BAD_REQUEST', message: 'the client left before its body was whole' })
  })

  it('ends a connection whose body was not read, and keeps others', async () => {
    const { connected } = await serve('node', async () => ok('no'))
    const client = connected()
    await client.say(get())
    expect(client.heard()).toMatch(/connection: keep-alive/i)
    await client.say(post('Content-Length: 4\r\n') + 'ab')
    expect(client.heard()).toMatch(/connection: close\r\n[^]*\r\nno$/i)
  })

  it('breaks off what its handler cannot answer, and says so', async () => {
    const { connected, logged } = await serve('node', async () => {
      throw new RangeError('a bug')
    })
    const client = connected()
    await client.say(get())
    expect([client.heard(), client.far.destroyed]).toEqual(['', true])
    expect(logged).toEqual([['response aborted', { error: expect.stringContaining('a bug') }]])
  })

  it.each([
    ['its answer', false],
    ['its client', true],
  ])('ends the signal of a request with %s', async (_what, leaves) => {
    const release = Promise.withResolvers<void>()
    let request: HttpRequest | undefined
    const { connected } = await serve('node', async (one) => {
      request = one
      await release.promise
      return ok('')
    })
    const client = connected()
    await client.say(get())
    const signal = request?.signal
    expect([signal?.aborted, request?.signal === signal]).toEqual([false, true])
    if (leaves) client.far.destroy()
    else release.resolve()
    await settle()
    expect(signal?.aborted).toBe(true)
  })

  it('has forgotten what was asked when it closes', async () => {
    const { connected, server } = await serve('node', async ({ signal }) => ok(String(signal.aborted)))
    const client = connected()
    await client.say(get())
    expect(bodyOf(client.heard())).toBe('false')
    const aborted = vi.spyOn(AbortController.prototype, 'abort')
    void server.close(1)
    expect(aborted).not.toHaveBeenCalled()
  })

  it('gives a signal that is over to who asks for it late, or while the server closes', async () => {
    const requests: HttpRequest[] = []
    const { connected, server } = await serve('node', async (one) => {
      requests.push(one)
      if (one.path === '/slow') await new Promise(() => {})
      return ok('')
    })
    const [answered, running] = [connected(), connected()]
    await answered.say(get())
    await running.say(get('/slow'))
    expect(requests[0]?.signal.aborted).toBe(true)
    void server.close(1)
    expect(requests[1]?.signal.aborted).toBe(true)
  })

  it.each(['x'.repeat(20_000), Buffer.alloc(20_000, 'x')])(
    'waits for a client that reads slowly: %#',
    async (piece) => {
      let taken = 0
      let returned = 0
      const body = {
        [Symbol.asyncIterator]: () => ({
          next: async () =>
            ({ done: taken >= 50, value: taken++ < 50 ? piece : '' }) as IteratorResult<string | Uint8Array>,
          return: async () => {
            returned++
            return { done: true, value: undefined } as const
          },
        }),
      }
      const { connect } = await serve('node', async () => ok(body))
      const [slow, gone] = [connect(), connect()]
      await slow.say(get())
      const before = taken
      expect(before).toBeLessThan(20)
      slow.hear()
      await settle()
      await settle()
      expect([taken > 50, bodyOf(slow.heard().slice(-5))]).toEqual([true, ''])
      taken = 0
      await gone.say(get())
      gone.far.destroy()
      await settle()
      expect([taken < 20, returned]).toEqual([true, 1])
    },
  )
})

describe('a websocket of the server of Node', () => {
  const upgrade = 'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: k\r\n'
  const heard: string[] = []
  beforeEach(() => heard.splice(0))
  const taking =
    (body: HttpHandler): HttpHandler =>
    async (request) => {
      if (request.websocket === undefined) return ok('none')
      request.websocket.hear((bytes) => heard.push(Buffer.from(bytes).toString()))
      return body(request)
    }
  const accepting = taking(async (request) => ({ status: 101, headers: {}, body: untilOver(request) }))

  it('hears what came with its request and comes behind it, and ends with its client', async () => {
    const { connected } = await serve('node', accepting)
    const client = connected()
    await client.say(get('/', upgrade) + 'with it')
    await client.say('behind')
    expect(heard.join('|')).toBe('with it|behind')
    expect(client.heard()).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n[^]*\r\n\r\nbegun$/)
    client.near.end()
    await settle()
    expect(client.far.destroyed).toBe(true)
  })

  it('ends with its stream: its client has two seconds to say its last word', async () => {
    const { connected } = await serve('node', async () => ({
      status: 101,
      headers: {},
      body: (async function* () {
        yield 'bye'
      })(),
    }))
    const client = connected()
    // A client that keeps its side open.
    client.near.allowHalfOpen = true
    client.far.allowHalfOpen = true
    await client.say(get('/', upgrade))
    expect([bodyOf(client.heard()), client.far.writableEnded, client.far.destroyed]).toEqual(['bye', true, false])
    await pass(1_999)
    expect(client.far.destroyed).toBe(false)
    await pass(1)
    expect(client.far.destroyed).toBe(true)
  })

  it('whose client takes its time gets the end of the stream, and then has its two seconds', async () => {
    const body = (): AsyncGenerator<string> =>
      (async function* () {
        yield 'x'.repeat(20_000)
      })()
    const { connect } = await serve('node', async () => ({ status: 101, headers: {}, body: body() }))
    const client = connect()
    client.near.allowHalfOpen = true
    client.far.allowHalfOpen = true
    await client.say(get('/', upgrade))
    expect([client.far.writableEnded, client.far.writableFinished]).toEqual([true, false])
    await pass(2_500)
    expect(client.far.destroyed).toBe(false)
    client.hear()
    await settle()
    expect([bodyOf(client.heard())?.length, client.far.destroyed]).toEqual([20_000, false])
    await pass(2_000)
    expect(client.far.destroyed).toBe(true)
  })

  it('is refused by an answer that is the last one', async () => {
    const { connected } = await serve(
      'node',
      taking(async () => ({ ...ok('no'), status: 403 })),
    )
    const client = connected()
    await client.say(get('/', upgrade))
    expect(client.heard()).toMatch(/^HTTP\/1\.1 403 [^]*connection: close\r\n[^]*\r\nno$/i)
    expect(client.far.writableEnded).toBe(true)
  })

  it.each([
    ['another method', get('/', upgrade).replace('GET', 'PUT')],
    ['an older version', get('/', upgrade).replace('HTTP/1.1', 'HTTP/1.0')],
    ['another protocol', get('/', upgrade.replace('websocket', 'h2c'))],
  ])('is not offered with %s', async (_what, text) => {
    const { connected } = await serve('node', accepting)
    const client = connected()
    await client.say(text)
    expect(bodyOf(client.heard())).toBe('none')
  })

  it('stops with its client, and waits for one that reads slowly', async () => {
    let taken = 0
    let ended = 0
    const endless = async function* (): AsyncGenerator<string> {
      try {
        for (; taken < 50; taken++) yield 'x'.repeat(20_000)
      } finally {
        ended++
      }
    }
    const { connect } = await serve('node', async () => ({ status: 101, headers: {}, body: endless() }))
    const client = connect()
    const listeners = (): readonly number[] => ['drain', 'close'].map((event) => client.far.listenerCount(event))
    const before = listeners()
    await client.say(get('/', upgrade))
    expect(taken).toBeLessThan(20)
    client.hear()
    await settle()
    expect([taken, ended]).toEqual([50, 1])
    for (const [i, count] of listeners().entries()) expect(count).toBeLessThan((before[i] ?? 0) + 5)
    taken = 0
    const gone = connect()
    await gone.say(get('/', upgrade))
    gone.far.destroy()
    await settle()
    expect([taken < 20, ended]).toEqual([true, 2])
  })

  it('that breaks harms nobody', async () => {
    const { connected, logged } = await serve('node', accepting)
    const client = connected()
    await client.say(get('/', upgrade))
    expect(client.far.listenerCount('error')).toBeGreaterThan(0)
    client.far.destroy(new Error('reset'))
    await settle()
    expect(logged).toEqual([])
  })
})
