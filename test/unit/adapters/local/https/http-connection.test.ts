import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { httpServerNames } from '../../../../../shared/adapters/local/https/http-server.ts'
import { defaultTiming } from '../../../../../shared/adapters/local/https/listener.ts'
import { OperatingError } from '../../../../../shared/model/errors.ts'
import type { HttpHandler } from '../../../../../shared/ports/http-handler.ts'
import { ok, portOf, useServers } from './server-harness.ts'

/** What goes over a connection, byte by byte, of both servers. */

const host = 'Host: x\r\n'
const echo: HttpHandler = async (request) => {
  try {
    return ok(`${request.method} ${request.path} ${new TextDecoder().decode(await request.body(1_000))}.`)
  } catch (error) {
    return { status: error instanceof OperatingError ? 400 : 500, headers: {}, body: String(error) }
  }
}

describe.each(httpServerNames)('a connection to the %s server', (name) => {
  const { serve, connect, otherCredentials } = useServers(name)

  it('answers requests in the order they were sent, however many at once', async () => {
    const server = await serve(async (request) => {
      const waitMs = Number(request.query.get('ms'))
      await sleep(waitMs)
      return ok(`after ${waitMs}.`)
    })
    const client = await connect(server)
    client.write([30, 0, 10, 0].map((ms) => `GET /?ms=${ms} HTTP/1.1\r\n${host}\r\n`).join(''))
    const heard = await client.hears(/(after \d+\.[^]*){4}/)
    expect(heard.match(/after \d+/g)).toEqual(['after 30', 'after 0', 'after 10', 'after 0'])
  })

  it('finds the next request behind a body', async () => {
    const client = await connect(await serve(echo))
    client.write(
      `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n2\r\nxy\r\n1;e\r\nz\r\n0\r\nT: t\r\n\r\n`,
    )
    client.write(`GET /b HTTP/1.1\r\n${host}Connection: close\r\n\r\n`)
    expect((await client.ended()).match(/(POST|GET) [^.]*\./g)).toEqual(['POST /a xyz.', 'GET /b .'])
  })

  it('puts a body together that comes in very small chunks', async () => {
    const letters = Array.from({ length: 900 }, (_, i) => String.fromCharCode(97 + (i % 26)))
    const client = await connect(await serve(echo))
    const chunks = letters.map((letter) => `1\r\n${letter}\r\n`).join('')
    client.write(`POST / HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`)
    expect(await client.hears(/\.$/)).toContain(`POST / ${letters.join('')}.`)
  })

  it('tells a client that asks for leave to send its body', async () => {
    const client = await connect(await serve(echo))
    client.write(`PUT /a HTTP/1.1\r\n${host}Expect: 100-continue\r\nContent-Length: 3\r\n\r\n`)
    expect(await client.hears(/\r\n\r\n/)).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    client.write('abc')
    expect(await client.hears(/abc\./)).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK\r\n[^]*PUT \/a abc\.$/)
  })

  it('tells the length of what HEAD asks for, and nothing more', async () => {
    const client = await connect(await serve(async () => ok('abc')))
    client.write(`HEAD / HTTP/1.1\r\n${host}\r\nHEAD / HTTP/1.1\r\n${host}Connection: close\r\n\r\n`)
    const heard = await client.ended()
    expect(heard.match(/content-length: 3/gi)).toHaveLength(2)
    expect(heard).not.toContain('abc')
    expect(heard.endsWith('\r\n\r\n')).toBe(true)
  })

  it('sends no body with 304', async () => {
    const client = await connect(await serve(async () => ({ status: 304, headers: { etag: '"1"' }, body: '' })))
    client.write(`GET / HTTP/1.1\r\n${host}Connection: close\r\n\r\n`)
    expect(await client.ended()).toMatch(
      /^HTTP\/1.1 304 Not Modified\r\netag: "1"\r\n(?!.*content-length)[^]*\r\n\r\n$/i,
    )
  })

  it('ends with each answer to HTTP/1.0, unless it is asked to stay', async () => {
    const server = await serve(async ({ path }) => ok(path === '/s' ? streamOf(['a', '', 'b']) : 'x'))
    const one = await connect(server)
    one.write('GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n')
    expect(await one.hears(/x$/)).toMatch(/\r\nconnection: keep-alive\r\n/i)
    one.write('GET /s HTTP/1.0\r\n\r\n')
    expect(await one.ended()).toMatch(/\r\nconnection: close\r\n(?!.*transfer-encoding)[^]*\r\nab$/i)
  })

  it('sends a stream of text and bytes in chunks; an empty piece does not end it', async () => {
    const server = await serve(async () => ok(streamOf(['ü', '', Uint8Array.of(0, 255), 'b'])))
    const client = await connect(server)
    client.socket.setEncoding('latin1')
    client.write(`GET / HTTP/1.1\r\n${host}Connection: close\r\n\r\n`)
    const [, body] = (await client.ended()).split('\r\n\r\n', 2)
    expect(`${body}\r\n\r\n`).toBe('2\r\n\xc3\xbc\r\n2\r\n\0\xff\r\n1\r\nb\r\n0\r\n\r\n')
  })

  it.each([
    ['what is no request', 'nonsense\r\n\r\n', 400],
    [
      'a length beside chunks',
      `POST / HTTP/1.1\r\n${host}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`,
      400,
    ],
    ['a head that is too long', `GET / HTTP/1.1\r\n${host}X: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['a body in chunks that are none', `POST / HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\nx\r\n`, 400],
  ])('ends with %s, refused', async (_, text, status) => {
    const server = await serve(echo)
    const client = await connect(server)
    client.write(`GET /first HTTP/1.1\r\n${host}\r\n`)
    await client.hears(/GET \/first/)
    client.write(text + `GET /next HTTP/1.1\r\n${host}\r\n`)
    const heard = await client.ended()
    expect(heard).toMatch(new RegExp(`GET /first \\.HTTP/1.1 ${status} `))
    expect(heard).not.toContain('/next')
  })

  it.each(['', 'abc'])(
    'waits for no body of a client that has left before it was asked for, behind %j',
    async (sent) => {
      const read = Promise.withResolvers<unknown>()
      const asked = Promise.withResolvers<void>()
      const server = await serve(async (request) => {
        asked.resolve()
        const { signal } = request
        if (!signal.aborted) await once(signal, 'abort')
        await sleep(50)
        read.resolve(await request.body(1_000).catch((error: unknown) => error))
        return ok('')
      })
      const client = await connect(server)
      client.write(`PUT / HTTP/1.1\r\n${host}Content-Length: 10\r\n\r\n${sent}`)
      await asked.promise
      client.socket.destroy()
      expect(await read.promise).toMatchObject({ code: 'BAD_REQUEST', message: /the client left before/ })
    },
  )

  it('tells a client that leaves in the middle of its body from one that has sent it', async () => {
    const failed = Promise.withResolvers<unknown>()
    const server = await serve(async (request) => {
      await request.body(100).catch(failed.resolve)
      return ok('')
    })
    const client = await connect(server)
    client.write(`POST / HTTP/1.1\r\n${host}Content-Length: 5\r\n\r\nabc`)
    await sleep(50)
    client.socket.destroy()
    expect(await failed.promise).toMatchObject({ code: 'BAD_REQUEST', message: /the client left before/ })
  })

  it('does not take more than it is asked for, and reads on when it is', async () => {
    const release = Promise.withResolvers<void>()
    const server = await serve(async (request) => {
      await release.promise
      return ok(`${(await request.body(50_000_000)).length}.`)
    })
    const client = await connect(server)
    client.write(`POST / HTTP/1.1\r\n${host}Content-Length: 40000000\r\n\r\n`)
    client.socket.write(Buffer.alloc(40_000_000))
    for (let before = -1; before !== client.socket.writableLength; await sleep(200))
      before = client.socket.writableLength
    expect(client.socket.writableLength).toBeGreaterThan(10_000_000)
    release.resolve()
    expect(await client.hears(/\.$/)).toMatch(/\r\n\r\n40000000\.$/)
  })

  describe('in time', { concurrent: true }, () => {
    const timing = { handshakeSeconds: 1, requestSeconds: 1, idleSeconds: 1 }
    it.each([
      ['nothing', '', ''],
      ['half a head', 'GET / HTTP', 'HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n\r\n'],
      [
        'half a body',
        `POST / HTTP/1.1\r\n${host}Content-Length: 5\r\n\r\nabc`,
        'HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n\r\n',
      ],
    ])('ends with a client that sends %s', async (what, text, answer) => {
      const client = await connect(await serve(echo, { timing }))
      client.write(text)
      const heard = await client.ended()
      // Node's own server answers a silence, too.
      expect(name === 'node' && what === 'nothing' ? '' : heard.toLowerCase()).toBe(answer.toLowerCase())
    })

    it('gives the handler all the time it needs, once the body is there', async () => {
      const slow: HttpHandler = async (request) => {
        await request.body(100)
        await sleep(3_500)
        return ok('done.')
      }
      const client = await connect(await serve(slow, { timing }))
      client.write(`POST / HTTP/1.1\r\n${host}Content-Length: 2\r\n\r\na`)
      await sleep(100)
      client.write('b')
      expect(await client.hears(/done\./)).toMatch(/^HTTP\/1.1 200 /)
    })

    it('stays open for as long as it says to the client, and ends then', async () => {
      const client = await connect(await serve(echo, { timing: { ...timing, idleSeconds: 2 } }))
      // A busy machine lets the client hear of the answer later than its server counts from.
      const startMs = performance.now()
      client.write(`GET / HTTP/1.1\r\n${host}\r\n`)
      expect(await client.hears(/\.$/)).toMatch(/\r\nkeep-alive: timeout=2\r\n/i)
      await client.ended()
      expect(performance.now() - startMs).toBeGreaterThan(1_900)
    })

    it('ends with a client that does not finish its handshake', async () => {
      const socket = connectTcp(portOf(await serve(echo, { timing })), '127.0.0.1')
      socket.on('error', () => {})
      await once(socket, 'close')
      expect(socket.bytesRead).toBe(0)
    })
  })

  it.each(['whole', 'a stream'])('ends with a client that takes nothing of an answer that is %s', async (what) => {
    const timing = { handshakeSeconds: 1, requestSeconds: 1, idleSeconds: 1 }
    const left = Promise.withResolvers<void>()
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield Buffer.alloc(100_000, 'x')
      } finally {
        left.resolve()
      }
    }
    const answer = what === 'whole' ? ok(Buffer.alloc(30_000_000, 'x')) : ok(endless())
    const client = await connect(await serve(async () => answer, { timing }))
    client.socket.pause()
    client.write(`GET / HTTP/1.1\r\n${host}\r\n`)
    await (what === 'whole' ? sleep(6_000) : left.promise)
    client.socket.resume()
    expect((await client.ended()).length).toBeLessThan(25_000_000)
  })

  it.each(['whole', 'a stream'])(
    'goes on with a client that takes little at a time of an answer that is %s',
    async (what) => {
      // What the kernel keeps for the client, which may be megabytes, is taken without the server seeing it.
      const timing = { handshakeSeconds: 1, requestSeconds: 4, idleSeconds: 1 }
      const length = 60_000_000
      async function* atOnce(): AsyncGenerator<Uint8Array> {
        yield Buffer.alloc(length, 'x')
      }
      const body = what === 'whole' ? 'x'.repeat(length) : atOnce()
      const client = await connect(await serve(async () => ok(body), { timing }))
      let isSlow = true
      client.socket.on('data', () => {
        if (!isSlow) return
        client.socket.pause()
        setTimeout(() => client.socket.resume(), 5)
      })
      client.write(`GET / HTTP/1.1\r\n${host}Connection: close\r\n\r\n`)
      await sleep(8_000)
      isSlow = false
      const [, ...answer] = (await client.ended()).split('\r\n\r\n')
      expect(answer.join('').replaceAll(/[^x]/g, '')).toHaveLength(length)
    },
  )

  it('outlives the idle connections of the clients it is made for', () => {
    // Go's http.DefaultTransport, and with it kubectl: 90 s.
    expect(defaultTiming.idleSeconds).toBeGreaterThan(90)
  })

  describe('by TLS', () => {
    it.each(['ECDHE-ECDSA-AES128-SHA256', 'ECDHE-ECDSA-AES256-SHA', 'AES128-GCM-SHA256'])(
      'of 1.2 is not had with %s',
      async (ciphers) => {
        const tooWeak = connect(await serve(echo), { maxVersion: 'TLSv1.2', ciphers })
        await expect(tooWeak).rejects.toThrow(/handshake failure/)
      },
    )

    it.each([
      [true, 'h2'],
      [false, 'http/1.1'],
    ])('of 1.2 and 1.3 is had with authenticated ciphers, with HTTP/2: %s', async (http2, agreed) => {
      const server = await serve(echo, { http2 })
      for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
        const { socket } = await connect(server, { maxVersion, ALPNProtocols: ['h2', 'http/1.1'] })
        expect([socket.getProtocol(), socket.getCipher().name, socket.alpnProtocol]).toEqual([
          maxVersion,
          expect.stringMatching(/GCM|CHACHA20/),
          agreed,
        ])
      }
    })

    it('is refused to a client that speaks nothing of what is offered', async () => {
      const refused = /no application protocol/
      await expect(connect(await serve(echo), { ALPNProtocols: ['h3'] })).rejects.toThrow(refused)
      await expect(connect(await serve(echo, { http2: false }), { ALPNProtocols: ['h2'] })).rejects.toThrow(refused)
    })

    it('is resumed with a ticket, and begun anew when a new certificate has made it worthless', async () => {
      const server = await serve(echo)
      const first = await connect(server, { maxVersion: 'TLSv1.3' })
      const ticket = once(first.socket, 'session')
      first.write(`GET / HTTP/1.1\r\n${host}\r\n`)
      const [session] = (await ticket) as [Buffer]
      expect((await connect(server, { session })).socket.isSessionReused()).toBe(true)
      const { tls, authority } = otherCredentials()
      server.renew(tls)
      const later = await connect(server, { session, ca: authority })
      expect(later.socket.isSessionReused()).toBe(false)
      later.write(`GET /again HTTP/1.1\r\n${host}\r\n`)
      await later.hears(/GET \/again/)
      // Who is connected stays so.
      first.write(`GET /still HTTP/1.1\r\n${host}\r\n`)
      await first.hears(/GET \/still/)
    })
  })
})

/** Where Node's own server does something else, which a client cannot rely on: see decision 24. */
describe('a connection to the lean server alone', () => {
  const { serve, connect } = useServers('lean')

  it('drops a body that is not read but has come', async () => {
    const client = await connect(await serve(async ({ path }) => ok(`${path}.`)))
    client.write(`POST /a HTTP/1.1\r\n${host}Content-Length: 3\r\n\r\nabcGET /b HTTP/1.1\r\n${host}\r\n`)
    expect(await client.hears(/\/b\./)).toMatch(/\r\n\r\n\/a\.HTTP/)
  })

  it('ends with an expectation that it cannot meet', async () => {
    const client = await connect(await serve(echo))
    client.write(`PUT / HTTP/1.1\r\n${host}Expect: tea\r\nContent-Length: 1\r\n\r\nx`)
    expect(await client.ended()).toBe('HTTP/1.1 417 Expectation Failed\r\nconnection: close\r\n\r\n')
  })
})

async function* streamOf(pieces: readonly (string | Uint8Array)[]): AsyncGenerator<string | Uint8Array> {
  for (const piece of pieces) {
    await sleep(5)
    yield piece
  }
}
