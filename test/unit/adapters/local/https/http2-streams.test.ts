import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { PassThrough, Writable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { Http2Request } from '../../../../../shared/adapters/local/https/http2-request.ts'
import { respondOn } from '../../../../../shared/adapters/local/https/http2-response.ts'
import type { HttpResponse } from '../../../../../shared/ports/http-handler.ts'
import { notedPieces, openBody } from './noted-pieces.ts'
import { ok } from './server-harness.ts'

/** One request and one answer of HTTP/2, on streams that the test plays. */

async function settle(): Promise<void> {
  for (let i = 0; i < 4; i++) await turn()
}

/** Takes what is sent when the test says so. */
class Answered extends Writable {
  readonly said: unknown[] = []
  override closed = false
  isFull = false
  #resume: (() => void) | undefined

  respond(headers: object, { endStream }: { readonly endStream: boolean }): void {
    this.said.push([headers, endStream ? 'ends' : 'goes on'])
  }
  override _write(bytes: Buffer, _: BufferEncoding, done: () => void): void {
    this.said.push(bytes.toString())
    if (this.isFull) this.#resume = done
    else done()
  }
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.makeRoom()
    done(error)
  }
  makeRoom(): void {
    this.isFull = false
    this.#resume?.()
  }
}

function answerOn(stream: Answered, response: HttpResponse, method = 'GET'): Promise<void> {
  return respondOn({ stream: stream as unknown as ServerHttp2Stream, onTaken: () => {} }, method, response)
}

describe('an answer', () => {
  const head = (status: number, more: object = {}) => ({ ':status': status, 'content-type': 'text/plain', ...more })

  it.each<[string, HttpResponse, readonly unknown[]]>([
    ['GET', ok('ü'), [[head(200, { 'content-length': 2 }), 'goes on'], 'ü']],
    ['GET', ok(Buffer.from('abc')), [[head(200, { 'content-length': 3 }), 'goes on'], 'abc']],
    ['GET', ok(notedPieces('a', Buffer.from('b')).body), [[head(200), 'goes on'], 'a', 'b']],
    ['HEAD', ok('abc'), [[head(200, { 'content-length': 3 }), 'ends']]],
    ['HEAD', ok(notedPieces('a').body), [[head(200), 'ends']]],
    ['GET', { ...ok(''), status: 204 }, [[head(204, { 'content-length': 0 }), 'ends']]],
    ['GET', { ...ok('abc'), status: 304 }, [[head(304), 'ends']]],
  ])('to %s is its head and its body: %#', async (method, response, said) => {
    const stream = new Answered()
    await answerOn(stream, response, method)
    expect(stream.said).toEqual(said)
    expect(stream.writableEnded).toBe(said.length > 1)
  })

  it.each([
    ['HEAD', ok, 1],
    ['GET', (body: HttpResponse['body']) => ({ ...ok(body), status: 304 }), 1],
    ['GET', ok, 0],
  ])('to %s gives a stream back that it does not send: %#', async (method, responseOf, returned) => {
    const { told, body } = notedPieces('a')
    await answerOn(new Answered(), responseOf(body), method)
    expect(told).toEqual({ taken: returned === 1 ? 0 : 1, returned })
  })

  it.each([
    ['was broken off', (stream: Answered) => void stream.destroy()],
    ['is closed', (stream: Answered) => void (stream.closed = true)],
  ])('on a stream that %s is none', async (_what, end) => {
    const stream = new Answered()
    end(stream)
    const { told, body } = notedPieces('a')
    await answerOn(stream, ok(body))
    await answerOn(stream, ok('text'))
    expect([stream.said, told]).toEqual([[], { taken: 0, returned: 1 }])
  })

  it.each([
    ['is closed', 'GET'],
    ['gets the head only', 'HEAD'],
  ])('on a stream that %s lets go of a file that it would have read', async (what, method) => {
    const stream = new Answered()
    stream.closed = what === 'is closed'
    const body = await openBody()
    await answerOn(stream, ok(body), method)
    await expect.poll(() => body.closed, { timeout: 60_000 }).toBe(true)
  })

  /** 16 KiB wait, and the piece that is more. */
  it.each([
    [4_096, 5],
    [5_000, 4],
    [16_384, 2],
    [16_385, 1],
  ])('in pieces of %d bytes has %d of them in hand, however slow its client is', async (size, inHand) => {
    const { told, body } = notedPieces(...Array.from({ length: 9 }, () => Buffer.alloc(size, 'x')))
    const stream = new Answered()
    stream.isFull = true
    const sent = answerOn(stream, ok(body))
    await settle()
    expect(told.taken).toBe(inHand)
    stream.makeRoom()
    await sent
    await settle()
    expect([told, stream.writableFinished]).toEqual([{ taken: 9, returned: 0 }, true])
  })

  it.each([
    ['its pieces back', 9, 1],
    ['nothing back when it has taken all', 1, 0],
  ])('ends with its client, and gives %s', async (_what, length, returned) => {
    const { told, body } = notedPieces(...Array.from({ length }, () => Buffer.alloc(20_000)))
    const stream = new Answered()
    stream.on('error', () => {})
    stream.isFull = true
    const sent = answerOn(stream, ok(body))
    await settle()
    stream.destroy()
    await sent
    expect([told.returned, told.taken < 4, stream.writableEnded]).toEqual([returned, true, false])
  })
})

