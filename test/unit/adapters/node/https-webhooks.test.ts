import { createServer, type Server } from 'node:https'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createHttpsWebhooks } from '../../../../shared/adapters/node/https-webhooks.ts'
import { createAuthority } from '../../../support/client-certificate.ts'
import { eventually } from '../../../support/eventually.ts'

/** A server that answers `/held` when it is told to, and all else at once. */
let server: Server
let authority: ReturnType<typeof createAuthority>
let held: ServerResponse[]
beforeEach(async () => {
  authority = createAuthority('webhooks')
  held = []
  server = createServer(authority.issueServer(), ({ url = '' }, response) => {
    if (url.startsWith('/held')) held.push(response)
    else response.end('answer')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const connections = (): Promise<number> =>
  new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)))
  })

it('a call under way is not cut off by calls of webhooks with other authorities, whose connections have an end', async () => {
  const webhooks = createHttpsWebhooks()
  const post = (path: string, variant: number): Promise<string> =>
    webhooks.post({
      url: `https://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
      authorities: `${authority.pem}${'\n'.repeat(variant)}`,
      body: '{}',
      timeoutMs: 30_000,
      answerBytesMax: 1_000,
    })
  const slow = [post('/held', 0), post('/held', 0)]
  await eventually(async () => expect(held).toHaveLength(2))
  for (let variant = 1; variant <= 60; variant++) expect(await post('/', variant)).toBe('answer')
  for (const response of held) response.end('late')
  expect(await Promise.all(slow)).toEqual(['late', 'late'])
  await eventually(async () => expect(await connections()).toBe(50))
  expect(await post('/', 11)).toBe('answer')
  expect(await connections()).toBe(50)
})
