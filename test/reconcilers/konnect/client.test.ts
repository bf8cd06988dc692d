import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { createKonnectClient, type KonnectClient } from '../../../functions/reconcilers/konnect/client.ts'
import type { Context, SecretObject } from '../../../shared/index.ts'

/** Servers that are not Konnect, though a `serverURL` names them. */

const servers: { close(): void }[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  servers.push({
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function clientOf(serverURL: string): KonnectClient {
  const data = { token: Buffer.from('kpat_test').toString('base64') }
  const ctx = { signal: new AbortController().signal, now: () => Date.now() }
  return createKonnectClient({
    serverURL,
    secret: { metadata: { name: 'konnect' }, data } as unknown as SecretObject,
    ctx: ctx as Context,
    fetch: globalThis.fetch,
  })
}

const mebibyte = 1024 * 1024

it('an answer that has no end is not read to its end', async () => {
  const ended = Promise.withResolvers<void>()
  let left = 64
  const url = await serve((_, response) => {
    response.on('close', ended.resolve)
    response.writeHead(200, { 'content-type': 'application/json' })
    const write = (): void => {
      while (left > 0) {
        left--
        if (!response.write(Buffer.alloc(mebibyte, ' '))) return void response.once('drain', write)
      }
      response.end('{}')
    }
    write()
  })
  await expect(clientOf(url).call('GET /v2/control-planes')).rejects.toMatchObject({
    name: 'HttpError',
    status: 502,
    message: 'the answer is too long',
  })
  await ended.promise
  expect(left).toBeGreaterThan(0)
})

it('an answer of some megabytes is read whole, whatever its chunks', async () => {
  const text = 'ü'.repeat(mebibyte)
  const url = await serve((_, response) => response.end(JSON.stringify({ text })))
  expect(await clientOf(url).call('GET /v2/control-planes')).toEqual({ text })
})

it.each([301, 307])('a server that sends us elsewhere (%i) is not followed', async (status) => {
  const asked: string[] = []
  const inner = await serve(({ url }, response) => {
    asked.push(String(url))
    response.end('{"message":"of the network inside"}')
  })
  const outer = await serve((_, response) => response.writeHead(status, { location: `${inner}/meta-data` }).end())
  await expect(clientOf(outer).call('GET /v2/control-planes')).rejects.toMatchObject({
    status: 502,
    message: `the server sends us elsewhere (${status}), which is not followed: look at serverURL`,
  })
  expect(asked).toEqual([])
})
