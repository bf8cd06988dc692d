import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectHttp2, constants, type ClientHttp2Session } from 'node:http2'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { httpServerNames } from '../../shared/adapters/local/https/http-server.ts'
import { systemClock } from '../../shared/adapters/node/system-clock.ts'
import { OperatingError } from '../../shared/model/errors.ts'
import type { JsonObject } from '../../shared/model/json.ts'
import { eventually } from '../support/eventually.ts'
import {
  createInformer,
  Gone,
  staleness,
  type Held,
  type InformerEvent,
  type InformerSource,
} from '../support/informer.ts'
import { openWebsocket, type WebsocketClient } from '../support/websocket-client.ts'
import { createWidgetHarness, widget, widgets, type Harness } from '../unit/api/harness.ts'
import { useServers } from '../unit/adapters/local/https/server-harness.ts'

/** Watches by websocket, asked for by the client `ws`, and by HTTP/2, on both servers. */

let harness: Harness
beforeEach(async () => {
  harness = await createWidgetHarness({ clock: systemClock })
})
afterEach(() => harness.close())

const patch = (name: string, spec: JsonObject) =>
  harness.send(`PATCH ${widgets}/${name}`, { type: 'application/merge-patch+json', body: { spec } })
const create = (name: string, spec?: JsonObject, metadata?: JsonObject) =>
  harness.send(`POST ${widgets}`, { body: widget(name, spec, metadata) })
const remove = (name: string) => harness.send(`DELETE ${widgets}/${name}`)

async function list(): Promise<{ readonly items: readonly Held[]; readonly version: string }> {
  const { items, metadata } = (await harness.send(`GET ${widgets}`)).body
  return { items: items.map(heldOf), version: metadata.resourceVersion }
}

function heldOf({ metadata }: { readonly metadata: Record<string, string> }): Held {
  const { name = '', uid = '', resourceVersion: version = '' } = metadata
  return { name, uid, version }
}

const tokenProtocol = (token: string): string =>
  `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`

