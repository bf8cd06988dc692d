import { PutEventsCommand } from '@aws-sdk/client-eventbridge'
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createEventBridgeClient } from '../../shared/adapters/aws/eventbridge-publisher.ts'
import { createSqsClient } from '../../shared/adapters/aws/sqs/sqs-depth.ts'
import { testCredentials } from '../../shared/testing-aws/dynalite.ts'

/** Clients against servers that do not do their part; that of DynamoDB has tests of its own. */
describe.concurrent.each([
  {
    service: 'SQS',
    send: (config: Config) =>
      createSqsClient(config).send(new GetQueueAttributesCommand({ QueueUrl: `${config.endpoint}/1/queue` })),
  },
  {
    service: 'EventBridge',
    send: (config: Config) => createEventBridgeClient(config).send(new PutEventsCommand({ Entries: [] })),
  },
])('the client of $service', ({ send }) => {
  const silences: readonly { readonly what: string; readonly answer: (reply: ServerResponse) => void }[] = [
    { what: 'begin', answer: () => {} },
    {
      what: 'end',
      answer: (reply) => {
        reply.writeHead(200, { 'content-type': 'application/x-amz-json-1.0', 'content-length': '100' })
        reply.write('{"A')
      },
    },
  ]

  it.concurrent.each(silences)('gives up on an answer that does not $what', async ({ answer }) => {
    const server = createServer((_, reply) => answer(reply)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const sent = send({ endpoint, region: 'us-east-1', credentials: testCredentials, maxAttempts: 1 })
    await expect(sent).rejects.toThrow(/time/i)
    server.closeAllConnections()
    server.close()
  })
})

it('the client of SQS has what waits behind many others wait ahead of its own time', async () => {
  let [atOnce, most] = [0, 0]
  const server = createServer((_, reply) => {
    most = Math.max(most, ++atOnce)
    setTimeout(() => {
      atOnce--
      reply.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end('{}')
    }, 200)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = createSqsClient({ endpoint, region: 'us-east-1', credentials: testCredentials, maxAttempts: 1 })
  const ask = new GetQueueAttributesCommand({ QueueUrl: `${endpoint}/1/queue` })
  // By as many as there are connections, that takes more than the second that one of them may wait.
  const sent = await Promise.allSettled(Array.from({ length: 400 }, () => client.send(ask)))
  expect(sent.filter(({ status }) => status === 'rejected')).toEqual([])
  expect(most).toBeLessThanOrEqual(32)
  server.closeAllConnections()
  server.close()
})

interface Config {
  readonly endpoint: string
  readonly region: string
  readonly credentials: typeof testCredentials
  readonly maxAttempts: number
}
