import { GetItemCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createDynamodbClient } from '../../shared/adapters/aws/dynamodb/dynamodb-client.ts'
import { createDynamodbStore } from '../../shared/adapters/aws/dynamodb/dynamodb-store.ts'
import { requestFailure } from '../../shared/adapters/aws/dynamodb/dynamodb-failures.ts'
import { systemClock } from '../../shared/adapters/node/system-clock.ts'
import { systemRandom } from '../../shared/adapters/node/system-random.ts'
import type { ObjectStore } from '../../shared/ports/object-store.ts'
import { testCredentials } from '../../shared/testing-aws/dynalite.ts'
import { expectCode } from '../support/expect-code.ts'
import { storedWidget } from '../support/stored-object.ts'
import { underLoad } from '../support/under-load.ts'

function storeOf(client: DynamoDBClient): ObjectStore {
  return createDynamodbStore({ client, table: 'table', clock: systemClock, random: systemRandom, patienceMs: 200 })
}

/** Against servers that do not do their part. */
describe('the client of DynamoDB', () => {
  let server: Server
  afterEach(() => {
    server.closeAllConnections()
    server.close()
  })

  async function clientOf(answer: (reply: ServerResponse, operation: string) => void) {
    let count = 0
    server = createServer(({ headers }, reply) => {
      count++
      answer(reply, String(headers['x-amz-target']).split('.')[1] ?? '')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const client = createDynamodbClient({ endpoint, region: 'us-east-1', credentials: testCredentials })
    return { client, requests: () => count }
  }

  const get = new GetItemCommand({ TableName: 'table', Key: { pk: { S: 'a' }, sk: { S: 'b' } } })

  it('gives up on an answer that does not begin, after a second, and does not ask again by itself', async () => {
    const { client, requests } = await clientOf(() => {})
    const startMs = performance.now()
    const error = await client.send(get).catch((reason: unknown) => reason)
    expect(requestFailure(error)).toBe('unknown')
    expect(performance.now() - startMs).toBeGreaterThan(900)
    expect(performance.now() - startMs).toBeLessThan(underLoad(5_000))
    expect(requests()).toBe(1)
  })

  it('gives up on an answer that does not end', async () => {
    const { client } = await clientOf((reply) => {
      reply.writeHead(200, { 'content-type': 'application/x-amz-json-1.0', 'content-length': '100' })
      reply.write('{"Item":')
    })
    const error = await client.send(get).catch((reason: unknown) => reason)
    expect(requestFailure(error)).toBe('unknown')
  })

  // An answer comes too late where the test itself stands still for most of a second: then it is tried again. A client
  // that counts the wait for a connection fails each time.
  it('has what waits behind many others wait ahead of its own time', { retry: 4 }, async () => {
    let [atOnce, most] = [0, 0]
    const { client, requests } = await clientOf((reply) => {
      most = Math.max(most, ++atOnce)
      setTimeout(() => {
        atOnce--
        reply.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end('{}')
      }, 100)
    })
    // By as many as there are connections, that takes most of a second.
    const sent = await Promise.allSettled(Array.from({ length: 400 }, () => client.send(get)))
    expect(sent.filter(({ status }) => status === 'rejected')).toEqual([])
    expect(requests()).toBe(400)
    expect(most).toBeLessThanOrEqual(32)
  })

  it('has nothing wait where nothing is answered', async () => {
    const { client, requests } = await clientOf(() => {})
    const sent = await Promise.allSettled(Array.from({ length: 320 }, () => client.send(get)))
    expect(sent.filter(({ status }) => status === 'fulfilled')).toEqual([])
    // The others get no connection, or none that is of use. In turns, all would be sent, and it would take ten seconds.
    expect(requests()).toBeLessThan(160)
  })

  it('keeps a connection over a pause that is longer than it would wait', async () => {
    const { client, requests } = await clientOf((reply) => {
      reply.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' })
      reply.end('{}')
    })
    let connections = 0
    server.on('connection', () => connections++)
    await client.send(get)
    await systemClock.sleep(1_500)
    await client.send(get)
    expect([requests(), connections]).toEqual([2, 1])
  })

  it('reports a connection that is reset as a write of unknown fate', async () => {
    const { client, requests } = await clientOf((reply, operation) => {
      if (operation === 'GetItem') reply.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end('{}')
      else reply.destroy()
    })
    await expectCode(storeOf(client).create(storedWidget('a')), 'WRITE_UNKNOWN')
    expect(requests()).toBeGreaterThan(1)
  })

  it('reports a server that is not there as unavailable', async () => {
    const { client } = await clientOf(() => {})
    server.close()
    await once(server, 'close')
    await expectCode(storeOf(client).create(storedWidget('a')), 'UNAVAILABLE')
  })
})
