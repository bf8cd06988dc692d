import { DeleteItemCommand, GetItemCommand, PutItemCommand, type WriteRequest } from '@aws-sdk/client-dynamodb'
import { hasCode } from '../../model/errors.ts'
import { keyText, parseKeyText, type ObjectKey } from '../../model/object-key.ts'
import { createBatchWrite } from './dynamodb-batches.ts'
import { itemKey, type ItemKey } from './dynamodb-keys.ts'
import { queryAll } from './dynamodb-query.ts'
import { createRequests, type DynamodbOptions } from './dynamodb-requests.ts'

/**
 * Who refers to whom: an item `ref#<target>` per referrer, to be found by the target, and one item `refs#<referrer>` with all that
 * it refers to. The second is written last, so that whoever is interrupted finds the same difference again.
 */
export interface ReferenceEntries {
  referrers(target: ObjectKey): Promise<readonly ObjectKey[]>
  targets(referrer: ObjectKey): Promise<readonly ObjectKey[]>
  set(referrer: ObjectKey, targets: readonly ObjectKey[]): Promise<void>
  /** After a referrer was removed. Leaves entries behind if it fails: they wake a key where nothing is. */
  drop(referrer: ObjectKey): Promise<void>
}

export function createReferenceEntries(options: DynamodbOptions): ReferenceEntries {
  const { client, table } = options
  const requests = createRequests(options)
  const writeAll = createBatchWrite(options)

  const recorded = async (referrer: ObjectKey): Promise<readonly string[]> => {
    const get = new GetItemCommand({ TableName: table, Key: ofReferrer(referrer), ConsistentRead: true })
    const { Item } = await requests.repeat(`read the references of ${keyText(referrer)}`, () => client.send(get))
    return Item?.['targets']?.SS ?? []
  }

  const record = async (referrer: ObjectKey, targets: readonly string[]): Promise<void> => {
    const Key = ofReferrer(referrer)
    const what = `note the references of ${keyText(referrer)}`
    if (targets.length === 0) {
      const remove = new DeleteItemCommand({ TableName: table, Key })
      await requests.repeat(what, () => client.send(remove))
    } else {
      const put = new PutItemCommand({ TableName: table, Item: { ...Key, targets: { SS: [...targets] } } })
      await requests.repeat(what, () => client.send(put))
    }
  }

  const set: ReferenceEntries['set'] = async (referrer, targets) => {
    const wanted = [...new Set(targets.map(keyText))]
    const before = await recorded(referrer)
    const writes: readonly WriteRequest[] = [
      ...without(wanted, before).map((target) => ({ PutRequest: { Item: entry(target, referrer) } })),
      ...without(before, wanted).map((target) => ({ DeleteRequest: { Key: entry(target, referrer) } })),
    ]
    if (writes.length === 0) return
    await writeAll(`note who ${keyText(referrer)} refers to`, writes)
    await record(referrer, wanted)
  }

  return {
    referrers: async (target) => {
      const items = await queryAll(options, `read who refers to ${keyText(target)}`, {
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': { S: partition(keyText(target)) } },
      })
      return items.map(({ sk }) => parseKeyText(sk?.S ?? ''))
    },
    targets: async (referrer) => (await recorded(referrer)).map(parseKeyText),
    set,
    drop: (referrer) =>
      set(referrer, []).catch((error: unknown) => {
        // The removal is done: entries too many are no reason to say that it failed.
        if (!hasCode(error, 'THROTTLED', 'UNAVAILABLE')) throw error
      }),
  }
}

function ofReferrer(referrer: ObjectKey): ItemKey {
  return itemKey(`refs#${keyText(referrer)}`, '-')
}

function partition(target: string): string {
  return `ref#${target}`
}

function entry(target: string, referrer: ObjectKey): ItemKey {
  return itemKey(partition(target), keyText(referrer))
}

function without(texts: readonly string[], others: readonly string[]): readonly string[] {
  const left = new Set(texts)
  for (const other of others) left.delete(other)
  return [...left]
}
