import { GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { OperatingError } from '../../../model/errors.ts'
import { keepReading } from '../../../model/keep-reading.ts'
import { atOnce } from '../client/limit-requests.ts'
import { isConditionFailure } from './dynamodb-failures.ts'
import { itemKey, type Item } from './dynamodb-keys.ts'
import { createDynamodbRequests, type DynamodbOptions } from './dynamodb-requests.ts'

/** What is noted of kinds that are recorded: one item for all, with an attribute for each. */
export interface RecordingNotes {
  /** Those of the last minute. Throws THROTTLED, UNAVAILABLE. */
  current(): Promise<NotesRead>

  /** Notes something of a kind. Throws VERSION_CONFLICT if another note is there; THROTTLED, UNAVAILABLE. */
  save(name: string, change: NoteChange): Promise<void>
}

interface NotesRead {
  /** When the first kind was noted: functions of an earlier version, which record nothing, may have run then. */
  readonly bornMs: number | undefined
  readonly texts: ReadonlyMap<string, string>
}

interface NoteChange {
  readonly before: string | undefined
  readonly next: string
  readonly bornMs: number
}

/** A note is relied on for less time than this. */
export const staleMs = 60_000

export function createRecordingNotes(options: DynamodbOptions): RecordingNotes {
  const { client, table, clock } = options
  const requests = createDynamodbRequests(options)

  // Writes whose turn it is wait for it.
  async function read(): Promise<NotesRead> {
    const get = new GetItemCommand({ TableName: table, Key: notesKey, ConsistentRead: true })
    const { Item } = await requests.repeat('read which kinds are recorded', () => atOnce(() => client.send(get)))
    return notesOf(Item ?? {})
  }

  const notes = keepReading({ read, clock, maxAgeMs: staleMs - 1 })

  return {
    current: () => notes.get(),

    save: async (name, { before, next, bornMs }) => {
      const update = new UpdateItemCommand({
        TableName: table,
        Key: notesKey,
        UpdateExpression: 'SET #kind = :next, #born = if_not_exists(#born, :born)',
        ConditionExpression: before === undefined ? 'attribute_not_exists(#kind)' : '#kind = :before',
        ExpressionAttributeNames: { '#kind': name, '#born': bornAttribute },
        ExpressionAttributeValues: {
          ':next': { S: next },
          ':born': { N: String(bornMs) },
          ...(before !== undefined && { ':before': { S: before } }),
        },
      })
      try {
        await requests.repeat(`note that ${name} is recorded`, () => client.send(update))
      } catch (error) {
        throw isConditionFailure(error) ? new OperatingError('VERSION_CONFLICT', `${name} was noted by another`) : error
      } finally {
        notes.forget()
      }
    },
  }
}

function notesOf(item: Item): NotesRead {
  const born = item[bornAttribute]?.N
  const texts = Object.entries(item).flatMap(([name, { S: text }]) =>
    text === undefined ? [] : [[name, text] as const],
  )
  return { bornMs: born === undefined ? undefined : Number(born), texts: new Map(texts) }
}

const notesKey = itemKey('recordings', '-')
const bornAttribute = 'born'
