import { once } from 'node:events'
import { connect as connectHttp2, constants, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { httpServerNames } from '../../../../../shared/adapters/local/https/http-server.ts'
import type { HttpServer, HttpServerOptions } from '../../../../../shared/adapters/local/https/listener.ts'
import { errorCatalogue, OperatingError } from '../../../../../shared/model/errors.ts'
import type { HttpHandler, HttpRequest } from '../../../../../shared/ports/http-handler.ts'
import type { Logger } from '../../../../../shared/ports/logger.ts'
import { createAuthority } from '../../../../support/client-certificate.ts'
import { eventually } from '../../../../support/eventually.ts'
import { processorMsOf } from '../../../../support/processor-time.ts'
import { share } from '../../../../support/strength.ts'
import { fields, frame, preface, settings } from './http2-frames.ts'
import { ok, useServers } from './server-harness.ts'

/** HTTP/2 on the port of both servers: what a handler is given, what a client gets, and what no client may do. */

interface Reply {
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** The error code of its stream. */
  readonly code: number | undefined
}

interface Sent {
  readonly headers?: Record<string, string | string[]>
  readonly body?: string | Uint8Array
}

const opened: ClientHttp2Session[] = []
afterAll(() => {
  for (const session of opened) session.destroy()
})

async function send(session: ClientHttp2Session, line: string, { headers = {}, body }: Sent = {}): Promise<Reply> {
  const [method, path] = line.split(' ')
  const stream = session.request({ ':method': method, ':path': path, ...headers }, { endStream: body === undefined })
  if (body !== undefined) stream.end(body)
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  stream.on('error', () => {})
  const head = new Promise<IncomingHttpHeaders>((resolve) => {
    stream.once('response', resolve)
    stream.once('close', () => resolve({}))
  })
  await new Promise<void>((resolve) => stream.once('close', () => resolve()))
  return { headers: await head, body: Buffer.concat(chunks).toString(), code: stream.rstCode }
}

const told: HttpHandler = async (request) => {
  const body = new TextDecoder().decode(await request.body(100))
  const { method, path, query } = request
  return ok(JSON.stringify([method, path, query.getAll('a'), request.header('x-one'), request.header('host'), body]))
}

const refusing: HttpHandler = async (request) => {
  try {
    await request.body(10)
    return ok('taken')
  } catch (error) {
    if (!(error instanceof OperatingError)) throw error
    return { status: errorCatalogue[error.code].status, headers: {}, body: error.message }
  }
}

async function* lines(count: number, taken: { pieces: number }): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < count; i++) {
    taken.pieces++
    yield Buffer.alloc(16_384, 'x')
  }
}

async function* untilOver({ signal }: HttpRequest): AsyncGenerator<string> {
  yield 'begun'
  await new Promise<void>((go) => signal.addEventListener('abort', () => go(), { once: true }))
  yield ' over'
}

