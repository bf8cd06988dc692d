import { CfnResource, Stack } from 'aws-cdk-lib'
import type { DynamoDBRecord } from 'aws-lambda'
import { describe, expect, it } from 'vitest'
import { changeOf } from '../../shared/adapters/aws/dynamodb/dynamodb-stream.ts'
import { FunctionFailed } from '../../infra/aws-command.ts'
import { findResources } from '../../infra/plane-resources.ts'
import { redriveDeadLetters, replayChanges, type Redrive } from '../../infra/redrive.ts'
import { ControlPlane } from '../../infra/constructs/control-plane.ts'
import { admin, deployed, fixtures, resourcesOf, unbundledApp } from './synthesized.ts'

/** The resources of a stack as it is synthesized, by names that CloudFormation might give them. */
const template = deployed().template()
const ofPlane = ['AWS::SQS::Queue', 'AWS::Lambda::Function', 'Custom::SetpointControllers'].flatMap((type) =>
  Object.keys(resourcesOf(template, type)).map((id) => resourceOf(id, type)),
)
/** An app has functions and queues besides. */
const summaries = [
  resourceOf('OrdersRelayFunction01234567', 'AWS::Lambda::Function'),
  resourceOf('OrdersRelayFailures01234567', 'AWS::SQS::Queue'),
  ...ofPlane,
]

function resourceOf(LogicalResourceId: string, ResourceType: string) {
  return { LogicalResourceId, ResourceType, PhysicalResourceId: `https://sqs/${LogicalResourceId}` }
}

const streamArn = 'arn:aws:dynamodb:eu-west-1:123456789012:table/t/stream/now'

/** A record as the command line prints it. */
const record = (sequence: number, bytes: number) => ({
  eventID: String(sequence),
  eventName: 'REMOVE',
  dynamodb: {
    ApproximateCreationDateTime: '2026-11-23T04:00:00+00:00',
    Keys: { pk: { S: 'x'.repeat(bytes) } },
    SequenceNumber: String(sequence),
    StreamViewType: 'NEW_AND_OLD_IMAGES',
  },
})

const givenUp = (from: number, to: number) => ({
  Body: JSON.stringify({
    requestContext: { condition: 'RetryAttemptsExhausted' },
    DDBStreamBatchInfo: {
      shardId: 'shard-1',
      startSequenceNumber: String(from),
      endSequenceNumber: String(to),
      streamArn,
    },
  }),
  MessageId: `message-${from}`,
  ReceiptHandle: `receipt-${from}`,
})

interface World extends Redrive {
  readonly asked: string[]
  readonly said: string[]
  readonly relayed: DynamoDBRecord[]
}

interface Fate {
  readonly messages?: readonly ReturnType<typeof givenUp>[]
  readonly dead?: number
  /** Records below it are gone from the stream. */
  readonly trimmedBelow?: number
  /** A record that the relay gives up again. */
  readonly bad?: number
  /** A record that the relay does not finish in its time. */
  readonly slow?: number
  /** Of each record. */
  readonly bytes?: number
  /** SQS moves the dead letters of a command of before. */
  readonly isMoving?: boolean
  /** The stream says nothing of what is behind this record, however often it is asked. */
  readonly silentFrom?: number
  /** The queue gives one message at a time, and hides none for so long that it is not there again. */
  readonly isForgetful?: boolean
}

