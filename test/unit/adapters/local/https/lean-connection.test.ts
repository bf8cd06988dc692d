import { Duplex } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { expire, serveConnection } from '../../../../../shared/adapters/local/https/lean-connection.ts'
import type { Shell } from '../../../../../shared/adapters/local/https/lean-state.ts'
import type { HttpHandler, HttpRequest, HttpResponse } from '../../../../../shared/ports/http-handler.ts'
import { notedPieces, openBody } from './noted-pieces.ts'
import { ok } from './server-harness.ts'

/** One connection of the lean server in memory: what it writes, when it waits, and for how long. */

/** A socket that notes what is written at once, and has room for it when the test says so. It ends with its client. */
class Wire extends Duplex {
  readonly packets: Buffer[] = []
  isFull = false
  #resume: (() => void) | undefined

  override _read(): void {}
  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#send([chunk], done)
  }
  override _writev(chunks: { readonly chunk: Buffer }[], done: () => void): void {
    this.#send(
      chunks.map(({ chunk }) => chunk),
      done,
    )
  }
  #send(chunks: readonly Buffer[], done: () => void): void {
    this.packets.push(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks))
    if (this.isFull) this.#resume = done
    else done()
  }
  makeRoom(): void {
    this.isFull = false
    this.#resume?.()
    this.#resume = undefined
  }
}

const timing = { handshakeSeconds: 1, requestSeconds: 10, idleSeconds: 100 }

function open(handler: HttpHandler, { isClosing = false, highWaterMark = 65_536 } = {}) {
  const logged: string[] = []
  const log = (message: string): void => void logged.push(message)
  const logger = { debug: log, info: log, warn: log, error: log, with: () => logger }
  const shell: Shell = { handler, logger, timing, connections: new Set(), second: 1_000, date: 'now', isClosing }
  const wire = new Wire({ allowHalfOpen: false, writableHighWaterMark: highWaterMark })
  serveConnection(shell, wire)
  const [connection] = shell.connections
  if (connection === undefined) throw new Error('no connection')
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 5; i++) await turn()
  }
  return {
    shell,
    wire,
    connection,
    logged,
    settle,
    say: async (text: string): Promise<void> => {
      wire.push(Buffer.from(text, 'latin1'))
      await settle()
    },
    texts: () => wire.packets.map((bytes) => bytes.toString('latin1')),
    /** The phase, and how many seconds the client has. */
    state: () => `${connection.phase} ${connection.dueSecond - shell.second}`,
  }
}

