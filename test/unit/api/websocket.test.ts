import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { textFrames } from '../../../shared/api/websocket/server-frames.ts'
import type { Authenticator } from '../../../shared/ports/authenticator.ts'
import type { HttpRequest } from '../../../shared/ports/http-handler.ts'
import { createWidgetHarness, widget, widgets, type Harness } from './harness.ts'
import { request, type Sent } from './sent-request.ts'

let harness: Harness
beforeEach(async () => {
  harness = await createWidgetHarness()
})
afterEach(() => harness.close())

const headers = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  host: 'here:8443',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}

interface Client {
  readonly request: HttpRequest
  say(...bytes: readonly number[]): void
}

/** As a server hands it over whose connection can become a websocket. */
function asked(sent: Sent = {}, path = `${widgets}?watch=1`): Client {
  let hear: ((bytes: Uint8Array) => void) | undefined
  return {
    request: Object.assign(request(`GET ${path}`, { ...sent, headers: { ...headers, ...sent.headers } }), {
      websocket: { hear: (onBytes: (bytes: Uint8Array) => void) => (hear = onBytes) },
    }),
    say: (...bytes) => hear?.(Uint8Array.from(bytes)),
  }
}

async function answer(client: Client): Promise<readonly [status: number, protocol: string | undefined]> {
  const { status, headers: sent } = await harness.api(client.request)
  return [status, sent['sec-websocket-protocol']]
}

