import { createServer, type AddressInfo, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { withSession } from '../../../functions/reconcilers/backup/dump/session.ts'
import { withConnection, type Endpoint } from '../../../functions/reconcilers/postgres/sql/connection.ts'
import { deadline } from './temporary-server.ts'

/** PostgreSQL manual, "Message Formats": SSLRequest, and the beginning of a StartupMessage of protocol 3.0. */
const sslRequest = 80_877_103
const startup = 196_608

/** What a client asks for first: the number that stands after the length of its first message. */
async function firstRequest(host: string, connect: (endpoint: Endpoint) => Promise<unknown>): Promise<number> {
  const asked = Promise.withResolvers<number>()
  const server = createServer((socket: Socket) => {
    socket.once('data', (data) => {
      asked.resolve(data.readInt32BE(4))
      socket.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
  const { port } = server.address() as AddressInfo
  await expect(connect({ host, port, user: 'u', password: 'p', database: 'd' })).rejects.toThrow('cannot')
  server.close()
  return asked.promise
}

const ways: Readonly<Record<string, (endpoint: Endpoint) => Promise<unknown>>> = {
  statements: (endpoint) => withConnection(endpoint, deadline(), async () => {}),
  dumps: (endpoint) => withSession({ endpoint, purpose: 'dump', signal: deadline() }, async () => {}),
}

// 0.0.0.0 leads to this machine, too, but not by the loopback's name.
it.each(Object.entries(ways))('%s go over TLS to every host but this machine', async (_, connect) => {
  expect(await firstRequest('0.0.0.0', connect)).toBe(sslRequest)
  expect(await firstRequest('127.0.0.1', connect)).toBe(startup)
  expect(await firstRequest('localhost', connect)).toBe(startup)
})

/** PostgreSQL manual, "Message Formats": what a server answers that asks for a password in a way of before SCRAM. */
const requests = {
  'the password itself': Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]),
  'the MD5 of the password': Buffer.from([0x52, 0, 0, 0, 12, 0, 0, 0, 5, 1, 2, 3, 4]),
}

describe.each(Object.entries(ways))('%s', (_, connect) => {
  it.each(Object.entries(requests))('go to no server on this machine that asks for %s', async (what, request) => {
    const said = Promise.withResolvers<string>()
    const server = createServer((socket: Socket) => {
      socket.once('data', () => {
        socket.write(request)
        said.resolve(text(socket))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const endpoint = { host: '127.0.0.1', port, user: 'u', password: 'p4ssw0rd', database: 'd' }
    const connecting = connect(endpoint)
    await expect(connecting).rejects.toThrow(`the server asks for ${what}, and not by SCRAM`)
    await expect(connecting).rejects.toMatchObject({ name: 'PostgresFailure', kind: 'retryable' })
    // The driver takes its leave, and says nothing else: neither the password nor an MD5.
    expect((await said.promise).replace('X\0\0\0\x04', '')).toBe('')
    server.close()
  })
})

it('an older server is asked again without the settings that it does not know', async () => {
  const known = ['search_path', 'role', 'default_transaction_read_only', 'idle_in_transaction_session_timeout']
  const told: (readonly (string | undefined)[])[] = []
  const refusal = (code: string) => Buffer.from(`SFATAL\0VFATAL\0C${code}\0Mno\0\0`)
  const server = createServer((socket: Socket) => {
    socket.once('data', (data) => {
      const settings = [...data.toString().matchAll(/-c (\w+)=/g)].map(([, setting]) => setting)
      told.push(settings)
      // PostgreSQL manual, appendix A: undefined_object, and invalid_password where nothing else is wrong.
      const body = refusal(settings.every((setting) => known.includes(String(setting))) ? '28P01' : '42704')
      const head = Buffer.from([0x45, 0, 0, 0, body.length + 4])
      socket.end(Buffer.concat([head, body]))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const endpoint = { host: '127.0.0.1', port, user: 'u', password: 'p', database: 'd' }
  await expect(withConnection(endpoint, deadline(), async () => {})).rejects.toMatchObject({
    reason: 'AuthenticationFailed',
  })
  expect(told).toEqual([
    [...known, 'idle_session_timeout', 'transaction_timeout'],
    [...known, 'idle_session_timeout'],
    known,
  ])
  server.close()
})
