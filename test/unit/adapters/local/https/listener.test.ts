import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { constants, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { connect as connectTls, createServer as createTlsServer } from 'node:tls'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  breakOff,
  closeAll,
  defaultTiming,
  listen,
  tlsOptions,
  trackSockets,
  urlOf,
} from '../../../../../shared/adapters/local/https/listener.ts'
import { issueCertificate } from '../../../../../shared/adapters/local/https/x509-certificate.ts'

const identity = { key: 'KEY', cert: 'CERT' }

const ecKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey

it.each<[string, KeyObject]>([
  ['ECDSA', ecKey],
  ['RSA', generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey],
])('speaks TLS 1.2, too, with a certificate of %s', async (_, key) => {
  const signed = { issuer: 'ca', issuerKey: ecKey, notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 600_000 }
  const ca = issueCertificate({ ...signed, subject: 'ca', key: ecKey, use: { as: 'authority' } })
  const cert = issueCertificate({ ...signed, subject: 's', key, use: { as: 'server', hosts: [{ dns: 'localhost' }] } })
  const pem = key.export({ type: 'pkcs8', format: 'pem' }).toString()
  await using server = createTlsServer(tlsOptions({ key: pem, cert }, true)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = connectTls({ port, host: '127.0.0.1', servername: 'localhost', ca, maxVersion: 'TLSv1.2' })
  await once(client, 'secureConnect')
  expect(client.getProtocol()).toBe('TLSv1.2')
  client.destroy()
})

it.each([
  [true, ['h2', 'http/1.1']],
  [false, ['http/1.1']],
])('offers HTTP/2 beside HTTP/1.1: %s', (http2, protocols) => {
  const { ALPNProtocols, ...own } = tlsOptions(identity, http2)
  expect(ALPNProtocols).toEqual(protocols)
  expect(own).toEqual({ ...identity, minVersion: 'TLSv1.2', ciphers: expect.stringContaining('GCM') })
})

it('asks for a certificate where it knows who signs them, and lets in who has none', () => {
  expect(tlsOptions({ ...identity, clientAuthority: 'CA' }, true)).toMatchObject({
    ca: 'CA',
    requestCert: true,
    rejectUnauthorized: false,
    secureOptions: constants.SSL_OP_NO_TICKET,
  })
})

it.each([
  ['127.0.0.1', 'IPv4', 'https://127.0.0.1:8443'],
  ['::1', 'IPv6', 'https://[::1]:8443'],
])('is found at %s by its URL', (address, family, url) => expect(urlOf({ address, family, port: 8443 })).toBe(url))

it('gives clients the time that the documentation promises', () => {
  expect(defaultTiming).toEqual({ handshakeSeconds: 10, requestSeconds: 60, idleSeconds: 120 })
})

it.each([
  [Object.assign(new Error('why'), { stack: 'why at where' }), 'why at where'],
  [Object.assign(new Error('why'), { stack: undefined }), 'why'],
  ['a text', 'a text'],
])('says of %s in the log what it is', (error, said) => {
  const logged: unknown[] = []
  const log = (message: string, fields?: object): void => void logged.push([message, fields])
  const logger = { debug: log, info: log, warn: log, error: log, with: () => logger }
  breakOff(logger, error)
  expect(logged).toEqual([['response aborted', { error: said }]])
})

describe('a server', () => {
  let server: Server
  const clients: Socket[] = []
  beforeEach(() => {
    server = createServer()
  })
  afterEach(() => {
    for (const client of clients.splice(0)) client.destroy()
    if (server.listening) server.close()
  })
  const portOf = (one: Server): number => (one.address() as { readonly port: number }).port
  const connected = async (port = portOf(server)): Promise<Socket> => {
    const client = connect(port, '127.0.0.1')
    clients.push(client)
    client.on('error', () => {})
    await Promise.all([once(client, 'connect'), once(server, 'connection')])
    return client
  }

  it('listens, or says why it cannot', async () => {
    await listen(server, '127.0.0.1', 0)
    expect(server.listenerCount('error')).toBe(0)
    const port = portOf(server)
    await expect(listen(createServer(), '127.0.0.1', port)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: `cannot listen on 127.0.0.1:${port}: the port is in use; stop what has it, or choose another (--port)`,
    })
    await expect(listen(createServer(), '192.0.2.1', port)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/^cannot listen on 192\.0\.2\.1:\d+: listen EADDRNOTAVAIL/),
    })
  })

  it('knows its open sockets, and those alone', async () => {
    const sockets = trackSockets(server)
    await listen(server, '127.0.0.1', 0)
    const [one] = [await connected(), await connected()]
    expect(sockets.size).toBe(2)
    const ended = once([...sockets][0] as Socket, 'close')
    one?.destroy()
    await ended
    expect(sockets.size).toBe(1)
  })

  it('closes when the last one has left, and cuts nobody off ahead of its deadline', async () => {
    const sockets = trackSockets(server)
    await listen(server, '127.0.0.1', 0)
    const client = await connected()
    const port = portOf(server)
    let isClosed = false
    const closed = closeAll(server, sockets, 3_600_000).then(() => (isClosed = true))
    await expect(connected(port)).rejects.toThrow('ECONNREFUSED')
    expect([isClosed, client.destroyed]).toEqual([false, false])
    client.destroy()
    await closed
  })

  it('cuts off who is there at its deadline', async () => {
    const sockets = trackSockets(server)
    await listen(server, '127.0.0.1', 0)
    await connected()
    await closeAll(server, sockets, 1)
    expect([...sockets].map(({ destroyed }) => destroyed)).toEqual([true])
  })
})