function world({ messages = [], dead = 0, trimmedBelow = 0, bad, slow, bytes = 1, ...is }: Fate): World {
  const { isForgetful = false, isMoving = false, silentFrom = Infinity } = is
  const [asked, said, relayed]: [string[], string[], DynamoDBRecord[]] = [[], [], []]
  const waiting = [...messages]
  const answers: Readonly<Record<string, (args: readonly string[]) => unknown>> = {
    'list-stack-resources': () => ({ StackResourceSummaries: summaries }),
    'get-queue-attributes': () => ({
      Attributes: {
        QueueArn: 'arn:dead',
        ApproximateNumberOfMessages: String(dead),
        ApproximateNumberOfMessagesNotVisible: '0',
      },
    }),
    'receive-message': () => {
      if (asked.filter((line) => line.startsWith('receive-message')).length > 100)
        throw new Error('it goes on for ever')
      const given = waiting.splice(0, isForgetful ? 1 : 10)
      if (isForgetful) waiting.push(...given)
      return { Messages: given }
    },
    'delete-message': (args) => {
      const handle = args.find((arg) => arg.startsWith('--receipt-handle='))?.split('=')[1]
      const at = waiting.findIndex(({ ReceiptHandle }) => ReceiptHandle === handle)
      if (at >= 0) waiting.splice(at, 1)
    },
    'start-message-move-task': () => {
      if (!isMoving) return {}
      const why = 'There is already a task running. Only one active task is allowed for a source queue arn'
      throw new Error(`An error occurred (AWS.SimpleQueueService.UnsupportedOperation): ${why} at a given time.`)
    },
    'get-shard-iterator': (args) => {
      if (args.includes('--shard-iterator-type=TRIM_HORIZON')) return { ShardIterator: String(trimmedBelow) }
      const from = Number(args.find((arg) => arg.startsWith('--sequence-number='))?.split('=')[1])
      if (from < trimmedBelow) throw new Error('An error occurred (TrimmedDataAccessException)')
      return { ShardIterator: String(from) }
    },
    // Four records at a time.
    'get-records': (args) => {
      const from = Number(args.find((arg) => arg.startsWith('--shard-iterator='))?.split('=')[1])
      if (from >= silentFrom) return { Records: [], NextShardIterator: String(from) }
      return { Records: [0, 1, 2, 3].map((i) => record(from + i, bytes)), NextShardIterator: String(from + 4) }
    },
  }
  const aws: Redrive['aws'] = (args) => {
    const [, verb = ''] = args
    asked.push(args.slice(1).join(' '))
    return answers[verb]?.(args) ?? {}
  }
  return {
    find: findResources({ stack: 'Setpoint-dev', aws }),
    asked,
    said,
    relayed,
    say: (line) => void said.push(line),
    aws,
    invoke: (name, event) => {
      expect(name).toContain('ControlPlaneRelayFunction')
      if (JSON.stringify(event).length > 6_000_000) throw new Error('RequestTooLargeException')
      const { Records: records } = event as { readonly Records: readonly DynamoDBRecord[] }
      if (records.some(({ dynamodb }) => dynamodb?.SequenceNumber === String(slow)))
        throw new FunctionFailed(`${name}: Task timed out after 60.00 seconds`)
      const failed = records.filter(({ dynamodb }) => dynamodb?.SequenceNumber === String(bad))
      if (failed.length === 0) relayed.push(...records)
      return { batchItemFailures: failed.map(() => ({ itemIdentifier: String(bad) })) }
    },
  }
}

const sequences = ({ relayed }: World) => relayed.map(({ dynamodb }) => Number(dynamodb?.SequenceNumber))
const deleted = ({ asked }: World) => asked.filter((line) => line.startsWith('delete-message'))

describe('changes that the relay gave up', () => {
  it('are read from the stream and given to it again, and then forgotten', () => {
    const one = world({ messages: [givenUp(5, 5), givenUp(20, 25)] })
    expect(replayChanges(one)).toBe(7)
    expect(sequences(one)).toEqual([5, 20, 21, 22, 23, 24, 25])
    expect(deleted(one)).toEqual([
      expect.stringMatching(/ControlPlaneRelayFailures\S* --receipt-handle=receipt-5$/),
      expect.stringMatching(/ControlPlaneRelayFailures\S* --receipt-handle=receipt-20$/),
    ])
  })

  it('come as a mapping gives them, so that the relay can read them', () => {
    const one = world({ messages: [givenUp(5, 5)] })
    replayChanges(one)
    const [first] = one.relayed
    expect(first?.dynamodb?.ApproximateCreationDateTime).toBe(Date.parse('2026-11-23T04:00:00Z') / 1_000)
    // It is none of an object's, and is passed over; one that cannot be read throws.
    expect(changeOf(first as DynamoDBRecord)).toBeUndefined()
  })

  it('come in parts where they are more than Lambda takes at once', () => {
    const one = world({ messages: [givenUp(1, 7)], bytes: 2_000_000 })
    expect(replayChanges(one)).toBe(7)
    expect(sequences(one)).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(deleted(one)).toHaveLength(1)
    const bad = world({ messages: [givenUp(1, 7)], bytes: 2_000_000, bad: 4 })
    expect(replayChanges(bad)).toBe(0)
    expect(sequences(bad)).toEqual([1, 2])
    expect(deleted(bad)).toEqual([])
  })

  it('stay if it gives them up again, and others go on', () => {
    const one = world({ messages: [givenUp(5, 5), givenUp(9, 9)], bad: 5 })
    expect(replayChanges(one)).toBe(1)
    expect(sequences(one)).toEqual([9])
    expect(deleted(one)).toHaveLength(1)
    expect(one.said).toContainEqual(expect.stringContaining('still cannot pass on 5'))
  })

  it('stay if it does not finish them in its time, and others go on', () => {
    const one = world({ messages: [givenUp(5, 5), givenUp(9, 9)], slow: 5 })
    expect(replayChanges(one)).toBe(1)
    expect([sequences(one), deleted(one).length]).toEqual([[9], 1])
    expect(one.said).toContainEqual(expect.stringMatching(/the relay fails by the records from 5 to 5: .*timed out/))
  })

  it('are tried once each, though the queue shows those that stay again before the last one was tried', () => {
    const one = world({ messages: [givenUp(5, 5), givenUp(9, 9), givenUp(12, 12)], bad: 5, isForgetful: true })
    expect(replayChanges(one)).toBe(2)
    expect(sequences(one)).toEqual([9, 12])
    expect(one.said.filter((line) => line.includes('still cannot pass on 5'))).toHaveLength(1)
  })

  it('that the stream has no more are forgotten: their objects were found', () => {
    const one = world({ messages: [givenUp(5, 5), givenUp(9, 9)], trimmedBelow: 8 })
    expect(replayChanges(one)).toBe(1)
    expect(deleted(one)).toHaveLength(2)
    expect(one.said).toContainEqual(expect.stringContaining('older than a day'))
  })

  it('that the stream has in part are given to it as far as they are there', () => {
    const one = world({ messages: [givenUp(5, 9)], trimmedBelow: 8 })
    expect(replayChanges(one)).toBe(2)
    expect(sequences(one)).toEqual([8, 9])
    expect(deleted(one)).toHaveLength(1)
    expect(one.said).toContainEqual(expect.stringContaining('has not all of the records from 5 to 9 any more'))
  })

  it('stay if the stream does not show all of them', () => {
    const one = world({ messages: [givenUp(5, 15)], silentFrom: 9 })
    let stayed = 0
    expect(replayChanges(one, () => stayed++)).toBe(0)
    expect([stayed, sequences(one), deleted(one)]).toEqual([1, [], []])
    expect(one.said).toContainEqual(expect.stringContaining('does not come from 5 to 15'))
  })
})