function ask(headers: IncomingHttpHeaders, fields: readonly string[] = [], more: object = {}) {
  const stream = new PassThrough({ autoDestroy: false })
  for (const [name, value] of Object.entries(more)) Object.defineProperty(stream, name, { value })
  const waits = { begun: 0, ended: 0, expire: (): void => {} }
  const request = new Http2Request({
    stream: stream as unknown as ServerHttp2Stream,
    headers,
    fields,
    certificate: undefined,
    awaitBody: (expire) => {
      waits.begun++
      waits.expire = expire
      return () => waits.ended++
    },
    signal: () => new AbortController().signal,
  })
  return { stream, waits, request }
}

describe('a request', () => {
  it('says what its fields say', () => {
    const fields = ['x-a', '1', 'x-a', '2', 'y', '3']
    const { request } = ask({ ':method': 'PUT', ':path': '/a?b=1&b=2', 'x-a': ['1', '2'], y: '3' }, fields)
    expect([request.method, request.path, request.query.getAll('b')]).toEqual(['PUT', '/a', ['1', '2']])
    expect(request.query).toBe(request.query)
    expect([request.header('x-a'), request.header('y'), request.header('z')]).toEqual(['1, 2', '3', undefined])
    expect(request.fieldsUnder('x-')).toEqual([
      ['x-a', '1'],
      ['x-a', '2'],
    ])
    expect([ask({}).request.method, ask({}).request.path]).toEqual(['', ''])
  })

  it.each([
    [{ host: 'h', ':authority': 'a' }, 'h'],
    [{ ':authority': 'a' }, 'a'],
    [{}, undefined],
  ])('of %j is for the host %s', (headers, host) => {
    const { request } = ask(headers)
    expect([request.header('host'), request.header('other')]).toEqual([host, undefined])
  })
})

describe('a body', () => {
  const failure = (code: string, message: string) => expect.objectContaining({ code, message })
  const tooLarge = failure('TOO_LARGE', 'Request entity too large: limit is 4')
  const textOf = (read: Promise<Uint8Array>): Promise<unknown> =>
    read.then(
      (bytes) => Buffer.from(bytes).toString(),
      (error: unknown) => error,
    )

  it.each<[readonly string[], unknown]>([
    [[], ''],
    [['a'], 'a'],
    [['ab', 'cd'], 'abcd'],
    [['ab', 'cde'], tooLarge],
    [['abcde'], tooLarge],
    [['ab', 'cd', 'e', 'f'], tooLarge],
  ])('in the pieces %j is whole, or too much', async (pieces, expected) => {
    const { stream, waits, request } = ask({})
    const read = textOf(request.body(4))
    for (const piece of pieces) {
      stream.write(piece)
      await turn()
    }
    stream.end()
    expect(await read).toEqual(expected)
    stream.destroy()
    await turn()
    const isWhole = typeof expected === 'string'
    expect([waits.begun, stream.isPaused()]).toEqual([1, !isWhole])
    expect(isWhole ? waits.ended === 1 : waits.ended > 0).toBe(true)
  })

  it.each([
    ['4', 'abcd'],
    ['5', tooLarge],
  ])('that says to have %s bytes is waited for, or refused at once', async (length, expected) => {
    const { stream, waits, request } = ask({ 'content-length': length })
    const read = textOf(request.body(4))
    expect(waits.begun).toBe(typeof expected === 'string' ? 1 : 0)
    if (typeof expected === 'string') stream.end(expected)
    expect(await read).toEqual(expected)
  })

  it.each<readonly [string | undefined, object, number]>([
    ['100-continue', {}, 1],
    ['100-Continue', {}, 1],
    ['something', {}, 0],
    [undefined, {}, 0],
    ['100-continue', { closed: true }, 0],
    ['100-continue', { destroyed: true }, 0],
  ])('that is expected to be let on (%s, %o) is, if its client is there', (expectation, state, count) => {
    const told: object[] = []
    const { request } = ask({ ...(expectation !== undefined && { expect: expectation }) }, [], {
      ...state,
      additionalHeaders: (headers: object) => void told.push(headers),
    })
    void request.body(4).catch(() => {})
    expect(told).toEqual(Array.from({ length: count }, () => ({ ':status': 100 })))
  })

  it('in one piece is handed over as it came', async () => {
    const { stream, request } = ask({})
    const read = request.body(4)
    const piece = Buffer.from('abcd')
    stream.end(piece)
    expect(await read).toBe(piece)
  })

  it('is within a limit of no bytes if the client sends none', async () => {
    const { stream, request } = ask({})
    stream.end()
    expect(await request.body(0)).toHaveLength(0)
  })

  it('that does not come in time is none', async () => {
    const { stream, waits, request } = ask({})
    const read = textOf(request.body(4))
    waits.expire()
    expect(await read).toEqual(failure('BAD_REQUEST', 'the body did not come in time'))
    expect([waits.ended, stream.isPaused()]).toEqual([1, true])
  })

  it('whose client has left before is none, and is not waited for', async () => {
    const { stream, waits, request } = ask({ expect: '100-continue' })
    stream.destroy()
    await turn()
    expect(await textOf(request.body(4))).toEqual(failure('BAD_REQUEST', 'the client left before its body was whole'))
    expect(waits.begun).toBe(0)
  })

  it('whose client leaves is none', async () => {
    const { stream, waits, request } = ask({})
    const read = textOf(request.body(4))
    stream.write('ab')
    await turn()
    stream.destroy()
    expect(await read).toEqual(failure('BAD_REQUEST', 'the client left before its body was whole'))
    expect(waits.ended).toBe(1)
  })
})
