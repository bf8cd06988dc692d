import {
  CreateEventBusCommand,
  EventBridgeClient,
  PutRuleCommand,
  PutTargetsCommand,
} from '@aws-sdk/client-eventbridge'
import { CreateQueueCommand, GetQueueAttributesCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs'
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createEventBridgePublisher } from '../../shared/adapters/aws/eventbridge-publisher.ts'
import { systemClock } from '../../shared/adapters/node/system-clock.ts'
import type { Condition } from '../../shared/model/conditions.ts'
import type { Transition } from '../../shared/model/transitions.ts'
import { createSeededRandom } from '../../shared/testing/seeded-random.ts'
import { sqsClient } from '../support/sqs-queue.ts'
import { onPeer } from './endpoints.ts'
import { motoOfQueues } from './moto.ts'

const { endpoint, ...options } = onPeer(motoOfQueues)

function transition(type: Transition['type'], name: string): Transition {
  const lastTransitionTime = '2026-01-01T00:00:00Z'
  const after: Condition = { type: 'Ready', status: 'True', reason: 'Reconciled', message: '', lastTransitionTime }
  const key = { group: 'example.com', kind: 'Widget', namespace: 'default', name }
  const condition = { type: 'Ready', before: undefined, after }
  return { type, key, uid: 'u', generation: 1, resourceVersion: '7', condition }
}

describe('transitions on an event bus (moto)', options, () => {
  it('reach the queue of a rule that asks for failures of one kind, and no others do', async () => {
    const client = new EventBridgeClient(settings())
    const bus = randomUUID()
    await client.send(new CreateEventBusCommand({ Name: bus }))
    const queueUrl = await queueBehindRule(client, bus, {
      source: ['setpoint'],
      'detail-type': ['Failed'],
      detail: { kind: ['Widget'] },
    })
    const publish = createEventBridgePublisher({ client, bus, clock: systemClock, random: createSeededRandom(1) })
    const failed = Array.from({ length: 12 }, (_, i) => `w${i}`)
    await publish([
      ...failed.map((name) => transition('Failed', name)),
      transition('Ready', 'r'),
      transition('NotReady', 'n'),
    ])
    expect((await received(queueUrl, failed.length)).toSorted()).toEqual(failed.toSorted())
    expect(await received(queueUrl, 1)).toEqual([])
  })
})

function settings() {
  return { endpoint, region: 'us-east-1', credentials: { accessKeyId: 'test', secretAccessKey: 'test' } }
}

async function queueBehindRule(client: EventBridgeClient, bus: string, pattern: object): Promise<string> {
  const sqs = sqsClient(endpoint)
  const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName: bus }))
  const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }))
  const rule = { Name: 'failures', EventBusName: bus }
  await client.send(new PutRuleCommand({ ...rule, EventPattern: JSON.stringify(pattern) }))
  const Targets = [{ Id: 'queue', Arn: Attributes?.QueueArn }]
  await client.send(new PutTargetsCommand({ Rule: rule.Name, EventBusName: bus, Targets }))
  return QueueUrl
}

/** The names in so many events, or in as many as there are. */
async function received(QueueUrl: string, count: number): Promise<readonly string[]> {
  const names: string[] = []
  while (names.length < count) {
    const command = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 })
    const { Messages = [] } = await sqsClient(endpoint).send(command)
    if (Messages.length === 0) break
    for (const { Body = '' } of Messages)
      names.push((JSON.parse(Body) as { readonly detail: { readonly name: string } }).detail.name)
  }
  return names
}
