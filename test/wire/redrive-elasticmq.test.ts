import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs'
import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import type { AnswerAws } from '../../infra/aws-command.ts'
import { redriveDeadLetters } from '../../infra/redrive.ts'
import { awsCommand, fetchMinistack } from '../deployed/ministack.ts'
import { sqsClient } from '../support/sqs-queue.ts'
import { elasticmq } from './elasticmq.ts'
import { onPeer } from './endpoints.ts'

const { endpoint, ...options } = onPeer(elasticmq)

/** By the AWS command line, as `npm run redrive` asks SQS; of the other services nothing is asked here. */
const aws: AnswerAws = (args) => {
  const [python, ...start] = awsCommand
  const env = { ...process.env, AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test', AWS_REGION: 'us-east-1' }
  const line = [...start, ...args, '--output=json', `--endpoint-url=${endpoint}`, '--region=us-east-1']
  const { status, stdout, stderr } = spawnSync(python, line, { encoding: 'utf8', env })
  if (status !== 0) throw new Error(stderr)
  return stdout.trim() === '' ? {} : JSON.parse(stdout)
}

describe('dead letters, by the command line and ElasticMQ', options, () => {
  const client = sqsClient(endpoint)

  /** Why there is no command line. */
  let missing = ''
  beforeAll(async () => {
    await fetchMinistack().catch((error: unknown) => (missing = String(error)))
  })

  /** Not FIFO: out of such a queue ElasticMQ moves nothing, and says that it is done. SQS does since 2023. */
  async function createQueue(attributes: Readonly<Record<string, string>> = {}): Promise<string> {
    const Attributes = { VisibilityTimeout: '1', ...attributes }
    const { QueueUrl = '' } = await client.send(new CreateQueueCommand({ QueueName: randomUUID(), Attributes }))
    return QueueUrl
  }

  async function receive(QueueUrl: string, seconds = 1): Promise<readonly string[]> {
    const asking = { QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1, VisibilityTimeout: seconds }
    const { Messages = [] } = await client.send(new ReceiveMessageCommand(asking))
    return Messages.map(({ Body = '' }) => Body)
  }

  it('go back to the queue that they came from', async ({ skip }) => {
    skip(missing !== '', missing)
    const dead = await createQueue()
    const asking = new GetQueueAttributesCommand({ QueueUrl: dead, AttributeNames: ['QueueArn'] })
    const { Attributes: { QueueArn: deadLetterTargetArn } = {} } = await client.send(asking)
    const work = await createQueue({ RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 2 }) })
    for (const name of ['a', 'b']) await client.send(new SendMessageCommand({ QueueUrl: work, MessageBody: name }))
    // Nobody deletes them.
    const depth = async (): Promise<string | undefined> => {
      await receive(work)
      const AttributeNames = ['ApproximateNumberOfMessages' as const]
      const { Attributes } = await client.send(new GetQueueAttributesCommand({ QueueUrl: dead, AttributeNames }))
      return Attributes?.['ApproximateNumberOfMessages']
    }
    await expect.poll(depth, { timeout: 60_000, interval: 1_100 }).toBe('2')

    const said: string[] = []
    const redrive = { aws, find: () => dead, invoke: () => ({}), say: (line: string) => void said.push(line) }
    expect(redriveDeadLetters(redrive)).toBe(2)
    expect(said).toEqual(['about 2 dead letters go back to their queues'])

    const back = new Set<string>()
    const collect = async (): Promise<readonly string[]> => {
      for (const body of await receive(work, 30)) back.add(body)
      return [...back].sort()
    }
    await expect.poll(collect, { timeout: 60_000 }).toEqual(['a', 'b'])
  })
})
