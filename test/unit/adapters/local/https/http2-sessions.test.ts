import {
  connect,
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
} from 'node:http2'
import { duplexPair, type Duplex } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createHttp2Sessions } from '../../../../../shared/adapters/local/https/http2-sessions.ts'
import type { ClientCertificate } from '../../../../../shared/ports/authenticator.ts'
import type { HttpHandler, HttpRequest, HttpResponse } from '../../../../../shared/ports/http-handler.ts'
import { fields, frame, preface } from './http2-frames.ts'
import { ok } from './server-harness.ts'

/** Connections of HTTP/2 in memory, whose seconds pass when the test says so. */

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const timing = { handshakeSeconds: 1, requestSeconds: 3, idleSeconds: 5 }

async function settle(): Promise<void> {
  for (let i = 0; i < 12; i++) await turn()
}

/** So many seconds, one by one, and what each sets off. */
async function pass(seconds: number): Promise<void> {
  for (let i = 0; i < seconds; i++) {
    vi.advanceTimersByTime(1_000)
    await settle()
  }
}

function open(handler: HttpHandler) {
  const logged: string[] = []
  const log = (message: string): void => void logged.push(message)
  const logger = { debug: log, info: log, warn: log, error: log, with: () => logger }
  const sessions = createHttp2Sessions({ handler, logger, timing })
  const take = (socket: Duplex, certificate?: ClientCertificate): void =>
    sessions.serve(socket as TLSSocket, certificate)
  const begin = (certificate?: ClientCertificate): Client => {
    const [near, far] = duplexPair()
    take(far, certificate)
    return clientOn(near, far)
  }
  const serve = async (certificate?: ClientCertificate): Promise<Client> => {
    const client = begin(certificate)
    await settle()
    return client
  }
  return { sessions, take, begin, serve, logged }
}

interface Client {
  readonly session: ClientHttp2Session
  readonly far: Duplex
  /** The code of what the server said when it ended the connection. */
  readonly goaway: () => number | undefined
  readonly begin: (line: string, more?: object, options?: object) => Exchange
  /** The frames of these types that came, as `type stream +flags`. */
  readonly frames: (...types: readonly number[]) => readonly string[]
}

interface Exchange {
  readonly stream: ClientHttp2Stream
  readonly told: { status: number | undefined; body: string; isClosed: boolean }
}

function clientOn(near: Duplex, far: Duplex): Client {
  const options = { maxOutstandingPings: 1_000, maxOutstandingSettings: 1_000 } as object
  const session = connect('http://x', { ...options, createConnection: () => near })
  session.on('error', () => {})
  let code: number | undefined
  session.on('goaway', (said: number) => (code = said))
  const heard: Buffer[] = []
  near.on('data', (bytes: Buffer) => heard.push(bytes))
  return {
    session,
    far,
    goaway: () => code,
    begin: (line, more = {}, ended = { endStream: true }) => exchangeOf(session, line, more, ended),
    frames: (...types) => framesIn(Buffer.concat(heard)).filter((one) => types.includes(Number(one.split(' ')[0]))),
  }
}

function exchangeOf(session: ClientHttp2Session, line: string, more: object, options: object): Exchange {
  const [method, path] = line.split(' ')
  const stream = session.request({ ':method': method, ':path': path, ...more }, options)
  const told: Exchange['told'] = { status: undefined, body: '', isClosed: false }
  stream.on('response', (headers: IncomingHttpHeaders) => (told.status = headers[':status'] as unknown as number))
  stream.on('data', (bytes: Buffer) => (told.body += bytes.toString()))
  stream.on('error', () => {})
  stream.on('close', () => (told.isClosed = true))
  return { stream, told }
}

function framesIn(bytes: Buffer): readonly string[] {
  const found: string[] = []
  for (let at = 0; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3))
    found.push(`${bytes[at + 3]} ${bytes.readUInt32BE(at + 5)} +${bytes[at + 4]}`)
  return found
}

const reset = 3
const calm = constants.NGHTTP2_ENHANCE_YOUR_CALM
const forever = (): Promise<never> => new Promise(() => {})