describe('dead letters', () => {
  it('go back to the queues that they came from', () => {
    const one = world({ dead: 3 })
    expect(redriveDeadLetters(one)).toBe(3)
    expect(one.asked.at(-1)).toBe('start-message-move-task --source-arn=arn:dead')
    expect(one.asked[1]).toContain('SystemDeadLetters')
  })

  it('are let be while SQS moves them already: the command can be repeated', () => {
    const one = world({ dead: 3, isMoving: true })
    expect(redriveDeadLetters(one)).toBe(3)
    expect(one.said).toEqual(['SQS gives about 3 dead letters back to their queues already'])
  })

  it('are let be where there are none', () => {
    const one = world({})
    redriveDeadLetters(one)
    expect(one.asked.join('\n')).not.toContain('start-message-move-task')
    expect(one.said).toEqual(['there are no dead letters'])
  })
})

it.each(['Default', 'Relay', 'Table', 'AppControllers', 'my-plane'])(
  'finds the parts of a control plane that is called %s, though CDK leaves ids out that come twice',
  (id) => {
    const stack = new Stack(unbundledApp(), 'Test')
    new ControlPlane(stack, id, { reconcilers: fixtures, adminPrincipals: [admin] })
    const all = stack.node
      .findAll()
      .filter(CfnResource.isCfnResource)
      .map((one) => resourceOf(String(stack.resolve(one.logicalId)), one.cfnResourceType))
    const find = findResources({ stack: 'Test', aws: () => ({ StackResourceSummaries: all }) })
    expect(find('table', 'AWS::DynamoDB::Table')).toMatch(/Table\w{8}$/)
    expect(find('deadLetters', 'AWS::SQS::Queue')).toMatch(/SystemDeadLetters\w{8}$/)
    expect(find('failures', 'AWS::SQS::Queue')).toMatch(/RelayFailures\w{8}$/)
    expect(find('relay', 'AWS::Lambda::Function')).toMatch(/RelayFunction\w{8}$/)
  },
)

it('refuses to choose between two resources of one name', () => {
  const twice = [...summaries, resourceOf('ControlPlaneTable01234567', 'AWS::DynamoDB::Table')]
  const all = [...twice, resourceOf('ControlPlaneTable76543210', 'AWS::DynamoDB::Table')]
  const find = findResources({ stack: 'Test', aws: () => ({ StackResourceSummaries: all }) })
  expect(() => find('table', 'AWS::DynamoDB::Table')).toThrow('has 2 resources of type AWS::DynamoDB::Table')
})

it('refuses a stack that is no control plane', () => {
  const aws = () => ({ StackResourceSummaries: summaries.slice(0, 2) })
  expect(() => findResources({ stack: 'other', aws })).toThrow('it is no control plane')
})