async function open(client: Client = asked()): Promise<AsyncIterator<string | Uint8Array>> {
  const { status, body } = await harness.api(client.request)
  expect(status).toBe(101)
  return (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
}

const token = (text: string): string =>
  `base64url.bearer.authorization.k8s.io.${Buffer.from(text).toString('base64url')}`

describe('a request for a websocket', () => {
  it.each<[string, Sent, readonly [number, string | undefined]]>([
    ['is accepted', {}, [101, undefined]],
    ['agrees on the first subprotocol', { headers: { 'sec-websocket-protocol': 'a, b' } }, [101, 'a']],
    ['has its token in one', withoutHeader(`x,${token('token')}`), [101, 'x']],
    ['needs another one beside it', withoutHeader(token('token')), [401, undefined]],
    ['has one token', withoutHeader(`${token('token')}, x, ${token('token')}`), [401, undefined]],
    ['has a token that is known', withoutHeader(`${token('other')}, x`), [401, undefined]],
    ['has a token in base64url', withoutHeader(`${token('token')}=, x`), [401, undefined]],
    ['has a token that is text', withoutHeader('base64url.bearer.authorization.k8s.io._w, x'), [401, undefined]],
    ['prefers its Authorization header', { headers: { 'sec-websocket-protocol': token('other') } }, [101, undefined]],
    ['speaks version 13', { headers: { 'sec-websocket-version': '8' } }, [426, undefined]],
    ['has a key', { headers: { 'sec-websocket-key': '' } }, [400, undefined]],
    ['has a key of 16 bytes', { headers: { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ=' } }, [400, undefined]],
    ['with a token may come from any page', { headers: { origin: 'https://other' } }, [101, undefined]],
    ['is for who may watch', { token: 'alice' }, [403, undefined]],
  ])('%s', async (_, sent, expected) => {
    expect(await answer(asked(sent))).toEqual(expected)
  })

  it('that asks for no subprotocol hears of none', async () => {
    const { headers: sent } = await harness.api(asked().request)
    expect(Object.keys(sent)).not.toContain('sec-websocket-protocol')
  })

  it('says which version is spoken', async () => {
    const { headers: sent } = await harness.api(asked({ headers: { 'sec-websocket-version': '8' } }).request)
    expect(sent).toMatchObject({ 'sec-websocket-version': '13' })
  })

  it('by a certificate alone comes from no page, or from one of this origin', async () => {
    const known = { name: 'browser', groups: ['system:masters'] }
    const other = await createWidgetHarness({ authenticate: () => known })
    const status = async (origin?: string): Promise<number> => {
      const client = asked({ token: '', headers: origin === undefined ? {} : { origin } })
      return (await other.api(client.request)).status
    }
    expect(await status()).toBe(101)
    expect(await status('https://HERE:8443')).toBe(101)
    expect(await status('https://other:8443')).toBe(403)
    expect(await status('null')).toBe(403)
    other.close()
  })

  it.each<[string, NonNullable<Sent['headers']>, number]>([
    ['a page of this origin', { origin: 'https://here:8443' }, 101],
    ['a page of another origin', { origin: 'https://other' }, 401],
    ['one that makes up a token', { origin: 'https://other', 'sec-websocket-protocol': `${token('made-up')}, x` }, 401],
    ['one that knows a token', { origin: 'https://other', 'sec-websocket-protocol': `${token('token')}, x` }, 101],
  ])('by the certificate of a browser, from %s', async (_, from, expected) => {
    const other = await createWidgetHarness({ authenticate: byCertificateOrToken })
    const client = asked({ token: '', headers: from })
    expect((await other.api({ ...client.request, certificate })).status).toBe(expected)
    other.close()
  })

  it('is answered at once and empty where there are none, which has clients ask again without', async () => {
    const sent = await harness.send(`GET ${widgets}?watch=1`, { headers })
    expect(sent).toMatchObject({ status: 200, body: '' })
  })

  it('counts for nothing where there is no watch', async () => {
    expect(await harness.send(`GET ${widgets}`, { headers })).toMatchObject({ status: 200, body: { items: [] } })
  })
})

const certificate = { commonName: 'browser', organizations: ['system:masters'], endsAtMs: Infinity }

const byCertificateOrToken: Authenticator = (authorization, shown) => {
  if (shown === undefined && authorization !== 'Bearer token') return
  return { name: 'browser', groups: ['system:masters'] }
}

describe('a page of another site', () => {
  it.each([
    ['https://other', 401],
    ['null', 401],
    ['https://here:8443', 201],
    [undefined, 201],
  ])('does not write with the certificate of the browser: from %s', async (origin, expected) => {
    const other = await createWidgetHarness({ authenticate: byCertificateOrToken })
    const from = { host: 'here:8443', ...(origin !== undefined && { origin }) }
    const sent = request(`POST ${widgets}`, { token: '', headers: from, body: widget('w') })
    expect((await other.api({ ...sent, certificate })).status).toBe(expected)
    other.close()
  })
})

function withoutHeader(protocols: string): Sent {
  return { token: '', headers: { 'sec-websocket-protocol': protocols } }
}

describe('a watch by websocket', () => {
  it('is sent the same bytes as all others, which are made once', async () => {
    const all = [await open(), await open(), await open()]
    const next = all.map((pieces) => pieces.next())
    await harness.send(`POST ${widgets}`, { body: widget('w') })
    const [first, ...others] = (await Promise.all(next)).map(({ value }) => value as unknown)
    expect(first).toBeInstanceOf(Uint8Array)
    for (const other of others) expect(other).toBe(first)
  })

  it('pings its client in silence', async () => {
    const pieces = await open()
    const next = pieces.next()
    await harness.clock.advance(10_000)
    expect((await next).value).toEqual(Uint8Array.of(0x89, 0))
  })

  it('that is cut within a message says nothing more', async () => {
    const pieces = await open()
    const next = pieces.next()
    await harness.send(`POST ${widgets}`, {
      body: widget('w', undefined, { annotations: { text: 'x'.repeat(40_000) } }),
    })
    expect((await next).value).toHaveLength(16_384)
    await harness.clock.advance(40_000)
    expect(await pieces.next()).toMatchObject({ done: true })
  })

  it('that its client ends while nothing happens is ended at once', async () => {
    const client = asked()
    const pieces = await open(client)
    const next = pieces.next()
    await harness.clock.advance(0)
    client.say(0x88, 0x82, 0, 0, 0, 0, 3, 232)
    expect((await next).value).toEqual(Uint8Array.of(0x88, 2, 3, 232))
    expect(await pieces.next()).toMatchObject({ done: true })
  })

  it('that its client ends within a message is ended behind it', async () => {
    const client = asked()
    const pieces = await open(client)
    const next = pieces.next()
    await harness.send(`POST ${widgets}`, {
      body: widget('w', undefined, { annotations: { text: 'x'.repeat(40_000) } }),
    })
    const bytes = [(await next).value as Uint8Array]
    client.say(0x88, 0x82, 0, 0, 0, 0, 3, 232)
    for (let piece = await pieces.next(); piece.done !== true; piece = await pieces.next())
      bytes.push(piece.value as Uint8Array)
    const all = Buffer.concat(bytes)
    expect(all.length).toBe(4 + all.readUInt16BE(2) + 4)
    expect([...all.subarray(-4)]).toEqual([0x88, 2, 3, 232])
  })
})

describe('frames of a server', () => {
  it.each([0, 125, 126, 65_535, 65_536])('say how long their %s bytes are', (length) => {
    const frames = Buffer.from(textFrames(`${'x'.repeat(length)}\n`.repeat(2)))
    const head = length < 126 ? 2 : length < 65_536 ? 4 : 10
    expect(frames).toHaveLength(2 * (head + length))
    const said = head === 2 ? frames[1] : head === 4 ? frames.readUInt16BE(2) : Number(frames.readBigUInt64BE(2))
    expect([frames[0], said, frames[head + length]]).toEqual([0x81, length, 0x81])
  })
})