async function* untilOver({ signal }: HttpRequest): AsyncGenerator<string> {
  yield 'begun'
  await new Promise<void>((go) => signal.addEventListener('abort', () => go(), { once: true }))
  yield ' over'
}

async function* parts(length = 10_000): AsyncGenerator<string> {
  for (let i = 0; i < 1_000; i++) yield 'x'.repeat(length)
}

describe('a request', () => {
  it('is of the certificate of its own connection, and handled once', async () => {
    const asked: string[] = []
    const { serve } = open(async ({ path, certificate }) => {
      asked.push(`${path} ${certificate?.commonName}`)
      return ok('x')
    })
    const certificate = (commonName: string): ClientCertificate => ({ commonName, organizations: [], endsAtMs: 0 })
    const [one, other] = [await serve(certificate('alice')), await serve(certificate('bob'))]
    const exchanges = [one.begin('GET /1'), other.begin('GET /2'), one.begin('GET /3')]
    await settle()
    expect(asked).toEqual(['/1 alice', '/2 bob', '/3 alice'])
    expect(exchanges.map(({ told }) => told)).toEqual(exchanges.map(() => ({ status: 200, body: 'x', isClosed: true })))
    expect(one.frames(reset)).toEqual([])
  })

  it.each<[string, () => HttpResponse]>([
    ['whole', () => ok('x'.repeat(1_000_000))],
    ['a stream', () => ok(parts())],
  ])('of whose answer, which is %s, the client takes nothing is given up', async (_what, answer) => {
    const { serve } = open(async () => answer())
    const client = await serve()
    const [slow, dead] = [client.begin('GET /slow'), client.begin('GET /dead')]
    for (const { stream } of [slow, dead]) stream.pause()
    for (let i = 0; i < 4; i++) {
      await pass(2)
      slow.stream.resume()
      await settle()
      slow.stream.pause()
    }
    expect([dead.stream.rstCode, dead.told.isClosed]).toEqual([constants.NGHTTP2_CANCEL, true])
    expect(slow.stream.rstCode).not.toBe(constants.NGHTTP2_CANCEL)
  })

  it.each<[string, () => HttpResponse]>([
    ['whole', () => ok('x'.repeat(30_000_000))],
    ['a stream of pieces of one length', () => ok(parts(16_384))],
    ['a stream of long pieces', () => ok(parts(10_000_000))],
  ])('of whose answer, which is %s, the client takes some each second goes on', async (_what, answer) => {
    const { serve } = open(async () => answer())
    const { stream, told } = (await serve()).begin('GET /')
    stream.pause()
    for (let i = 0; i < 12; i++) {
      await pass(1)
      const before = told.body.length
      stream.resume()
      for (let turns = 0; turns < 200 && told.body.length < before + 300_000; turns++) await turn()
      stream.pause()
    }
    expect([stream.rstCode, told.isClosed]).toEqual([constants.NGHTTP2_NO_ERROR, false])
  })

  it('whose body is not read is answered, and its client need not send the rest', async () => {
    const { serve } = open(async () => ok('no'))
    const client = await serve()
    const { stream, told } = client.begin('POST /', {}, { endStream: false })
    stream.write('part')
    await settle()
    expect([told, stream.rstCode]).toEqual([{ status: 200, body: 'no', isClosed: true }, constants.NGHTTP2_NO_ERROR])
    expect(client.frames(reset)).toHaveLength(1)
  })

  it('whose body is not read ends with its head, however long it takes to let go of what is not sent', async () => {
    const letGo = Promise.withResolvers<IteratorResult<string>>()
    const body = { [Symbol.asyncIterator]: () => ({ next: forever, return: () => letGo.promise }) }
    const { serve } = open(async () => ({ status: 204, headers: {}, body }))
    const client = await serve()
    const { stream, told } = client.begin('POST /', {}, { endStream: false })
    stream.write('part')
    await settle()
    letGo.resolve({ done: true, value: undefined })
    await settle()
    expect([told.isClosed, stream.rstCode, client.frames(reset).length]).toEqual([true, constants.NGHTTP2_NO_ERROR, 1])
  })

  it('whose body is not read, and whose client takes nothing of the answer, is given up', async () => {
    const { serve } = open(async () => ok('x'.repeat(200_000)))
    const { stream, told } = (await serve()).begin('POST /', {}, { endStream: false })
    stream.pause()
    await pass(6)
    expect([stream.rstCode, told.isClosed]).toEqual([constants.NGHTTP2_CANCEL, true])
  })

  it('whose body is too long is answered in its middle, and its client need not send the rest', async () => {
    const { serve } = open(async (request) => {
      await request.body(3).catch(() => {})
      return ok('too long')
    })
    const client = await serve()
    const { stream, told } = client.begin('POST /', {}, { endStream: false })
    stream.write('more than three')
    await settle()
    expect([told, stream.rstCode]).toEqual([
      { status: 200, body: 'too long', isClosed: true },
      constants.NGHTTP2_NO_ERROR,
    ])
  })

  it('whose body was read is answered, and nothing more is said of it', async () => {
    const { serve } = open(async (request) => ok(String((await request.body(100)).length)))
    const client = await serve()
    const { stream, told } = client.begin('POST /', {}, { endStream: false })
    stream.end('body')
    await settle()
    expect([told, client.frames(reset)]).toEqual([{ status: 200, body: '4', isClosed: true }, []])
  })

  it('that cannot be answered is broken off, and told', async () => {
    const { serve, logged } = open(async () => {
      throw new RangeError('a bug')
    })
    const client = await serve()
    const { stream, told } = client.begin('GET /')
    await settle()
    expect([told.status, stream.rstCode, logged]).toEqual([
      undefined,
      constants.NGHTTP2_INTERNAL_ERROR,
      ['response aborted'],
    ])
  })

  it('ends when its client has taken the whole answer, however late', async () => {
    const { serve } = open(async () => ok('x'.repeat(200_000)))
    const client = await serve()
    const { stream, told } = client.begin('POST /', {}, { endStream: false })
    stream.pause()
    await settle()
    expect(told.isClosed).toBe(false)
    stream.resume()
    await settle()
    await settle()
    expect([told.body.length, told.isClosed]).toEqual([200_000, true])
  })

  /** As a client that has not heard of the limit yet. */
  it.each([
    [16_384, 1],
    [16_385, 0],
  ])('with a head of %d letters is handled %d times', async (letters, times) => {
    let asked = 0
    const { take } = open(async () => {
      asked++
      return ok('x')
    })
    const [near, far] = duplexPair()
    const heard: Buffer[] = []
    near.on('data', (bytes: Buffer) => heard.push(bytes))
    take(far)
    near.write(Buffer.concat([preface, ...headFrames(letters)]))
    await settle()
    const frames = framesIn(Buffer.concat(heard)).filter((one) => /^[01] /.test(one))
    // What is refused ends with its head.
    expect([asked, frames]).toEqual([times, times === 1 ? ['1 1 +4', '0 1 +1'] : ['1 1 +5']])
  })
})

