import { GetItemCommand, UpdateItemCommand, type AttributeValue } from '@aws-sdk/client-dynamodb'
import type { InHand, InHandNote, Rank } from '../../../ports/in-hand.ts'
import { batchesOf } from '../client/batches.ts'
import { itemKey } from './dynamodb-keys.ts'
import { createDynamodbRequests, type DynamodbOptions } from './dynamodb-requests.ts'

/**
 * An item for each queue. A note is an attribute of its own, so that notes never conflict, and so is when turns of a
 * loop were slow. Notes whose time is over go with the next one: the item stays within a unit of a write.
 */
export function createDynamodbInHand(options: DynamodbOptions): InHand {
  const { client, table: TableName, clock } = options
  const requests = createDynamodbRequests(options)
  const keyFor = (queue: string): Record<string, AttributeValue> => itemKey(`in-hand#${queue}`, '-')
  /** Of each queue, the notes that were over when it was looked at last. */
  const over = new Map<string, readonly string[]>()

  async function update(queue: string, values: Values, removed: readonly string[]): Promise<void> {
    const gone = removed.filter((name) => !values.has(name)).map((name) => [name, undefined] as const)
    for (const some of batchesOf([...values, ...gone], changesMax)) await change(queue, some)
  }

  async function change(queue: string, changes: readonly Change[]): Promise<void> {
    const set = changes.flatMap(([name, value], i) => (value === undefined ? [] : [{ name, value, at: `s${i}` }]))
    const gone = changes.flatMap(([name, value], i) => (value === undefined ? [{ name, at: `r${i}` }] : []))
    const parts = [
      ...(set.length > 0 ? [`SET ${set.map(({ at }) => `#${at} = :${at}`).join(', ')}`] : []),
      ...(gone.length > 0 ? [`REMOVE ${gone.map(({ at }) => `#${at}`).join(', ')}`] : []),
    ]
    const command = new UpdateItemCommand({
      TableName,
      Key: keyFor(queue),
      UpdateExpression: parts.join(' '),
      ExpressionAttributeNames: Object.fromEntries([...set, ...gone].map(({ name, at }) => [`#${at}`, name])),
      ...(set.length > 0 && {
        ExpressionAttributeValues: Object.fromEntries(set.map(({ value, at }) => [`:${at}`, value])),
      }),
    })
    await requests.repeat('note what is in hand', () => client.send(command))
  }

  return {
    note: async (queue, notes) => {
      const slow = notes.flatMap(({ slowLoop }) => slowLoop ?? [])
      const values = new Map([...notes.map(attributeOf), ...slowOf(slow, clock.nowMs())])
      await update(queue, values, over.get(queue) ?? [])
      over.delete(queue)
    },

    strike: (queue, ids, slowLoops) => update(queue, new Map(slowOf(slowLoops, clock.nowMs())), ids.map(noteName)),

    look: async (queue) => {
      const get = new GetItemCommand({ TableName, Key: keyFor(queue), ConsistentRead: true })
      const { Item = {} } = await requests.repeat('look at what is in hand', () => client.send(get))
      const attributes = Object.entries(Item)
      const all = attributes.flatMap(([name, value]) => noteOf(name, value))
      const nowMs = clock.nowMs()
      over.set(
        queue,
        all.filter(({ untilMs }) => untilMs <= nowMs).map(({ id }) => noteName(id)),
      )
      const slowMs = attributes.flatMap(([name, { N }]) =>
        name.startsWith(slowPrefix) ? [[name.slice(slowPrefix.length), Number(N)] as const] : [],
      )
      return { notes: all.filter(({ untilMs }) => untilMs > nowMs), slowMs: new Map(slowMs) }
    },
  }
}

type Values = ReadonlyMap<string, AttributeValue>

/** Of an attribute: what it is now, or that it goes. */
type Change = readonly [name: string, value: AttributeValue | undefined]

/** Of one request: with fifteen characters for each, its expression is below the 4 KB that DynamoDB takes. */
const changesMax = 200

const notePrefix = 'note '
const slowPrefix = 'slow '

function noteName(id: string): string {
  return `${notePrefix}${id}`
}

function attributeOf({ id, rank, untilMs }: InHandNote): [string, AttributeValue] {
  return [noteName(id), { S: `${rank} ${untilMs}` }]
}

function slowOf(loops: readonly string[], nowMs: number): readonly [string, AttributeValue][] {
  return loops.map((loop) => [`${slowPrefix}${loop}`, { N: String(nowMs) }])
}

function noteOf(name: string, { S = '' }: AttributeValue): readonly InHandNote[] {
  if (!name.startsWith(notePrefix)) return []
  const [rank, untilMs] = S.split(' ')
  return [{ id: name.slice(notePrefix.length), rank: rank as Rank, untilMs: Number(untilMs) }]
}