describe.each(httpServerNames)('a watch by websocket of the %s server', (name) => {
  const { authority, connect, serve } = useServers(name)
  const open = async (query: string, options: Partial<Parameters<typeof openWebsocket>[1]> = {}) => {
    const { url } = await serve(harness.api)
    return openWebsocket(`${url}${widgets}?watch=1${query}`, { authority: authority(), token: 'token', ...options })
  }
  const event = async (client: WebsocketClient) => JSON.parse((await client.next()) ?? 'null')

  it('tells one event with each message', async () => {
    await create('a')
    await using client = await open(
      '&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan',
    )
    expect(await event(client)).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } })
    expect(await event(client)).toMatchObject({ type: 'BOOKMARK' })
    const text = 'ü'.repeat(50_000)
    await create('b', undefined, { annotations: { text } })
    await remove('a')
    expect(await event(client)).toMatchObject({ object: { metadata: { name: 'b', annotations: { text } } } })
    expect(await event(client)).toMatchObject({ type: 'DELETED' })
  })

  it('ends with the status of its end when its time is over, the server closes or the client does', async () => {
    await using first = await open('&timeoutSeconds=1')
    expect(await first.closed).toBe(1000)
    const server = await serve(harness.api)
    const options = { authority: authority(), token: 'token' }
    await using second = await openWebsocket(`${server.url}${widgets}?watch=1`, options)
    await server.close(5_000)
    expect(await second.closed).toBe(1001)
    await using third = await open('')
    third.socket.close(3001, 'enough')
    expect(await third.closed).toBe(3001)
  })

  it('says why it ends in an event, as 410', async () => {
    const { version } = await list()
    const feed: Harness['services']['feed'] = {
      ...harness.services.feed,
      // oxlint-disable-next-line require-yield -- it has nothing to tell
      async *follow() {
        await systemClock.sleep(50)
        throw new OperatingError('EXPIRED', 'too old')
      },
    }
    const other = await createWidgetHarness({ clock: systemClock, feed })
    const { url } = await serve(other.api)
    const target = `${url}${widgets}?watch=1&resourceVersion=${version}`
    await using client = await openWebsocket(target, { authority: authority(), token: 'token' })
    expect(await event(client)).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } })
    expect(await client.closed).toBe(1000)
    other.close()
  })

  it('answers pings, between two events and at rest', async () => {
    await using client = await open('')
    const pong = new Promise((resolve) => client.socket.once('pong', (data: Buffer) => resolve(data.toString())))
    client.socket.ping('are you there')
    expect(await pong).toBe('are you there')
  })

  it('takes a token as a subprotocol, with another one to agree on', async () => {
    const protocols = [tokenProtocol('token'), 'base64.binary.k8s.io']
    await using client = await open('', { token: undefined, protocols })
    expect(client.socket.protocol).toBe('base64.binary.k8s.io')
    await expect(open('', { token: undefined, protocols: [tokenProtocol('token')] })).rejects.toThrow('401')
    await expect(open('', { token: undefined, protocols: [tokenProtocol('no'), 'x'] })).rejects.toThrow('401')
  })

  it('is refused to who may not watch, as every watch', async () => {
    await expect(open('', { token: 'alice' })).rejects.toThrow('403')
    await expect(open('', { token: undefined })).rejects.toThrow('401')
    await expect(open('&resourceVersion=x')).rejects.toThrow('400')
  })

  it.each([
    ['says too much', 1008, Buffer.alloc(60_000), 10],
    ['says too much at once', 1009, Buffer.alloc(65_600), 1],
  ])('ends for a client that %s', async (_, status, message, times) => {
    await using client = await open('')
    for (let i = 0; i < times; i++) client.socket.send(message)
    expect(await client.closed).toBe(status)
  })

  it('drops what else its client says', async () => {
    await using client = await open('')
    client.socket.send('hello')
    client.socket.send(Buffer.alloc(1_000))
    await create('a')
    expect(await event(client)).toMatchObject({ type: 'ADDED' })
  })

  it('keeps the pongs of a client that does not read to one', async () => {
    const server = await serve(harness.api)
    const { socket } = await connect(server)
    const key = randomBytes(16).toString('base64')
    socket.write(
      `GET ${widgets}?watch=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer token\r\nConnection: Upgrade\r\n` +
        `Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
    )
    await new Promise((resolve) => socket.once('data', resolve))
    const ping = Buffer.from([0x89, 0x80, 0, 0, 0, 0])
    const said: Buffer[] = []
    socket.on('data', (bytes: Buffer) => said.push(bytes))
    socket.write(Buffer.concat(Array.from({ length: 5_000 }, () => ping)))
    await eventually(async () => expect(Buffer.concat(said).length).toBeGreaterThan(0))
    // Those that came together are answered by the last one (RFC 6455 section 5.5.3).
    expect(Buffer.concat(said).length).toBeLessThan(1_000)
    expect([...Buffer.concat(said).subarray(0, 2)]).toEqual([0x8a, 0])
  })

  it('leaves an informer with what there is, wherever it is cut', async () => {
    const { url } = await serve(harness.api)
    await expectConvergence(async function* watch(version, signal) {
      const target = `${url}${widgets}?watch=1&allowWatchBookmarks=true&resourceVersion=${version}`
      await using client = await openWebsocket(target, { authority: authority(), token: 'token' })
      const leave = (): void => client.socket.terminate()
      signal.addEventListener('abort', leave, { once: true })
      for (let text = await client.next(); text !== undefined; text = await client.next()) yield eventIn(text)
    })
  })
})

describe.each(httpServerNames)('a watch by HTTP/2 of the %s server', (name) => {
  const { authority, serve } = useServers(name)
  const headers = { authorization: 'Bearer token' }

  it('leaves informers of one connection with what there is, wherever stream or connection is cut', async () => {
    const { url } = await serve(harness.api)
    const connect = (): ClientHttp2Session => connectHttp2(url, { ca: authority() }).on('error', () => {})
    let session = connect()
    let watches = 0
    await expectConvergence(async function* watch(version, signal) {
      if (++watches % 20 === 0) session.destroy()
      if (session.destroyed) session = connect()
      const path = `${widgets}?watch=1&allowWatchBookmarks=true&resourceVersion=${version}`
      const stream = session.request({ ':path': path, ...headers })
      const leave = (): void => stream.close(constants.NGHTTP2_CANCEL)
      signal.addEventListener('abort', leave, { once: true })
      try {
        for await (const line of createInterface(stream)) yield eventIn(line)
      } finally {
        leave()
      }
    })
    expect(watches).toBeGreaterThan(60)
    session.destroy()
  })

  it('tells 200 watchers of one connection the same', async () => {
    const { url } = await serve(harness.api)
    const session = connectHttp2(url, { ca: authority() })
    const streams = Array.from({ length: 200 }, () => session.request({ ':path': `${widgets}?watch=1`, ...headers }))
    const told = streams.map(async (stream) => String((await once(createInterface(stream), 'line'))[0]).trim())
    await Promise.all(streams.map((stream) => once(stream, 'response')))
    await create('w')
    expect(new Set(await Promise.all(told)).size).toBe(1)
    expect(JSON.parse((await told[0]) ?? '')).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'w' } } })
    session.destroy()
  })
})

function eventIn(text: string): InformerEvent {
  const { type, object } = JSON.parse(text)
  if (type === 'ERROR') throw new Gone()
  return { type, object: heldOf(object) }
}

/** Three informers, whose watches end after one to five events, while objects come, change and go. */
async function expectConvergence(watch: InformerSource['watch']): Promise<void> {
  let cuts = 0
  const informers = Array.from({ length: 3 }, () =>
    createInformer({ source: { list, watch }, cutAfter: () => 1 + (cuts++ % 5), isExact: true }),
  )
  const over = new AbortController()
  const running = informers.map((one) => one.run(over.signal))
  for (let i = 0; i < 60; i++) {
    await create(`w${i}`, { color: 'red' })
    await patch(`w${i}`, { size: i + 1 })
    if (i % 3 === 0) await remove(`w${i}`)
  }
  const { items } = await list()
  await eventually(async () => expect(staleness(informers, items)).toEqual([]))
  over.abort()
  await Promise.all(running)
  expect(items).toHaveLength(40)
  for (const { counts } of informers) expect(counts.resumes).toBeGreaterThan(20)
}