it.each([
  [200, 1],
  [201, 0],
])('a head of %d fields is handled %d times', async (count, times) => {
  let asked = 0
  const { take } = open(async () => {
    asked++
    return ok('x')
  })
  const [near, far] = duplexPair()
  near.resume()
  take(far)
  const small = Array.from({ length: count - 4 }, () => Buffer.from([0, 1, 0x61, 1, 0x62]))
  near.write(Buffer.concat([preface, frame(1, 5, 1, Buffer.concat([fields, ...small]))]))
  await settle()
  expect(asked).toBe(times)
})

/** The name of one more field. */
const oneMore = Buffer.from([0, 1, 0x61])
const fieldLetters = ':methodGET:schemehttps:path/:authorityxa'.length

/** A request whose names and values have so many letters. */
function headFrames(letters: number): readonly Buffer[] {
  const value = Buffer.alloc(letters - fieldLetters, 'x')
  const size = value.length - 127
  const block = Buffer.concat([fields, oneMore, Buffer.of(127, (size & 127) | 128, size >> 7), value])
  return [frame(1, 1, 1, block.subarray(0, 16_384)), frame(9, 4, 1, block.subarray(16_384))]
}

describe('the time of a client', () => {
  it('that asks nothing is over when that of a request is', async () => {
    const { serve } = open(async () => ok(''))
    await pass(1)
    const client = await serve()
    await pass(3)
    expect([client.goaway(), client.session.closed]).toEqual([undefined, false])
    await pass(1)
    expect([client.goaway(), client.session.destroyed]).toEqual([constants.NGHTTP2_NO_ERROR, true])
  })

  it('is over though its client never ends the connection', async () => {
    const { take } = open(async () => ok(''))
    const [near, far] = duplexPair({ allowHalfOpen: true })
    near.on('error', () => {}).resume()
    take(far)
    near.write(preface)
    await pass(timing.requestSeconds + 1 + 3)
    expect(far.destroyed).toBe(true)
  })

  it('begins again with the end of its last stream', async () => {
    const releases: (() => void)[] = []
    const { serve } = open(async () => {
      await new Promise<void>((go) => releases.push(go))
      return ok('')
    })
    const client = await serve()
    client.begin('GET /')
    client.begin('GET /')
    await pass(9)
    releases[0]?.()
    await pass(9)
    expect(client.goaway()).toBeUndefined()
    releases[1]?.()
    await settle()
    await pass(5)
    expect(client.goaway()).toBeUndefined()
    await pass(1)
    expect(client.goaway()).toBe(constants.NGHTTP2_NO_ERROR)
  })

  it('that owes a body is that of a request', async () => {
    const { serve } = open(async (request) => {
      await request.body(10)
      return ok('')
    })
    const client = await serve()
    await pass(2)
    const { told, stream } = client.begin('POST /', {}, { endStream: false })
    stream.write('a')
    await settle()
    await pass(3)
    expect(told.isClosed).toBe(false)
    await pass(1)
    expect([told.isClosed, stream.rstCode]).toEqual([true, constants.NGHTTP2_INTERNAL_ERROR])
  })

  it('does not matter once its body is there', async () => {
    const release = Promise.withResolvers<void>()
    const { serve } = open(async (request) => {
      await request.body(10)
      await release.promise
      return ok('done')
    })
    const client = await serve()
    const { told, stream } = client.begin('POST /', {}, { endStream: false })
    stream.end('a')
    await pass(9)
    release.resolve()
    await settle()
    expect(told).toEqual({ status: 200, body: 'done', isClosed: true })
  })
})

