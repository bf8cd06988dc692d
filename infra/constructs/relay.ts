import { Duration } from 'aws-cdk-lib'
import * as lambda from 'aws-cdk-lib/aws-lambda'
import * as sqs from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import { acknowledge } from './acknowledge.ts'
import type { ControlFunction } from './control-function.ts'
import type { ObjectTable } from './object-table.ts'

export interface RelayProps {
  readonly table: ObjectTable
  readonly worker: ControlFunction
  /** Invocations for each shard at once, 1 to 10. */
  readonly perShard: number
}

/**
 * Hands the table's stream to the relay. What cannot be passed on is halved until the one bad record is alone, tried
 * thirty times, and then set aside, so that no record holds up its shard for the day that Lambda's defaults would let
 * it. A try takes a minute while a queue or the table is away (shared/runtime/aws/relay.ts): an outage of half an hour
 * sets nothing aside. Where the relay is not called at all, because the account has no concurrency left, nothing is set
 * aside for as long as the stream keeps it.
 */
export class Relay extends Construct {
  /** Where Lambda says which records it gave up. The sweep for repairs finds what they were about. */
  readonly failures: sqs.Queue
  /** Of the mapping: another one with each stream, and so with each table. */
  readonly mappingId: string

  constructor(scope: Construct, id: string, { table, worker, perShard }: RelayProps) {
    super(scope, id)
    const { tableStreamArn } = table
    if (tableStreamArn === undefined) throw new Error('the table has no stream')
    this.failures = new sqs.Queue(this, 'Failures', {
      retentionPeriod: Duration.days(14),
      encryption: sqs.QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
    })
    acknowledge(
      this.failures,
      'SQS3',
      'It is a dead-letter queue: the destination of what Lambda gives up. CDK does not see that.',
    )
    allowStream(worker, tableStreamArn, this.failures)
    const mapping = new lambda.EventSourceMapping(this, 'Mapping', {
      target: worker,
      eventSourceArn: tableStreamArn,
      // From the latest record on, changes made while the mapping is created would be missed.
      startingPosition: lambda.StartingPosition.TRIM_HORIZON,
      batchSize: 100,
      parallelizationFactor: perShard,
      bisectBatchOnError: true,
      reportBatchItemFailures: true,
      retryAttempts: 30,
      maxRecordAge: Duration.days(1),
      onFailure: { bind: () => ({ destination: this.failures.queueArn }) },
      filters: [passedOn],
    })
    this.mappingId = mapping.eventSourceMappingId
  }
}

/**
 * Writes that were the engine's own affair wake nobody and cost no invocation. A write is known by the first of what it
 * touched, as the store's adapter says (shared/adapters/aws/dynamodb/dynamodb-stream.ts).
 */
const touchedFirst = ['spec', 'delete', 'control', 'meta', 'labels', 'annotations', 'fields', 'status', 'timer']
const passedOn = lambda.FilterCriteria.filter({
  dynamodb: { NewImage: { touched: { S: touchedFirst.map((part) => ({ prefix: part })) } } },
})

/** What Lambda does in the function's name. Streams are listed by account, so that one action takes no resource. */
function allowStream(worker: ControlFunction, streamArn: string, failures: sqs.Queue): void {
  worker.allow(['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'], [streamArn])
  worker.allow(['dynamodb:ListStreams'], ['*'])
  worker.allow(['sqs:SendMessage'], [failures.queueArn])
}
