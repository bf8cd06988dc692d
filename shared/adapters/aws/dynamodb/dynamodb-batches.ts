import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  ProvisionedThroughputExceededException,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb'
import { batchesOf } from '../client/batches.ts'
import type { Item, ItemKey } from './dynamodb-keys.ts'
import { createDynamodbRequests, type DynamodbOptions } from './dynamodb-requests.ts'

const writesMax = 25
const readsMax = 100

/** Does all writes, in no order, each of which may be done twice. Throws THROTTLED, UNAVAILABLE: then some are done. */
export function createBatchWrite(
  options: DynamodbOptions,
): (what: string, writes: readonly WriteRequest[]) => Promise<void> {
  const { client, table } = options
  const requests = createDynamodbRequests(options)

  const writeBatch = async (what: string, batch: readonly WriteRequest[]): Promise<void> => {
    let left = [...batch]
    await requests.repeat(what, async () => {
      const { UnprocessedItems } = await client.send(new BatchWriteItemCommand({ RequestItems: { [table]: left } }))
      left = UnprocessedItems?.[table] ?? []
      if (left.length > 0) throw throttleFailure(left.length)
    })
  }

  return async (what, writes) => {
    await Promise.all(batchesOf(writes, writesMax).map((batch) => writeBatch(what, batch)))
  }
}

/** Reads items strongly, in no order; those that are not there are left out. Throws THROTTLED, UNAVAILABLE. */
export function createBatchRead(
  options: DynamodbOptions,
): (what: string, keys: readonly ItemKey[]) => Promise<readonly Item[]> {
  const { client, table } = options
  const requests = createDynamodbRequests(options)

  const readBatch = async (what: string, batch: readonly ItemKey[]): Promise<readonly Item[]> => {
    const items: Item[] = []
    let left: Item[] = [...batch]
    await requests.repeat(what, async () => {
      const RequestItems = { [table]: { Keys: left, ConsistentRead: true } }
      const { Responses, UnprocessedKeys } = await client.send(new BatchGetItemCommand({ RequestItems }))
      items.push(...(Responses?.[table] ?? []))
      left = UnprocessedKeys?.[table]?.Keys ?? []
      if (left.length > 0) throw throttleFailure(left.length)
    })
    return items
  }

  return async (what, keys) =>
    (await Promise.all(batchesOf(keys, readsMax).map((batch) => readBatch(what, batch)))).flat()
}

/**
 * What DynamoDB leaves undone in a batch is throttled, or above the size of an answer: it comes with the next attempt.
 */
function throttleFailure(count: number): ProvisionedThroughputExceededException {
  return new ProvisionedThroughputExceededException({ message: `${count} left unprocessed`, $metadata: {} })
}
