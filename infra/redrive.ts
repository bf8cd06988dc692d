/**
 * Gives the dead letters of a control plane back to their queues, and has the relay pass on the changes that it gave
 * up. Run it after a bug or an outage is repaired. Without it both happen later. It can be run again.
 */
import { FunctionFailed, type AnswerAws } from './aws-command.ts'
import type { Find } from './plane-resources.ts'

export interface Redrive {
  readonly find: Find
  readonly aws: AnswerAws
  /** Hands an event to a function. */
  readonly invoke: (name: string, event: unknown) => unknown
  readonly say: (line: string) => void
}

/** SQS moves each dead letter to the queue that it came from. How many there were, about. */
export function redriveDeadLetters(redrive: Redrive): number {
  const { aws, find, say } = redrive
  const queue = `--queue-url=${find('deadLetters', 'AWS::SQS::Queue')}`
  const names = ['QueueArn', 'ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible']
  const asking = ['sqs', 'get-queue-attributes', queue, '--attribute-names', ...names]
  const { Attributes: of } = aws(asking) as { readonly Attributes: Readonly<Record<string, string>> }
  const count = Number(of['ApproximateNumberOfMessages']) + Number(of['ApproximateNumberOfMessagesNotVisible'])
  if (count === 0) say('there are no dead letters')
  else if (startMoving(aws, of['QueueArn'] ?? '')) say(`about ${count} dead letters go back to their queues`)
  else say(`SQS gives about ${count} dead letters back to their queues already`)
  return count
}

/** SQS does this once at a time for a queue: whether it begins now. */
function startMoving(aws: AnswerAws, queueArn: string): boolean {
  try {
    aws(['sqs', 'start-message-move-task', `--source-arn=${queueArn}`])
    return true
  } catch (error) {
    if (!String(error).includes('already a task running')) throw error
    return false
  }
}

/** What Lambda says of a batch that it gave up. */
interface GivenUp {
  readonly DDBStreamBatchInfo: {
    readonly shardId: string
    readonly startSequenceNumber: string
    readonly endSequenceNumber: string
    readonly streamArn: string
  }
}

interface Message {
  readonly MessageId: string
  readonly Body: string
  readonly ReceiptHandle: string
}

interface StreamRecord {
  readonly dynamodb: {
    readonly SequenceNumber: string
    readonly ApproximateCreationDateTime?: number | string
  }
}

/** Longer than a batch may take here. */
const hiddenSeconds = 300

/**
 * Has the relay pass on what it gave up, batch by batch, and forgets each that it could. One that fails again stays.
 * The queue may show it again before the last one is tried, and it is not tried twice. Returns how many records were
 * passed on. This function calls `stays` for each batch that stays.
 */
export function replayChanges(redrive: Redrive, stays: () => void = () => {}): number {
  const { aws, find, say } = redrive
  const queue = `--queue-url=${find('failures', 'AWS::SQS::Queue')}`
  const relay = find('relay', 'AWS::Lambda::Function')
  const receiving = ['sqs', 'receive-message', queue, '--max-number-of-messages=10', '--wait-time-seconds=1']
  const tried = new Set<string>()
  let passedOn = 0
  for (;;) {
    const answer = aws([...receiving, `--visibility-timeout=${hiddenSeconds}`])
    const { Messages: messages = [] } = answer as { readonly Messages?: readonly Message[] }
    const untried = messages.filter(({ MessageId: id }) => !tried.has(id))
    if (untried.length === 0) break
    for (const message of untried) {
      tried.add(message.MessageId)
      const records = replayBatch(redrive, relay, JSON.parse(message.Body) as GivenUp)
      if (records === 'again') {
        stays()
        continue
      }
      aws(['sqs', 'delete-message', queue, `--receipt-handle=${message.ReceiptHandle}`])
      passedOn += records
    }
  }
  say(`${passedOn} changes were passed on`)
  return passedOn
}

