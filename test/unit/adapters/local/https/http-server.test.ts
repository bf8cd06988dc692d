import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { httpServerNames } from '../../../../../shared/adapters/local/https/http-server.ts'
import { errorCatalogue, OperatingError } from '../../../../../shared/model/errors.ts'
import type { HttpResponse } from '../../../../../shared/ports/http-handler.ts'
import { ok, portOf, useServers } from './server-harness.ts'
import { eventually } from '../../../../support/eventually.ts'
import { underLoad } from '../../../../support/under-load.ts'

/** Real TLS on loopback, of both servers: what a handler is given, and what a client gets. */

async function told(error: unknown): Promise<HttpResponse> {
  if (!(error instanceof OperatingError)) throw error
  return { status: errorCatalogue[error.code].status, headers: {}, body: error.message }
}

describe.each(httpServerNames)('the %s server', (name) => {
  const { serve, send, newAgent } = useServers(name)

  describe('it', () => {
    it('hands over method, path, query, headers and body as they were sent', async () => {
      const server = await serve(async (request) => {
        const body = new TextDecoder().decode(await request.body(100))
        return ok(
          JSON.stringify([
            request.method,
            request.path,
            request.query.getAll('a'),
            request.header('x-one'),
            request.header('x-two'),
            body,
          ]),
        )
      })
      const reply = await send(server, '/a%2Fb/c?a=1&a=%C3%A9', {
        method: 'PUT',
        headers: { 'X-One': 'yes' },
        body: 'grüße',
      })
      expect(JSON.parse(reply.body)).toEqual(['PUT', '/a%2Fb/c', ['1', 'é'], 'yes', null, 'grüße'])
    })

    it('hands over each line of a header, apart and in order', async () => {
      const server = await serve(async (request) => ok(JSON.stringify(request.fieldsUnder('x-g'))))
      const reply = await send(server, '/', { headers: { 'X-G-One': ['a, b', 'c'], 'X-g': 'd', 'X-Other': 'e' } })
      expect(JSON.parse(reply.body)).toEqual([
        ['x-g-one', 'a, b'],
        ['x-g-one', 'c'],
        ['x-g', 'd'],
      ])
    })

    it('sends status, headers, text and bytes with their length', async () => {
      const long = 'grüße'.repeat(100_000)
      const server = await serve(async ({ path }) => ({
        status: 201,
        headers: { 'x-kind': 'test' },
        body: path === '/text' ? 'grüße' : path === '/long' ? long : Uint8Array.of(1, 2, 3),
      }))
      const text = await send(server, '/text')
      expect([text.status, text.headers['x-kind'], text.headers['content-length'], text.body]).toEqual([
        201,
        'test',
        '7',
        'grüße',
      ])
      expect((await send(server, '/bytes')).body).toBe('\u0001\u0002\u0003')
      const { body, headers } = await send(server, '/long')
      expect([body === long, headers['content-length']]).toEqual([true, '700000'])
    })

    it('keeps the connection for the next request', async () => {
      const server = await serve(async () => ok('x'))
      const agent = newAgent()
      let sockets = 0
      agent.on('free', () => sockets++)
      await send(server, '/', { agent })
      await send(server, '/', { agent })
      expect(Object.values(agent.freeSockets).flat()).toHaveLength(1)
    })

    it('is not trusted by a client that does not know its authority', async () => {
      const server = await serve(async () => ok('x'))
      await expect(send(server, '/', { agent: new Agent() })).rejects.toThrow(/certificate/)
    })

    it('says that a port is in use', async () => {
      const server = await serve(async () => ok('x'))
      const port = portOf(server)
      await expect(serve(async () => ok('x'), { port })).rejects.toThrow(
        `cannot listen on 127.0.0.1:${port}: the port is in use; stop what has it, or choose another (--port)`,
      )
    })
  })

  describe('a body', () => {
    it('comes whole out of many pieces', async () => {
      const server = await serve(async (request) => ok(String((await request.body(3_000_000)).length)))
      expect((await send(server, '/', { method: 'POST', body: Buffer.alloc(2_000_000) })).body).toBe('2000000')
    })

    it('is refused as soon as it is too long, and the client is told', async () => {
      const server = await serve((request) => request.body(1_000).then(() => ok('read'), told))
      const reply = await send(server, '/', { method: 'POST', body: 'x'.repeat(1_001) })
      expect([reply.status, reply.body]).toEqual([413, 'Request entity too large: limit is 1000'])
      expect((await send(server, '/', { method: 'POST', body: 'x'.repeat(1_000) })).body).toBe('read')
    })

    it('that nobody reads costs the connection, not the server', async () => {
      const server = await serve(async () => ({ status: 401, headers: {}, body: 'no' }))
      const agent = newAgent()
      const request = httpsRequest(`${server.url}/`, {
        method: 'POST',
        agent,
        headers: { 'content-length': '5000000' },
      })
      const status = await new Promise((resolve, reject) => {
        request
          .on('error', reject)
          .on('response', (response) => resolve([response.statusCode, response.headers.connection]))
        request.write('x')
      })
      expect(status).toEqual([401, 'close'])
      request.destroy()
    })
  })

  it.skipIf(!existsSync('/proc/net/tcp'))(
    'has the system look whether a silent client is there',
    { meta: { skipped: 'only Linux shows the timers of its sockets' } },
    async () => {
      const server = await serve(async () => ok('fine'))
      const agent = newAgent()
      await send(server, '/', { agent })
      const port = portOf(server).toString(16).toUpperCase().padStart(4, '0')
      const row = new RegExp(`^ *\\d+: \\S+:${port} \\S+ 01 \\S+ (\\d\\d):`, 'gm')
      const timers = (): readonly unknown[] =>
        [...readFileSync('/proc/net/tcp', 'utf8').matchAll(row)].map(([, timer]) => timer)
      // 02 is the timer of keep-alive.
      await eventually(async () => expect(timers()).toEqual(['02']))
    },
  )

  describe('a stream', () => {
    it('sends headers with the first piece and every piece at once', async () => {
      const release = Promise.withResolvers<void>()
      const server = await serve(async () =>
        ok(
          (async function* () {
            yield '\n'
            await release.promise
            yield 'second\n'
          })(),
        ),
      )
      const pieces: string[] = []
      await new Promise<void>((resolve) => {
        httpsRequest(`${server.url}/`, { agent: newAgent() }, (response) => {
          response.on('data', (piece: Buffer) => {
            pieces.push(piece.toString())
            release.resolve()
          })
          response.on('end', () => resolve())
        }).end()
      })
      expect(pieces).toEqual(['\n', 'second\n'])
    })

    it('that has nothing to say yet has its head sent', async () => {
      const server = await serve(async ({ signal }) =>
        ok(
          (async function* () {
            await new Promise((resolve) => signal.addEventListener('abort', resolve))
            yield 'never'
          })(),
        ),
      )
      const request = httpsRequest(`${server.url}/`, { agent: newAgent() }).end()
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      expect(response.statusCode).toBe(200)
      request.on('error', () => {}).destroy()
    })

    it('is told when the client leaves', async () => {
      const left = Promise.withResolvers<string>()
      const server = await serve(async ({ signal }) =>
        ok(
          (async function* () {
            yield 'first\n'
            await new Promise((resolve) => signal.addEventListener('abort', resolve))
            left.resolve('ended')
          })(),
        ),
      )
      const request = httpsRequest(`${server.url}/`, { agent: newAgent() }, (response) =>
        response.once('data', () => request.destroy()),
      )
      request.on('error', () => {}).end()
      expect(await left.promise).toBe('ended')
    })

    it('waits for a slow client instead of piling up', async () => {
      const piece = 'x'.repeat(100_000)
      let taken = 0
      const server = await serve(async ({ signal }) =>
        ok(
          (async function* () {
            for (; taken < 1_000 && !signal.aborted; taken++) yield piece
          })(),
        ),
      )
      const request = httpsRequest(`${server.url}/`, { agent: newAgent() }, (response) => response.pause())
      request.on('error', () => {}).end()
      // Until no more is taken, at last.
      for (let before = -1; before !== taken || taken === 0; await sleep(100)) before = taken
      expect(taken).toBeLessThan(200)
      request.destroy()
    })
  })

  describe('close', () => {
    it('ends streams, lets running requests finish, takes no new ones', async () => {
      const release = Promise.withResolvers<void>()
      const [slowBegan, streamBegan] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const server = await serve(async ({ path, signal }) => {
        if (path === '/slow') {
          slowBegan.resolve()
          return release.promise.then(() => ok('done'))
        }
        return ok(
          (async function* () {
            yield 'first\n'
            streamBegan.resolve()
            await new Promise((resolve) => signal.addEventListener('abort', resolve))
            yield 'last\n'
          })(),
        )
      })
      const stream = send(server, '/stream')
      const slow = send(server, '/slow')
      await Promise.all([slowBegan.promise, streamBegan.promise])
      const closed = server.close(60_000)
      expect((await stream).body).toBe('first\nlast\n')
      await expect(send(server, '/late')).rejects.toThrow(/ECONNREFUSED/)
      release.resolve()
      const reply = await slow
      expect([reply.body, reply.headers.connection]).toEqual(['done', 'close'])
      await closed
    })

    it('cuts off who has not said a word at the deadline', async () => {
      const server = await serve(async () => ({ status: 200, headers: {}, body: '' }))
      const silent = connect(portOf(server), '127.0.0.1')
      await once(silent, 'connect')
      const startMs = performance.now()
      await server.close(100)
      expect(performance.now() - startMs).toBeLessThan(underLoad(2_000))
      silent.destroy()
    })

    it('cuts off what is still running at the deadline', async () => {
      const began = Promise.withResolvers<void>()
      const server = await serve(() => {
        began.resolve()
        return new Promise(() => {})
      })
      const cut = send(server, '/').catch(String)
      await began.promise
      await server.close(50)
      expect(await cut).toMatch(/hang up|ECONNRESET/)
    })
  })
})
