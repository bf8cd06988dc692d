import { GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { isConditionFailure } from './dynamodb-failures.ts'
import { itemKey, type Item } from './dynamodb-keys.ts'
import { createDynamodbRequests, type DynamodbOptions } from './dynamodb-requests.ts'

/** What is noted of kinds that are recorded: one item for all, with an attribute for each. */
export interface RecordingNotes {
  /** Those of the last minute. Whoever asks while they are read waits with the one who reads. */
  current(): Promise<NotesRead>

  /** Notes something of a kind, unless the note of before is another now; false then. */
  save(name: string, change: NoteChange): Promise<boolean>
}

interface NotesRead {
  readonly readMs: number
  /** When the first kind was noted: functions of an earlier version, which record nothing, may have run then. */
  readonly bornMs: number | undefined
  readonly texts: ReadonlyMap<string, string>
}

interface NoteChange {
  readonly before: string | undefined
  readonly next: string
  readonly bornMs: number
}

/** So long a note is relied on. */
export const staleMs = 60_000

export function createRecordingNotes(options: DynamodbOptions): RecordingNotes {
  const { client, table, clock } = options
  const requests = createDynamodbRequests(options)
  let notes: Promise<NotesRead> | undefined

  async function read(): Promise<NotesRead> {
    const readMs = clock.nowMs()
    const get = new GetItemCommand({ TableName: table, Key: notesKey, ConsistentRead: true })
    const { Item } = await requests.repeat('read which kinds are recorded', () => client.send(get))
    return notesOf(Item ?? {}, readMs)
  }

  async function current(): Promise<NotesRead> {
    const known = notes
    if (known !== undefined && Math.abs(clock.nowMs() - (await known).readMs) < staleMs) return known
    if (notes !== known) return current()
    const reading = read()
    notes = reading
    reading.catch(() => {
      if (notes === reading) notes = undefined
    })
    return reading
  }

  return {
    current,

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
      notes = undefined
      try {
        await requests.repeat(`note that ${name} is recorded`, () => client.send(update))
        return true
      } catch (error) {
        if (isConditionFailure(error)) return false
        throw error
      }
    },
  }
}

function notesOf(item: Item, readMs: number): NotesRead {
  const born = item[bornAttribute]?.N
  const texts = Object.entries(item).flatMap(([name, { S: text }]) =>
    text === undefined ? [] : [[name, text] as const],
  )
  return { readMs, bornMs: born === undefined ? undefined : Number(born), texts: new Map(texts) }
}

const notesKey = itemKey('recordings', '-')
const bornAttribute = 'born'
