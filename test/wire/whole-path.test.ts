import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
} from '@aws-sdk/client-dynamodb-streams'
import { SQSClient } from '@aws-sdk/client-sqs'
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createDynamodbClient } from '../../shared/adapters/aws/dynamodb/dynamodb-client.ts'
import { createSeededRandom } from '../../shared/testing/seeded-random.ts'
import { headings, launch, newShipLog, shipReconciler, steer } from '../aws/fleet.ts'
import { startWholePath, type Service, type Services, type WholePath } from '../aws/whole-path.ts'
import { createTestTable, testCredentials, type Transport } from '../../shared/testing-aws/dynalite.ts'
import { createStreamLog, pause, type StreamLog } from '../support/lambda-driver.ts'
import { calm, stormy } from '../support/lambda-life.ts'
import { elasticmq } from './elasticmq.ts'
import { onPeer } from './endpoints.ts'
import { moto, motoOfQueues } from './moto.ts'

/** From the API to the status over sockets: moto's DynamoDB with its streams, and the queues of ElasticMQ or moto. */
const tables = onPeer(moto)

const region = 'us-east-1'

function overSockets(endpoint: string, requestHandler: unknown): Service {
  return { endpoint, transport: requestHandler as Transport }
}

async function startServices(queues: string): Promise<Services> {
  const { endpoint } = tables
  const table = `setpoint-${randomUUID()}`
  const config = { endpoint, region, credentials: testCredentials }
  const client = createDynamodbClient(config)
  await createTestTable(client, table)
  const log = createStreamLog()
  const stop = new AbortController()
  const reading = readStream(new DynamoDBStreamsClient(config), { table, log, signal: stop.signal })
  const sqs = new SQSClient({ ...config, endpoint: queues })
  return {
    dynamodb: overSockets(endpoint, client.config.requestHandler),
    sqs: overSockets(queues, sqs.config.requestHandler),
    table,
    log,
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await reading
    },
  }
}

interface Reading {
  readonly table: string
  readonly log: StreamLog
  readonly signal: AbortSignal
}

/** As the mapping does, with an iterator for each shard. */
async function readStream(client: DynamoDBStreamsClient, { table, log, signal }: Reading): Promise<void> {
  const { Streams: [stream] = [] } = await client.send(new ListStreamsCommand({ TableName: table }))
  const StreamArn = stream?.StreamArn
  const { StreamDescription } = await client.send(new DescribeStreamCommand({ StreamArn }))
  const shards = StreamDescription?.Shards ?? []
  await Promise.all(
    shards.map(async ({ ShardId }) => {
      const first = { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' } as const
      let { ShardIterator } = await client.send(new GetShardIteratorCommand(first))
      while (!signal.aborted && ShardIterator !== undefined) {
        const { Records = [], NextShardIterator } = await client.send(new GetRecordsCommand({ ShardIterator }))
        for (const record of Records) log.push(record as Parameters<StreamLog['push']>[0])
        ShardIterator = NextShardIterator
        await pause(50)
      }
    }),
  )
}

for (const peer of [elasticmq, motoOfQueues]) {
  const queues = onPeer(peer)
  const meta = queues.skip ? queues.meta : tables.meta
  describe(`the whole path (moto, ${peer.name})`, { skip: tables.skip || queues.skip, meta }, () => {
    async function arrives(plane: WholePath, name: string, heading: number): Promise<void> {
      await expect.poll(async () => (await headings(plane))[name], { interval: 50 }).toBe(heading)
    }

    it('brings a change to its status, at once although the object waits', async () => {
      const log = newShipLog()
      const services = await startServices(queues.endpoint)
      await using plane = await startWholePath({ controllers: [shipReconciler(log)], services, visibilitySeconds: 60 })
      await launch(plane, 'w', { heading: 1, anchored: true })
      await arrives(plane, 'w', 1)
      await pause(1_500)
      const changedMs = Date.now()
      await steer(plane, 'w', 2)
      await arrives(plane, 'w', 2)
      expect((log.atMs[1] ?? Infinity) - changedMs).toBeLessThan(5_000)
      expect(log.runs).toBe(2)
    })

    it('is taken by a fleet to the end, through faults in five of a hundred requests', async () => {
      const { next } = createSeededRandom(3)
      const log = newShipLog()
      await using plane = await startWholePath({
        controllers: [shipReconciler(log, { runMs: () => next() * 10, fails: () => next() < 0.05 })],
        services: await startServices(queues.endpoint),
        chance: next,
        visibilitySeconds: 2,
        maxReceiveCount: 100,
      })
      const names = Array.from({ length: 10 }, (_, i) => `ship-${i}`)
      plane.weather = stormy({ throttle: 0.02, lost: 0.02, crashBefore: 0.005, crashAfter: 0.005 }, next)
      await Promise.all(
        names.map(async (name) => {
          await launch(plane, name, { heading: 0 })
          for (let heading = 1; heading <= 5; heading++) await steer(plane, name, heading)
        }),
      )
      plane.weather = calm
      for (const name of names) await arrives(plane, name, 5)
      expect(log.overlaps).toBe(0)
    })
  })
}