/** How many records were passed on, or that the relay gave them up again. */
function replayBatch(
  { aws, invoke, say }: Redrive,
  relay: string,
  { DDBStreamBatchInfo: batch }: GivenUp,
): number | 'again' {
  const { shardId, startSequenceNumber: from, endSequenceNumber: to } = batch
  const { records, isTrimmed, isWhole } = readRecords(aws, batch)
  if (!isWhole) {
    say(`${shardId} does not come from ${from} to ${to} within ${roundsMax} looks`)
    return 'again'
  }
  if (isTrimmed)
    say(
      `${shardId} has ${records.length === 0 ? 'none' : 'not all'} of the records from ${from} to ${to} any more: those that are gone are older than a day, and the sweep has found their objects`,
    )
  for (const some of inSlices(records.map(asEvent))) {
    const answer = answerOf(() => invoke(relay, { Records: some }))
    if (answer instanceof FunctionFailed) {
      say(`${shardId}: the relay fails by the records from ${from} to ${to}: ${answer.message}`)
      return 'again'
    }
    const { batchItemFailures: failed } = answer as {
      readonly batchItemFailures: readonly { readonly itemIdentifier: string }[]
    }
    if (failed.length === 0) continue
    say(
      `${shardId}: the relay still cannot pass on ${failed[0]?.itemIdentifier} (of ${from} to ${to}); its log says why`,
    )
    return 'again'
  }
  return records.length
}

/**
 * Lambda takes events of 6 MB (https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html). A batch has
 * more here than it had there: its mapping passes over what the relay does not ask for.
 */
const eventBytesMax = 5_000_000

/** In their order. A slice has one record at least, and no record is larger than a slice may be. */
function inSlices(events: readonly object[]): readonly (readonly object[])[] {
  const slices: object[][] = []
  let left = 0
  for (const event of events) {
    const bytes = Buffer.byteLength(JSON.stringify(event)) + 1
    if (slices.length === 0 || bytes > left) {
      slices.push([])
      left = eventBytesMax
    }
    slices.at(-1)?.push(event)
    left -= bytes
  }
  return slices
}

interface Read {
  readonly records: readonly StreamRecord[]
  /** The stream has some of them no more, or all. */
  readonly isTrimmed: boolean
  /** All that it has of them were read. */
  readonly isWhole: boolean
}

/** What the stream still has of a batch: what is older than a day goes from it one by one, the first ones first. */
function readRecords(aws: AnswerAws, batch: GivenUp['DDBStreamBatchInfo']): Read {
  const first = ['--shard-iterator-type=AT_SEQUENCE_NUMBER', `--sequence-number=${batch.startSequenceNumber}`]
  const read = readFrom(aws, batch, first) ?? readFrom(aws, batch, ['--shard-iterator-type=TRIM_HORIZON'])
  if (read === undefined) return { records: [], isTrimmed: true, isWhole: true }
  return { ...read, isTrimmed: read.records[0]?.dynamodb.SequenceNumber !== batch.startSequenceNumber }
}

/** A stream has ten calls' worth of records at most between two that one batch held. */
const roundsMax = 100

/** Undefined where the stream has no such place any more. */
function readFrom(
  aws: AnswerAws,
  { shardId, streamArn, startSequenceNumber, endSequenceNumber }: GivenUp['DDBStreamBatchInfo'],
  place: readonly string[],
): Omit<Read, 'isTrimmed'> | undefined {
  const [start, end] = [BigInt(startSequenceNumber), BigInt(endSequenceNumber)]
  const records: StreamRecord[] = []
  try {
    const asking = ['dynamodbstreams', 'get-shard-iterator', `--stream-arn=${streamArn}`, `--shard-id=${shardId}`]
    let { ShardIterator: iterator } = aws([...asking, ...place]) as { readonly ShardIterator?: string }
    for (let round = 0; iterator !== undefined && round < roundsMax; round++) {
      const page = aws(['dynamodbstreams', 'get-records', `--shard-iterator=${iterator}`]) as {
        readonly Records: readonly StreamRecord[]
        readonly NextShardIterator?: string
      }
      const numbered = page.Records.map((one) => ({ one, at: BigInt(one.dynamodb.SequenceNumber) }))
      records.push(...numbered.flatMap(({ one, at }) => (at >= start && at <= end ? [one] : [])))
      iterator = numbered.some(({ at }) => at >= end) ? undefined : page.NextShardIterator
    }
    return { records, isWhole: iterator === undefined }
  } catch (error) {
    if (/TrimmedDataAccess|ResourceNotFound/.test(String(error))) return undefined
    throw error
  }
}

/** The command line gives the time of a record as text; a mapping gives it in seconds. */
function asEvent(record: StreamRecord): object {
  const { ApproximateCreationDateTime: at } = record.dynamodb
  const seconds = typeof at === 'string' ? Math.floor(Date.parse(at) / 1_000) : at
  return { ...record, dynamodb: { ...record.dynamodb, ApproximateCreationDateTime: seconds } }
}

function answerOf(ask: () => unknown): unknown {
  try {
    return ask()
  } catch (error) {
    if (error instanceof FunctionFailed) return error
    throw error
  }
}