describe('a client that does what none needs', () => {
  /** Done when each is answered, or the connection ended. */
  const pings = async (client: Client, count: number): Promise<void> => {
    const answered = Array.from({ length: count }, () => new Promise((resolve) => client.session.ping(resolve)))
    await Promise.all(answered)
  }
  const settings = async (client: Client, count: number): Promise<void> => {
    const say = (nth: number): Promise<void> =>
      new Promise((resolve) => client.session.settings({ initialWindowSize: 65_535 + nth }, () => resolve()))
    const ended = new Promise((resolve) => client.session.once('close', resolve))
    await Promise.race([Promise.all(Array.from({ length: count }, (_, i) => say(i))), ended])
  }

  it.each([
    ['pings', pings, 100, 100],
    // It has said them once when it came.
    ['says its settings', settings, 19, 20],
  ])('and %s more often in a second than it may is told to calm down', async (_what, act, first, most) => {
    const client = await open(async () => ok('')).serve()
    await act(client, first)
    await pass(1)
    await act(client, most)
    expect(client.goaway()).toBeUndefined()
    await act(client, 1)
    await settle()
    expect([client.goaway(), client.session.destroyed, client.far.destroyed]).toEqual([calm, true, true])
  })

  it('and leaves 500 requests that run on asks no more', async () => {
    let asked = 0
    const { serve } = open(() => {
      asked++
      return forever()
    })
    const client = await serve()
    for (let i = 0; i < 2; i++) {
      const some = Array.from({ length: 250 }, () => client.begin('GET /').stream)
      await settle()
      for (const stream of some) stream.close(constants.NGHTTP2_CANCEL)
      await settle()
    }
    expect([asked, client.goaway()]).toEqual([500, undefined])
    client.begin('GET /')
    await settle()
    expect([asked, client.goaway()]).toEqual([500, calm])
  })

  it('may ask again for each that has ended', async () => {
    let asked = 0
    const { serve } = open(async () => {
      asked++
      return ok('')
    })
    const client = await serve()
    for (let i = 0; i < 3; i++) {
      for (let count = 0; count < 200; count++) client.begin('GET /')
      await settle()
    }
    expect([asked, client.goaway()]).toEqual([600, undefined])
  })

  it('has 250 streams at once, no pushes, and heads of 16 KiB', async () => {
    const client = await open(forever).serve()
    expect(client.session.remoteSettings).toMatchObject({
      maxConcurrentStreams: 250,
      maxHeaderListSize: 16_384,
      enablePush: false,
    })
  })
})