describe.each(httpServerNames)('HTTP/2 on the %s server', (name) => {
  const { authority, connect, otherCredentials, serve } = useServers(name)
  const open = (server: HttpServer, options: object = {}): ClientHttp2Session => {
    const session = connectHttp2(server.url, { ca: authority(), ...options })
    session.on('error', () => {})
    opened.push(session)
    return session
  }
  const start = async (handler: HttpHandler, options: Partial<HttpServerOptions> = {}): Promise<ClientHttp2Session> =>
    open(await serve(handler, options))

  it('hands over what a client sends, and answers it, many requests at once', async () => {
    const session = await start(told)
    const sent = { headers: { 'x-one': 'yes', host: 'h' }, body: 'grüße' }
    const replies = await Promise.all(Array.from({ length: 300 }, () => send(session, 'PUT /a%2Fb?a=1&a=2', sent)))
    for (const { headers, body } of replies) {
      expect(JSON.parse(body)).toEqual(['PUT', '/a%2Fb', ['1', '2'], 'yes', 'h', 'grüße'])
      expect(headers).toMatchObject({ ':status': 200, 'content-type': 'text/plain', 'content-length': '46' })
    }
  })

  it('breaks off what its handler cannot answer, says so in the log, and goes on with the connection', async () => {
    const logged: string[] = []
    const log = (message: string): void => void logged.push(message)
    const logger: Logger = { debug: () => {}, info: log, warn: log, error: log, with: () => logger }
    const handler: HttpHandler = async ({ path }) => {
      if (path === '/broken') throw new RangeError('a bug')
      return ok('fine')
    }
    const session = await start(handler, { logger })
    expect(await send(session, 'GET /broken')).toMatchObject({ code: constants.NGHTTP2_INTERNAL_ERROR, body: '' })
    expect(logged).toHaveLength(1)
    expect(await send(session, 'GET /')).toMatchObject({ body: 'fine' })
  })

  it('takes its authority for the host, and hands over each line of a header', async () => {
    const session = await start(async (request) => {
      return ok(JSON.stringify([request.header('host'), request.fieldsUnder('x-g')]))
    })
    const { body } = await send(session, 'GET /', { headers: { 'x-g': ['a', 'b'] } })
    expect(JSON.parse(body)).toEqual([
      new URL(session.originSet?.[0] ?? '').host,
      [
        ['x-g', 'a'],
        ['x-g', 'b'],
      ],
    ])
  })

  it('sends a head alone where no body may follow', async () => {
    const session = await start(async ({ path }) => ({ status: Number(path.slice(1)), headers: {}, body: 'x' }))
    for (const line of ['HEAD /200', 'GET /204', 'GET /304'])
      expect(await send(session, line)).toMatchObject({ body: '' })
  })

  it('speaks HTTP/1.1 beside it, with who wants it', async () => {
    const client = await connect(await serve(told), { ALPNProtocols: ['http/1.1'] })
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(await client.hears(/"x",""\]/)).toMatch(/^HTTP\/1\.1 200 OK/)
  })

  it('knows whom the certificate of a connection names', async () => {
    const people = createAuthority()
    const own = otherCredentials()
    const handler: HttpHandler = async ({ certificate }) => ok(certificate?.commonName ?? 'nobody')
    const server = await serve(handler, { tls: { ...own.tls, clientAuthority: people.pem } })
    const named = open(server, { ca: own.authority, ...people.issue('alice', []) })
    expect(await send(named, 'GET /')).toMatchObject({ body: 'alice' })
    expect(await send(open(server, { ca: own.authority }), 'GET /')).toMatchObject({ body: 'nobody' })
  })

  it('refuses a body that is too long, and goes on with the connection', async () => {
    const session = await start(refusing)
    const long = await send(session, 'POST /', { body: Buffer.alloc(2_000_000) })
    expect(long).toMatchObject({ headers: { ':status': 413 }, code: constants.NGHTTP2_NO_ERROR })
    expect(await send(session, 'POST /', { body: 'short' })).toMatchObject({ body: 'taken' })
  })

  it('tells a client that asks to go on when its body is wanted, once', async () => {
    const session = await start(async (request) => (request.path === '/no' ? ok('no') : told(request)))
    const continued: string[] = []
    const ask = async (path: string): Promise<Reply> => {
      const stream = session.request({ ':method': 'PUT', ':path': path, expect: '100-continue' }, { endStream: false })
      stream.once('continue', () => {
        continued.push(path)
        stream.end('body')
      })
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders]
      await once(stream, 'close')
      return { headers, body: Buffer.concat(chunks).toString(), code: stream.rstCode }
    }
    expect(await ask('/no')).toMatchObject({ headers: { ':status': 200 }, body: 'no' })
    expect(JSON.parse((await ask('/yes')).body)).toContain('body')
    expect(continued).toEqual(['/yes'])
  })

  it('waits no longer for a body than for one of HTTP/1.1', async () => {
    const timing = { handshakeSeconds: 1, requestSeconds: 1, idleSeconds: 60 }
    const session = await start(refusing, { timing })
    const stream = session.request({ ':method': 'POST', ':path': '/' })
    const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders]
    expect(headers[':status']).toBe(400)
  })

  it('ends an idle connection, and one that never asks', async () => {
    const timing = { handshakeSeconds: 1, requestSeconds: 1, idleSeconds: 1 }
    const server = await serve(told, { timing })
    const used = open(server)
    const idle = once(used, 'goaway')
    expect(await send(used, 'GET /')).toMatchObject({ code: constants.NGHTTP2_NO_ERROR })
    expect((await idle)[0]).toBe(constants.NGHTTP2_NO_ERROR)
    const silent = await connect(server, { ALPNProtocols: ['h2'] })
    expect(await silent.ended()).not.toContain('HTTP/1.1')
  })

  it('keeps a connection with a stream, and ends the stream with its client', async () => {
    const timing = { handshakeSeconds: 1, requestSeconds: 1, idleSeconds: 1 }
    let left = 0
    const session = await start(
      async (request) => {
        request.signal.addEventListener('abort', () => left++)
        return ok(untilOver(request))
      },
      { timing },
    )
    const streams = [session.request({ ':path': '/' }), session.request({ ':path': '/' })]
    await Promise.all(streams.map((stream) => once(stream, 'data')))
    await sleep(3_500)
    expect(session.closed).toBe(false)
    streams[0]?.close(constants.NGHTTP2_CANCEL)
    await eventually(async () => expect(left).toBe(1))
    session.destroy()
    await eventually(async () => expect(left).toBe(2))
  })

  it('says that it closes, lets requests finish and ends streams', async () => {
    let asked = 0
    let finish = (): void => {}
    const server = await serve(async (request) => {
      asked++
      if (request.path === '/stream') return ok(untilOver(request))
      await new Promise<void>((resolve) => (finish = resolve))
      return ok('finished')
    })
    const session = open(server)
    const stream = send(session, 'GET /stream')
    const slow = send(session, 'GET /slow')
    await eventually(async () => expect(asked).toBe(2))
    const leaving = once(session, 'goaway')
    const closed = server.close(20_000)
    const [code] = (await leaving) as [number]
    expect(code).toBe(constants.NGHTTP2_NO_ERROR)
    expect(await stream).toMatchObject({ body: 'begun over' })
    finish()
    expect(await slow).toMatchObject({ body: 'finished' })
    await closed
  })

  it('answers a ping', async () => {
    const session = await start(told)
    await once(session, 'connect')
    const answered = new Promise((resolve) => session.ping(Buffer.from('is there'), (...said) => resolve(said)))
    expect(await answered).toMatchObject([null, expect.any(Number), Buffer.from('is there')])
  })

  it('sends 60 long answers at once, to a client that has other requests between them', async () => {
    const session = await start(async ({ path }) => ok(path === '/long' ? Buffer.alloc(1_000_000, 'x') : 'short'))
    const replies = await Promise.all(
      Array.from({ length: 120 }, (_, i) => send(session, i % 2 === 0 ? 'GET /long' : 'GET /short')),
    )
    expect(new Set(replies.map(({ body }) => body.length))).toEqual(new Set([1_000_000, 5]))
  })

  describe('a client that reads one stream slowly', () => {
    it('has little of it waiting here, and all of the others', async () => {
      const taken = { pieces: 0 }
      const session = await start(async ({ path }) => ok(path === '/slow' ? lines(1_000, taken) : 'quick'))
      const slow = session.request({ ':path': '/slow' })
      await once(slow, 'response')
      for (let i = 0; i < 20; i++) expect(await send(session, 'GET /')).toMatchObject({ body: 'quick' })
      // Its window, what node:http2 has in hand, and what waits.
      expect(taken.pieces).toBeLessThan(30)
      let length = 0
      slow.on('data', (chunk: Buffer) => (length += chunk.length))
      await once(slow, 'end')
      expect([length, taken.pieces]).toEqual([1_000 * 16_384, 1_000])
    })
  })

  describe('a hostile client', () => {
    /** Bytes to a server that counts what its handler is asked; how its connection ended. */
    const attack = async (bytes: Buffer, handler?: HttpHandler): Promise<{ asked: number; heard: Buffer }> => {
      let asked = 0
      const server = await serve((request) => {
        asked++
        return handler === undefined ? Promise.resolve(ok('x')) : handler(request)
      })
      const { socket } = await connect(server, { ALPNProtocols: ['h2'] })
      const heard: Buffer[] = []
      socket.on('data', (chunk: Buffer) => heard.push(chunk))
      const closed = once(socket, 'close')
      socket.write(Buffer.concat([preface, bytes]))
      await closed
      return { asked, heard: Buffer.concat(heard) }
    }

    it('that opens streams and resets them is ended', async () => {
      const rapid = Array.from({ length: 20_000 }, (_, i) => Buffer.concat([get(2 * i + 1), reset(2 * i + 1)]))
      let asked = 0
      const startMs = performance.now()
      const milliseconds = await processorMsOf(async () => ({ asked } = await attack(Buffer.concat(rapid))))
      // A slow machine takes more seconds for it, and a client may reset 50 in each.
      expect(asked).toBeLessThanOrEqual(1_100 + (performance.now() - startMs) / 20)
      expect(milliseconds).toBeLessThan(3_000)
    })

    it('that resets requests that run on is ended, however slowly it does', async () => {
      const few = Array.from({ length: 510 }, (_, i) => Buffer.concat([get(2 * i + 1), reset(2 * i + 1)]))
      const { asked } = await attack(Buffer.concat(few), () => new Promise(() => {}))
      expect(asked).toBeLessThanOrEqual(500)
    })

    it('that opens 10,000 streams is ended, and 250 of them are heard', async () => {
      const many = Array.from({ length: 10_000 }, (_, i) => get(2 * i + 1))
      let asked = 0
      const forever: HttpHandler = async (request) => ok(untilOver(request))
      const milliseconds = await processorMsOf(async () => ({ asked } = await attack(Buffer.concat(many), forever)))
      expect(asked).toBe(250)
      expect(milliseconds).toBeLessThan(3_000)
    })

    it.each([
      ['pings without end', Buffer.concat(Array.from({ length: 5_000 }, ping)), 11],
      ['says its settings without end', Buffer.concat(Array.from({ length: 2_000 }, settings)), 11],
      ['sends what is no frame', Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(10)), 6],
    ])('that %s is ended', async (_, bytes, code) => {
      const { heard } = await attack(bytes)
      expect(goawayCode(heard)).toBe(code)
    })

    it('that sends a head of 20 KB gets no handler to see it, and no more room', async () => {
      let asked = 0
      const server = await serve(async () => {
        asked++
        return ok('x')
      })
      const session = open(server)
      const tooLong = { headers: { 'x-big': 'x'.repeat(20_000) } }
      expect(await send(session, 'GET /', tooLong)).toMatchObject({ headers: { ':status': 431 } })
      const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`x-${i}`, 'x']))
      for (const sent of [tooLong, { headers: many }]) expect((await send(session, 'GET /', sent)).headers).toEqual({})
      expect(asked).toBe(0)
      expect(await send(open(server), 'GET /')).toMatchObject({ body: 'x' })
    })

    it('that continues a head without end is ended', async () => {
      const endless = [frame(1, 0, 1, fields), ...Array.from({ length: 1_000 }, () => frame(9, 0, 1, Buffer.alloc(16)))]
      expect((await attack(Buffer.concat(endless))).asked).toBe(0)
    })

    it('that sends frames of any kind harms nobody else', async () => {
      const server = await serve(refusing)
      const other = open(server)
      await fc.assert(
        fc.asyncProperty(fc.array(anyFrame, { minLength: 1, maxLength: 30 }), async (frames) => {
          const { socket } = await connect(server, { ALPNProtocols: ['h2'] })
          socket.resume()
          const closed = once(socket, 'close')
          socket.end(Buffer.concat([preface, ...frames]))
          await closed
          expect(await send(other, 'POST /', { body: 'short' })).toMatchObject({ body: 'taken' })
        }),
        { numRuns: share(1_000) },
      )
    })

    it('that reads none of 250 streams costs little, and is left when it leaves', async () => {
      const taken = { pieces: 0 }
      const server = await serve(async () => ok(lines(1_000, taken)))
      const { socket } = await connect(server, { ALPNProtocols: ['h2'] })
      socket.pause()
      const windows = Buffer.concat([settings(), windowUpdate(0, 2 ** 30)])
      const many = Array.from({ length: 250 }, (_, i) => get(2 * i + 1))
      socket.write(Buffer.concat([preface, windows, ...many]))
      await eventually(async () => expect(taken.pieces).toBeGreaterThanOrEqual(250))
      await sleep(500)
      // 16 KiB each: 4 windows, what waits here and what is asked for.
      expect(taken.pieces).toBeLessThan(250 * 8)
      const before = taken.pieces
      socket.destroy()
      await sleep(300)
      expect(taken.pieces - before).toBeLessThanOrEqual(250)
    })
  })
})

