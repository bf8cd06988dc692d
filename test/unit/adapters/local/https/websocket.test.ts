import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { httpServerNames } from '../../../../../shared/adapters/local/https/http-server.ts'
import type { HttpHandler, HttpRequest, HttpResponse } from '../../../../../shared/ports/http-handler.ts'
import { useUncaught } from '../../../../support/uncaught.ts'
import { openWebsocket } from '../../../../support/websocket-client.ts'
import { ok, useServers } from './server-harness.ts'

/** How a request becomes a websocket, on both servers: what the handler says and hears from then on. */

const key = 'dGhlIHNhbXBsZSBub25jZQ=='
const asking = (extra = '', path = '/'): string =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n` +
  `Sec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n${extra}\r\n`

/** Says back what it hears, until it hears an exclamation mark. */
const echo: HttpHandler = async (request) => {
  if (request.websocket === undefined) return ok('none')
  const heard: Uint8Array[] = []
  let wake = (): void => {}
  request.websocket.hear((bytes) => {
    heard.push(bytes)
    wake()
  })
  return { status: 101, headers: { 'sec-websocket-protocol': 'p' }, body: said(request, heard, (go) => (wake = go)) }
}

async function* said(
  { signal }: HttpRequest,
  heard: Uint8Array[],
  onWake: (go: () => void) => void,
): AsyncGenerator<Uint8Array> {
  signal.addEventListener('abort', () => heard.push(Buffer.from('over!')))
  for (;;) {
    const bytes = heard.shift()
    if (bytes !== undefined) yield bytes
    if (bytes !== undefined && Buffer.from(bytes).includes('!')) return
    if (heard.length === 0)
      await new Promise<void>((go) => {
        onWake(go)
        signal.addEventListener('abort', () => go(), { once: true })
      })
  }
}

describe.each(httpServerNames)('a websocket of the %s server', (name) => {
  const { authority, serve, connect } = useServers(name)
  const thrown = useUncaught()

  it('is not asked for behind a request that has no answer yet: the connection ends, or both are answered', async () => {
    const client = await connect(await serve(async () => ok('x')))
    client.write(`GET /1 HTTP/1.1\r\nHost: x\r\n\r\n${asking()}`)
    await Promise.race([client.ended(), client.hears(/(HTTP\/1\.1 [^]*){2}/)]).catch(() => '')
    expect(thrown()).toEqual([])
    const other = await connect(await serve(echo))
    other.write(asking())
    await other.hears(/101 Switching Protocols/)
  })

  it('is accepted as the RFC says, and is nothing but bytes from then on', async () => {
    const client = await connect(await serve(echo))
    client.write(asking())
    const head = await client.hears(/\r\n\r\n/)
    const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
    expect(head).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/)
    expect(head).toContain(`sec-websocket-accept: ${accept}\r\n`)
    expect(head).toContain('sec-websocket-protocol: p\r\n')
    expect(head).toMatch(/upgrade: websocket\r\nconnection: Upgrade\r\n/)
    expect(head).not.toMatch(/content-length|transfer-encoding/)
    client.write('GET / HTTP/1.1')
    await client.hears(/\r\n\r\nGET \/ HTTP\/1\.1$/)
    client.write('!')
    expect(await client.ended()).toMatch(/\r\n\r\nGET \/ HTTP\/1\.1!$/)
  })

  it('hears what came with the request', async () => {
    const client = await connect(await serve(echo))
    client.write(`${asking()}already!`)
    expect(await client.ended()).toMatch(/\r\n\r\nalready!$/)
  })

  it.each([
    [
      'another method',
      'POST / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 0\r\n\r\n',
    ],
    ['another protocol', 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'],
    ['a connection that does not say so', 'GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n\r\n'],
    ['HTTP/1.0', 'GET / HTTP/1.0\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
  ])('is not offered by %s', async (_, bytes) => {
    const client = await connect(await serve(echo))
    client.write(bytes)
    expect(await client.hears(/none$/)).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  })

  it('can be refused, by an answer like any other', async () => {
    const refusing = async (): Promise<HttpResponse> => ({ ...ok('no'), status: 403 })
    const client = await connect(await serve(refusing))
    client.write(asking())
    expect(await client.hears(/no$/)).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/)
    const { url } = await serve(refusing)
    await expect(openWebsocket(url, { authority: authority() })).rejects.toThrow('403')
  })

  it('ends with its client', async () => {
    const { promise: left, resolve: leave } = Promise.withResolvers<string>()
    const server = await serve((request) => {
      request.signal.addEventListener('abort', () => leave('left'))
      return echo(request)
    })
    const client = await connect(server)
    client.write(asking())
    await client.hears(/\r\n\r\n/)
    client.socket.destroy()
    expect(await left).toBe('left')
  })

  it('says its last word when the server closes', async () => {
    const server = await serve(echo)
    const client = await connect(server)
    client.write(asking())
    await client.hears(/\r\n\r\n/)
    await server.close(5_000)
    expect(await client.ended()).toMatch(/over!$/)
  })
})