describe('the signal of a request', () => {
  it('is over when its client resets it', async () => {
    let signal: AbortSignal | undefined
    const { serve } = open((request) => {
      signal = request.signal
      expect(request.signal).toBe(signal)
      return forever()
    })
    const client = await serve()
    const { stream } = client.begin('GET /')
    await settle()
    expect(signal?.aborted).toBe(false)
    stream.close(constants.NGHTTP2_CANCEL)
    await settle()
    expect([signal?.aborted, signal?.reason]).toEqual([true, 'the request is over'])
  })

  it('is over from the start where nobody waits any more, or the server closes', async () => {
    const requests: HttpRequest[] = []
    const { serve, sessions } = open((request) => {
      requests.push(request)
      return forever()
    })
    const client = await serve()
    const { stream } = client.begin('GET /left')
    client.begin('GET /open')
    client.begin('GET /closing')
    await settle()
    stream.close(constants.NGHTTP2_CANCEL)
    await settle()
    expect(requests.slice(0, 2).map((request) => request.signal.aborted)).toEqual([true, false])
    sessions.close()
    expect(requests.map((request) => [request.signal.aborted, request.signal.reason])).toEqual(
      requests.map(() => [true, 'the request is over']),
    )
  })
})

describe('a server that closes', () => {
  it('ends streams, lets requests finish, and takes no new connection', async () => {
    const release = Promise.withResolvers<void>()
    const { serve, sessions } = open(async (request) => {
      if (request.path === '/stream') return ok(untilOver(request))
      await release.promise
      return ok('finished')
    })
    const client = await serve()
    const [stream, slow] = [client.begin('GET /stream'), client.begin('GET /slow')]
    await settle()
    sessions.close()
    await settle()
    expect([stream.told, client.goaway()]).toEqual([
      { status: 200, body: 'begun over', isClosed: true },
      constants.NGHTTP2_NO_ERROR,
    ])
    expect(slow.told.isClosed).toBe(false)
    release.resolve()
    await settle()
    expect(slow.told).toEqual({ status: 200, body: 'finished', isClosed: true })
    expect(client.session.destroyed).toBe(true)
    expect(vi.getTimerCount()).toBe(0)

    const late = await serve()
    expect(late.goaway()).toBe(constants.NGHTTP2_NO_ERROR)
  })

  it('has forgotten who left, and what was asked', async () => {
    const { serve, sessions } = open(async ({ signal }) => ok(String(signal.aborted)))
    const client = await serve()
    client.begin('GET /')
    await settle()
    client.session.destroy()
    client.far.destroy()
    await settle()
    const sessionOfNode = Object.getPrototypeOf(Object.getPrototypeOf(client.session)) as ClientHttp2Session
    const called = [vi.spyOn(sessionOfNode, 'close'), vi.spyOn(AbortController.prototype, 'abort')]
    sessions.close()
    for (const one of called) expect(one).not.toHaveBeenCalled()
  })

  it('does not begin with who has left already', async () => {
    const { take } = open(async () => ok(''))
    const [near, far] = duplexPair()
    far.destroy()
    const written = vi.spyOn(far, 'write')
    expect(() => take(far)).not.toThrow()
    await settle()
    expect(written).not.toHaveBeenCalled()
    // A session would wait for the end of what has ended.
    expect(far.listenerCount('data')).toBe(0)
    near.destroy()
  })
})

it('bytes that are no frames end the connection, and harm nothing', async () => {
  const { take, serve } = open(async () => ok('x'))
  const [near, far] = duplexPair()
  near.resume()
  take(far)
  near.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(10))
  await settle()
  expect(far.destroyed).toBe(true)
  const { told } = (await serve()).begin('GET /')
  await settle()
  expect(told.body).toBe('x')
})