function get(stream: number): Buffer {
  return frame(1, 5, stream, fields)
}

function reset(stream: number): Buffer {
  return frame(3, 0, stream, Buffer.from([0, 0, 0, 8]))
}

function ping(): Buffer {
  return frame(6, 0, 0, Buffer.alloc(8))
}

function windowUpdate(stream: number, more: number): Buffer {
  const payload = Buffer.alloc(4)
  payload.writeUInt32BE(more)
  return frame(8, 0, stream, payload)
}

const payload = fc.oneof(
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  fc.constantFrom(fields, Buffer.alloc(8), Buffer.alloc(4), Buffer.alloc(0), Buffer.from([0, 0, 0, 8])),
)
/** Frames as they may be, with types, flags and streams that fit or do not. */
const anyFrame = fc.oneof(
  { weight: 3, arbitrary: fc.nat(20).map((i) => get(2 * i + 1)) },
  { weight: 1, arbitrary: fc.nat(20).map((i) => reset(2 * i + 1)) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.nat(11), fc.constantFrom(0, 1, 4, 5, 8, 32, 255), fc.nat(20), payload)
      .map(([type, flags, stream, bytes]) => frame(type, flags, stream, bytes)),
  },
)

/** Of the last GOAWAY among the frames. */
function goawayCode(bytes: Buffer): number | undefined {
  let code: number | undefined
  for (let at = 0; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3))
    if (bytes[at + 3] === 7) code = bytes.readUInt32BE(at + 13)
  return code
}