const get = (path = '/', more = ''): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`
const post = (more: string): string => `POST / HTTP/1.1\r\nHost: x\r\n${more}\r\n`
const kept = 'date: now\r\nconnection: keep-alive\r\nkeep-alive: timeout=100\r\n'
const ended = 'date: now\r\nconnection: close\r\n'
const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n'

/** Text of the body, or the code of why there is none. */
const reading =
  (bytesMax = 1_000): HttpHandler =>
  async (request) => {
    try {
      return ok(`read ${Buffer.from(await request.body(bytesMax)).toString('latin1')}`)
    } catch (error) {
      return ok(`${(error as { code: string }).code} ${(error as Error).message}`)
    }
  }

describe('an answer', () => {
  it.each<[string, HttpResponse, string]>([
    ['text', ok('abc'), `${head}${kept}content-length: 3\r\n\r\nabc`],
    ['text of more bytes', ok('ü'), `${head}${kept}content-length: 2\r\n\r\n\xc3\xbc`],
    ['bytes', ok(Uint8Array.of(1, 255)), `${head}${kept}content-length: 2\r\n\r\n\x01\xff`],
    ['no bytes', ok(new Uint8Array()), `${head}${kept}content-length: 0\r\n\r\n`],
    [
      'what is not there',
      { ...ok(''), status: 204 },
      `HTTP/1.1 204 No Content\r\ncontent-type: text/plain\r\n${kept}\r\n`,
    ],
    [
      'what is as it was',
      { ...ok('x'), status: 304 },
      `HTTP/1.1 304 Not Modified\r\ncontent-type: text/plain\r\n${kept}\r\n`,
    ],
    [
      'a stream',
      ok(notedPieces('abc', '', 'ü').body),
      `${head}${kept}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\n\xc3\xbc\r\n0\r\n\r\n`,
    ],
    [
      'a stream of bytes',
      ok(notedPieces(Uint8Array.of(255)).body),
      `${head}${kept}transfer-encoding: chunked\r\n\r\n1\r\n\xff\r\n0\r\n\r\n`,
    ],
  ])('of %s goes out at once, and the next request may come', async (_what, response, expected) => {
    const { say, texts, state } = open(async () => response)
    await say(get())
    expect([texts(), state()]).toEqual([[expected], 'idle 100'])
    await say(get())
    expect(texts()).toHaveLength(2)
  })

  it.each<[string, string, string]>([
    ['HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n', `${head}${ended}\r\nab`],
    [
      'a client that ends',
      get('/', 'Connection: close\r\n'),
      `${head}${ended}transfer-encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n`,
    ],
  ])('to %s ends the connection', async (_who, request, expected) => {
    const { say, texts, state, wire } = open(async () => ok(notedPieces('a', Buffer.from('b')).body))
    await say(request)
    expect([texts().join(''), state(), wire.writableEnded]).toEqual([expected, 'over 2', true])
  })

  it('to HTTP/1.0 that asks to stay keeps the connection, but for a stream', async () => {
    const { say, texts, state } = open(async ({ path }) => ok(path === '/s' ? notedPieces('a').body : 'x'))
    const asking = (path: string): string => `GET ${path} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n`
    await say(asking('/'))
    expect([texts(), state()]).toEqual([[`${head}${kept}content-length: 1\r\n\r\nx`], 'idle 100'])
    await say(asking('/s'))
    expect([texts()[1], state()]).toEqual([`${head}${ended}\r\na`, 'over 2'])
  })

  it.each([
    ['HEAD', 200],
    ['GET', 204],
    ['GET', 304],
  ])('to %s with %d has no body: a stream is given back', async (method, status) => {
    const { told, body } = notedPieces('abc')
    const { say, texts } = open(async () => ({ ...ok(body), status }))
    await say(get().replace('GET', method))
    expect(texts().join('')).toMatch(/^HTTP[^]*\r\n\r\n$/)
    expect(told).toEqual({ taken: 0, returned: 1 })
  })

  it('to nobody is given back', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { told, body } = notedPieces('abc')
    const { say, wire, texts, settle } = open(async () => promise.then(() => ok(body)))
    await say(get())
    wire.destroy()
    await settle()
    resolve()
    await settle()
    expect([texts(), told]).toEqual([[], { taken: 0, returned: 1 }])
  })

  it.each<[string, string]>([
    ['nobody', 'GET'],
    ['HEAD', 'HEAD'],
  ])('to %s lets go of a file that it would have read', async (who, method) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const body = await openBody()
    const { say, wire, settle } = open(async () => promise.then(() => ok(body)))
    await say(get().replace('GET', method))
    if (who === 'nobody') wire.destroy()
    await settle()
    resolve()
    await expect.poll(() => body.closed, { timeout: 60_000 }).toBe(true)
  })

  it('of the same bytes is framed once for all who get it', async () => {
    const bytes = Buffer.from('event')
    const sent: (Buffer | undefined)[] = []
    for (let i = 0; i < 2; i++) {
      const { say, wire } = open(async () => {
        await turn()
        return ok(
          (async function* () {
            await turn()
            await turn()
            yield bytes
          })(),
        )
      })
      await say(get())
      await turn()
      sent.push(wire.packets.find((packet) => packet.includes('event')))
    }
    expect(sent[0]?.toString()).toBe('5\r\nevent\r\n')
    expect(sent[1]).toBe(sent[0])
  })

  it('that cannot be sent breaks the connection off, and is told', async () => {
    const { say, texts, wire, logged, connection } = open(async () => ({ ...ok(''), headers: { a: 'b\r\nc' } }))
    await say(get())
    expect([texts(), wire.destroyed, logged, connection.phase]).toEqual([[], true, ['response aborted'], 'over'])
  })

  it('of a server that closes is the last one', async () => {
    const { say, shell, texts, state } = open(async () => ok('x'))
    await say(get())
    shell.isClosing = true
    await say(get('/', ''))
    expect([texts()[1], state()]).toEqual([`${head}${ended}content-length: 1\r\n\r\nx`, 'over 2'])
  })
})

describe('a client without room', () => {
  it.each<[string, HttpResponse]>([
    ['text', ok('x'.repeat(1_000))],
    ['bytes', ok(Buffer.alloc(1_000, 'x'))],
  ])('gets the next answer when it has taken %s', async (_what, response) => {
    let asked = 0
    const handler: HttpHandler = async () => {
      asked++
      return response
    }
    const { say, wire, settle } = open(handler, { highWaterMark: 100 })
    wire.isFull = true
    await say(get() + get())
    expect(asked).toBe(1)
    wire.makeRoom()
    await settle()
    expect(asked).toBe(2)
  })

  it.each(['x'.repeat(60), Buffer.alloc(60)])('has little of a stream waiting for it', async (piece) => {
    const { told, body } = notedPieces(...Array.from({ length: 9 }, () => piece))
    const { say, wire, settle } = open(async () => ok(body), { highWaterMark: 500 })
    wire.isFull = true
    await say(get())
    const { taken } = told
    expect(taken).toBeLessThan(9)
    await settle()
    expect(told.taken).toBe(taken)
    wire.makeRoom()
    await settle()
    expect(told).toEqual({ taken: 9, returned: 0 })
  })

  it('that leaves ends what waits for it', async () => {
    const { told, body } = notedPieces(...Array.from({ length: 9 }, () => 'x'.repeat(60)))
    const { say, wire, settle } = open(async () => ok(body), { highWaterMark: 100 })
    wire.isFull = true
    await say(get())
    wire.destroy()
    await settle()
    expect(told.taken).toBeLessThan(9)
    expect(told.returned).toBe(1)
    expect([wire.listenerCount('drain'), wire.listenerCount('close')]).toEqual([0, 1])
  })
})

describe('a stream', () => {
  it('sends its head with what it has to say at once', async () => {
    const { say, texts } = open(async () => ok(notedPieces('a').body))
    await say(get())
    expect(texts()).toHaveLength(1)
  })

  it('sends its head alone while it has nothing to say', async () => {
    const { say, texts, wire, settle } = open(async ({ signal }) => ok(untilOver(signal)))
    await say(get())
    expect(texts()).toEqual([`${head}${kept}transfer-encoding: chunked\r\n\r\n`])
    wire.push(null)
    await settle()
    expect(texts()).toHaveLength(1)
  })
})

async function* untilOver(signal: AbortSignal): AsyncGenerator<string> {
  await new Promise<void>((go) => signal.addEventListener('abort', () => go(), { once: true }))
  yield 'over'
}

describe('the time of a client', () => {
  it('is that of a request, of a body, and of an idle connection', async () => {
    const release = Promise.withResolvers<void>()
    const handler: HttpHandler = async (request) => {
      await request.body(100)
      await release.promise
      return ok('x')
    }
    const { say, shell, state, settle } = open(handler)
    expect(state()).toBe('idle 10')
    shell.second += 3
    expect(state()).toBe('idle 7')
    await say('P')
    expect(state()).toBe('head 10')
    await say('OST / HTTP/1.1\r\n')
    shell.second += 2
    await say('Host: x\r\n')
    expect(state()).toBe('head 8')
    shell.second += 2
    await say('Content-Length: 3\r\n\r\n')
    expect(state()).toBe('busy 10')
    shell.second += 2
    await say('a')
    expect(state()).toBe('busy 8')
    await say('bc')
    expect(state()).toBe('busy Infinity')
    await say('GET')
    expect(state()).toBe('busy Infinity')
    release.resolve()
    await settle()
    expect(state()).toBe('head 10')
    shell.second += 4
    await say(' / HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(state()).toBe('idle 100')
    shell.second += 5
    await say('\r\n')
    expect(state()).toBe('idle 95')
  })

  it.each<[string, () => HttpResponse]>([
    ['whole', () => ok('x'.repeat(100))],
    ['a stream', () => ok(notedPieces('x'.repeat(100), 'y').body)],
  ])('is that of taking an answer that is %s, and who takes nothing is cut off', async (_what, answer) => {
    const { say, shell, state, settle, wire, connection } = open(async () => answer(), { highWaterMark: 10 })
    wire.isFull = true
    await say(get())
    expect(state()).toBe('busy 10')
    shell.second += 4
    wire.makeRoom()
    await settle()
    expect(state()).toBe('idle 100')
    wire.isFull = true
    await say(get())
    shell.second += 11
    expire(connection)
    await settle()
    expect([wire.destroyed, shell.connections.size]).toEqual([true, 0])
  })

  it('is that of taking an answer also for the end of the last one, and the two seconds follow', async () => {
    const { say, shell, state, settle, wire, connection } = open(async () => ok('x'.repeat(100)))
    wire.isFull = true
    await say(get('/', 'Connection: close\r\n'))
    expect([state(), wire.writableFinished]).toEqual(['over 10', false])
    shell.second += 9
    wire.makeRoom()
    await settle()
    expect([state(), wire.writableFinished, wire.destroyed]).toEqual(['over 2', true, false])
    expire(connection)
    expect(wire.destroyed).toBe(true)
  })

  it('is not over while its answer goes on, though nobody has waited for its body', async () => {
    const { say, state } = open(async (request) => {
      request.body(10).catch(() => {})
      return ok(untilOver(request.signal))
    })
    await say(post('Content-Length: 3\r\n'))
    expect(state()).toBe('busy Infinity')
  })

  it.each([
    ['nothing', '', [], 'over 2'],
    ['half a head', 'G', ['HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n\r\n'], 'over 2'],
    [
      'half a body',
      post('Content-Length: 2\r\n') + 'a',
      ['HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n\r\n'],
      'over 2',
    ],
  ])('is over when it has sent %s', async (_what, text, expected, state) => {
    const opened = open(reading())
    if (text !== '') await opened.say(text)
    expire(opened.connection)
    await opened.settle()
    expect([opened.texts(), opened.state(), opened.wire.destroyed]).toEqual([expected, state, false])
    expire(opened.connection)
    expect(opened.wire.destroyed).toBe(true)
  })

  it('that has not sent its body stays over, whatever its handler does then', async () => {
    const [again, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const { say, settle, state, connection } = open(async (request) => {
      await request.body(10).catch(() => {})
      await again.promise
      await request.body(10).catch(() => {})
      await answered.promise
      return ok('late')
    })
    await say(post('Content-Length: 2\r\n') + 'a')
    expire(connection)
    for (const { resolve } of [again, answered]) {
      await settle()
      expect(state()).toBe('over 2')
      resolve()
    }
    await settle()
    expect(state()).toBe('over 2')
  })

  it('begins again when the handler has taken what there is of a body that nobody waited for', async () => {
    let fail: unknown
    const { say, state } = open(async (request) => {
      await request.body(1).catch((error: unknown) => (fail = error))
      await new Promise(() => {})
      return ok('')
    })
    await say(post('Transfer-Encoding: chunked\r\n') + '2\r\nab\r\n')
    expect([state(), fail]).toEqual(['busy Infinity', expect.objectContaining({ code: 'TOO_LARGE' })])
  })
})

describe('a body', () => {
  it.each<[string, string, string, boolean]>([
    ['of no bytes', post('Content-Length: 0\r\n'), 'read ', true],
    ['of a length', post('Content-Length: 3\r\n') + 'abc', 'read abc', true],
    ['of as many as are read', post('Content-Length: 8\r\n') + '12345678', 'read 12345678', true],
    ['of one more', post('Content-Length: 9\r\n'), 'TOO_LARGE Request entity too large: limit is 8', false],
    [
      'in chunks',
      post('Transfer-Encoding: chunked\r\n') + '4\r\n1234\r\n4\r\n5678\r\n0\r\n\r\n',
      'read 12345678',
      true,
    ],
    [
      'in chunks that are too long',
      post('Transfer-Encoding: chunked\r\n') + '4\r\n1234\r\n5\r\n56789\r\n',
      'TOO_LARGE Request entity too large: limit is 8',
      false,
    ],
    [
      'in chunks that are none',
      post('Transfer-Encoding: chunked\r\n') + 'x\r\n',
      'BAD_REQUEST the body is not in chunks as HTTP/1.1 defines them',
      false,
    ],
  ])('%s is read, or refused', async (_what, text, expected, keeps) => {
    const { say, texts, connection } = open(reading(8))
    await say(text)
    expect(texts().join('')).toMatch(new RegExp(`\r\n\r\n${expected}$`))
    expect(connection.phase).toBe(keeps ? 'idle' : 'over')
  })

  it('in one piece is handed over as it came', async () => {
    let read: Uint8Array | undefined
    const { wire, settle } = open(async (request) => {
      read = await request.body(100)
      return ok('')
    })
    const asking = post('Content-Length: 3\r\n')
    const sent = Buffer.from(`${asking}abc`)
    wire.push(sent)
    await settle()
    expect([read?.buffer === sent.buffer, read?.byteOffset]).toEqual([true, sent.byteOffset + asking.length])
  })

  it('comes together out of very many pieces, 256 at a time', async () => {
    const concat = vi.spyOn(Buffer, 'concat')
    const { say, texts } = open(reading(10_000))
    await say(post('Transfer-Encoding: chunked\r\n'))
    const letters = Array.from({ length: 600 }, (_, i) => String.fromCharCode(97 + (i % 26)))
    const chunks = letters.map((letter) => `1\r\n${letter}\r\n`)
    for (const chunk of chunks.slice(0, 5)) await say(chunk)
    await say(`${chunks.slice(5).join('')}0\r\n\r\n`)
    expect(texts()[0]).toMatch(new RegExp(`read ${letters.join('')}$`))
    const joined = concat.mock.calls.map(([all]) => all.length).filter((count) => count > 2)
    concat.mockRestore()
    expect(joined).toEqual([256, 256, 2 + 88])
  })

  it.each([
    ['leaves', (wire: Wire) => wire.destroy()],
    ['says no more', (wire: Wire) => wire.push(null)],
  ])('of a client that %s in its middle is none', async (_what, leave) => {
    const errors: unknown[] = []
    const { say, wire, settle } = open(async (request) => {
      await request.body(10).catch((error: unknown) => errors.push(error))
      await request.body(10).catch((error: unknown) => errors.push(error))
      return ok('')
    })
    await say(post('Content-Length: 3\r\n') + 'a')
    leave(wire)
    await settle()
    const left = { code: 'BAD_REQUEST', message: 'the client left before its body was whole' }
    expect(errors).toMatchObject([left, left])
  })

  it('is asked for when its client waits to be, once', async () => {
    const { say, texts } = open(reading())
    await say(post('Content-Length: 2\r\nExpect: 100-continue\r\n'))
    expect(texts()).toEqual(['HTTP/1.1 100 Continue\r\n\r\n'])
    await say('a')
    expect(texts()).toHaveLength(1)
    await say('b')
    expect(texts()[1]).toMatch(/read ab$/)
  })

  it('is not asked for by who does not read it, which ends the connection', async () => {
    const { say, texts, state } = open(async () => ok('no'))
    await say(post('Content-Length: 2\r\nExpect: 100-continue\r\n'))
    expect([texts(), state()]).toEqual([[`${head}${ended}content-length: 2\r\n\r\nno`], 'over 2'])
  })

  it('that has come and is not read is dropped, however it is sent', async () => {
    const { say, texts } = open(async ({ path }) => ok(path))
    await say(
      post('Content-Length: 2\r\n') + 'ab' + post('Transfer-Encoding: chunked\r\n') + '1\r\na\r\n0\r\n\r\n' + get('/b'),
    )
    expect(texts().map((text) => text.split('\r\n\r\n')[1])).toEqual(['/', '/', '/b'])
    await say(post('Transfer-Encoding: chunked\r\n') + 'x\r\n')
    expect(texts()[3]).toContain(ended)
  })

  it.each([
    [65_536, false],
    [65_537, true],
  ])('that nobody reads yet stays with its client: of %d bytes that is %s', async (bytes, isPaused) => {
    const release = Promise.withResolvers<void>()
    const { say, wire, texts, settle } = open(async (request) => {
      await release.promise
      return ok(String((await request.body(1_000_000)).length))
    })
    await say(post(`Content-Length: ${bytes + 1}\r\n`))
    await say('x'.repeat(bytes))
    expect(wire.isPaused()).toBe(isPaused)
    release.resolve()
    await settle()
    expect(wire.isPaused()).toBe(false)
    await say('y')
    expect(texts()[0]).toMatch(new RegExp(`\r\n\r\n${bytes + 1}$`))
  })

  it('that was behind a request stays with its client until that one is answered', async () => {
    const release = Promise.withResolvers<void>()
    const { say, wire, settle } = open(() => release.promise.then(() => ok('')))
    await say(get())
    await say(post('Content-Length: 70000\r\n') + 'x'.repeat(70_000))
    expect(wire.isPaused()).toBe(true)
    release.resolve()
    await settle()
    expect(wire.isPaused()).toBe(false)
  })
})

describe('a connection', () => {
  it('has one request at a time, in turn', async () => {
    const releases: (() => void)[] = []
    const paths: string[] = []
    const { say, settle } = open(async ({ path }) => {
      paths.push(path)
      await new Promise<void>((go) => releases.push(go))
      return ok('')
    })
    await say(get('/a') + get('/b'))
    await say(get('/c'))
    for (const expected of [['/a'], ['/a', '/b'], ['/a', '/b', '/c']]) {
      expect(paths).toEqual(expected)
      releases.shift()?.()
      await settle()
    }
  })

  it.each([
    ['nonsense\r\n\r\n', 400],
    [get('/', `X: ${'x'.repeat(20_000)}\r\n`), 431],
    [post('Expect: tea\r\n'), 417],
  ])('ends with what is no request, and hears nothing more: %#', async (text, status) => {
    const { say, texts, state, wire } = open(async () => ok('x'))
    await say(text)
    expect(texts().join('')).toMatch(new RegExp(`^HTTP/1.1 ${status} .*\r\nconnection: close\r\n\r\n$`))
    expect([state(), wire.writableEnded, wire.isPaused()]).toEqual(['over 2', true, false])
    await say(get())
    expect(texts().join('')).not.toContain(' 200 ')
  })

  it('that begins while the server closes ends at once', async () => {
    const { say, texts, state } = open(async () => ok('x'), { isClosing: true })
    await say(get())
    expect([texts(), state()]).toEqual([[], 'over 2'])
  })

  it('that breaks is forgotten', async () => {
    const { wire, shell, settle, connection } = open(async () => ok('x'))
    expect(shell.connections.size).toBe(1)
    wire.destroy(new Error('reset'))
    await settle()
    expect([shell.connections.size, connection.phase]).toEqual([0, 'over'])
  })

  it('whose client has said its last word is over, though it has not taken all yet', async () => {
    const { say, wire, settle, connection } = open(async () => ok('x'.repeat(1_000)), { highWaterMark: 100 })
    wire.isFull = true
    await say(get())
    wire.push(null)
    await settle()
    expect([connection.phase, wire.destroyed]).toEqual(['over', false])
  })

  it('asks for nothing more when it is over', async () => {
    let asked = 0
    const { say, texts } = open(async () => {
      asked++
      return ok('x')
    })
    await say(get('/', 'Connection: close\r\n'))
    await say(get())
    expect([asked, texts().length]).toEqual([1, 1])
  })

  it('whose client leaves in the middle of an answer takes none of what it sent ahead', async () => {
    let asked = 0
    const handler: HttpHandler = async () => {
      asked++
      return ok('x'.repeat(1_000))
    }
    const { say, wire, settle } = open(handler, { highWaterMark: 100 })
    wire.isFull = true
    await say(get() + get())
    wire.destroy()
    await settle()
    expect(asked).toBe(1)
  })

  it('that ends hears its client out, though it had made it wait', async () => {
    const release = Promise.withResolvers<void>()
    const { say, wire, state, settle } = open(() => release.promise.then(() => ok('no')))
    await say(post('Content-Length: 100000\r\n'))
    await say('x'.repeat(70_000))
    expect(wire.isPaused()).toBe(true)
    release.resolve()
    await settle()
    expect([state(), wire.isPaused()]).toEqual(['over 2', false])
  })
})

describe('the signal of a request', () => {
  const asking = (at: 'before' | 'after') => {
    const release = Promise.withResolvers<void>()
    let request: HttpRequest | undefined
    let early: AbortSignal | undefined
    const opened = open(async (one) => {
      request = one
      if (at === 'before') early = one.signal
      await release.promise
      return ok('x')
    })
    const signal = (): AbortSignal | undefined => early ?? request?.signal
    return { ...opened, release: release.resolve, signal }
  }

  it('is over with its answer', async () => {
    const { say, settle, release, signal } = asking('before')
    await say(get())
    expect(signal()?.aborted).toBe(false)
    release()
    await settle()
    expect([signal()?.aborted, signal()?.reason]).toEqual([true, 'the request is over'])
  })

  it.each([
    ['leaves', (wire: Wire) => wire.destroy()],
    ['says no more', (wire: Wire) => wire.push(null)],
  ])('is over when the client %s', async (_what, leave) => {
    const { say, settle, wire, signal } = asking('before')
    await say(get())
    leave(wire)
    await settle()
    expect([signal()?.aborted, signal()?.reason]).toEqual([true, 'the request is over'])
  })

  it.each<[string, (opened: ReturnType<typeof asking>) => unknown, boolean]>([
    ['nothing', () => {}, false],
    ['the end of its client', ({ wire }) => wire.destroy(), true],
    ['its answer', ({ release }) => release(), true],
    ['the beginning of the next', ({ release, wire }) => [release(), wire.push(get())], true],
    ['the closing of the server', ({ shell }) => (shell.isClosing = true), true],
  ])('that is asked for behind %s is over: %s', async (_what, happen, isOver) => {
    const opened = asking('after')
    await opened.say(get())
    happen(opened)
    await opened.settle()
    expect(opened.signal()?.aborted).toBe(isOver)
    expect(opened.signal()).toBe(opened.signal())
  })
})

describe('a websocket', () => {
  const upgrade = 'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: k\r\n'
  const echo = (heard: string[]): HttpHandler => {
    return async ({ websocket, signal }) => {
      if (websocket === undefined) return ok('none')
      websocket.hear((bytes) => heard.push(Buffer.from(bytes).toString('latin1')))
      return { status: 101, headers: {}, body: untilOver(signal) }
    }
  }

  it('hears what came with its request, and what comes, and ends with its stream', async () => {
    const heard: string[] = []
    const { say, texts, wire, connection, settle } = open(echo(heard))
    await say(get('/', upgrade) + 'with it')
    await say('behind it')
    expect(heard).toEqual(['with it', 'behind it'])
    expect(texts().join('')).toMatch(/^HTTP\/1.1 101 Switching Protocols\r\n(?!.*(?:length|encoding))[^]*\r\n\r\n$/)
    wire.push(null)
    await settle()
    expect([connection.phase, wire.destroyed]).toEqual(['over', true])
  })

  it.each([
    ['a length', post(upgrade + 'Content-Length: 0\r\n')],
    ['a body', get('/', upgrade + 'Content-Length: 1\r\n') + 'x'],
    ['an older version', get('/', upgrade).replace('1.1', '1.0')],
    ['another protocol', get('/', upgrade.replace('websocket', 'h2c'))],
    ['no such connection', get('/', upgrade.replace('n: Upgrade', 'n: close'))],
  ])('is not offered with %s', async (_what, text) => {
    const { say, texts } = open(echo([]))
    await say(text)
    expect(texts()[0]).toMatch(/none$/)
  })

  it('goes on when its client had to wait', async () => {
    const release = Promise.withResolvers<void>()
    const heard: string[] = []
    const { say, wire, settle } = open(async (request) => {
      await release.promise
      return echo(heard)(request)
    })
    await say(get('/', upgrade))
    await say('x'.repeat(70_000))
    expect(wire.isPaused()).toBe(true)
    release.resolve()
    await settle()
    expect([wire.isPaused(), heard.join('').length]).toEqual([false, 70_000])
  })

  it('sends its pieces as they are, and stops with its client', async () => {
    const { told, body } = notedPieces('a', Uint8Array.of(255), 'ü', 'end')
    const { say, texts, state } = open(async () => ({ status: 101, headers: {}, body }))
    await say(get('/', upgrade))
    expect(texts().join('')).toMatch(/\r\n\r\na\xff\xc3\xbcend$/)
    expect([told, state()]).toEqual([{ taken: 4, returned: 0 }, 'over 2'])
  })
})
