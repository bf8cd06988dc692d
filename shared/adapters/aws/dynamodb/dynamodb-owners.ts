import { DeleteItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { keyOf, keyText, parseKeyText, type ObjectKey } from '../../../model/object-key.ts'
import type { ApiObject } from '../../../model/object.ts'
import { ownerUidsOf } from './dynamodb-items.ts'
import { itemKey, type ItemKey } from './dynamodb-keys.ts'
import { queryAll } from './dynamodb-query.ts'
import { isConditionFailure, requestFailure } from './dynamodb-failures.ts'
import { createDynamodbRequests, type DynamodbOptions } from './dynamodb-requests.ts'

/**
 * Who is owned by whom, strongly: items `owner#<uid>`, one per child. The store writes them before the child, so that
 * whoever can read a child finds it by its owner. One that says too much harms nobody: who finds a child reads it.
 *
 * An entry carries the version of the child that it was written for. So the entry of a later write is neither written
 * over by an earlier one that comes late nor dropped by it.
 */
export interface OwnerEntries {
  /**
   * Before a state of the child is written, with a version that is above the one written over and not above its own.
   */
  add(child: ApiObject, version: number): Promise<void>
  /** After a state is written in which these are its owners no more. Leaves entries behind if it fails. */
  drop(child: ApiObject, owners: readonly string[]): Promise<void>
  /** With a limit, at most so many. */
  childrenOf(owner: string, limit?: number): Promise<readonly ObjectKey[]>
}

export function createOwnerEntries(options: DynamodbOptions): OwnerEntries {
  const { client, table } = options
  const requests = createDynamodbRequests(options)

  const add = async (key: ItemKey, child: ApiObject, version: number): Promise<void> => {
    const of = { N: String(version) }
    const put = new PutItemCommand({
      TableName: table,
      Item: { ...key, of },
      ConditionExpression: 'attribute_not_exists(pk) OR #of < :of',
      ExpressionAttributeNames: { '#of': 'of' },
      ExpressionAttributeValues: { ':of': of },
    })
    await requests.repeat(`note the owner of ${keyText(keyOf(child))}`, () => unlessOutdated(client.send(put)))
  }

  const drop = async (key: ItemKey, child: ApiObject): Promise<void> => {
    const remove = new DeleteItemCommand({
      TableName: table,
      Key: key,
      ConditionExpression: '#of < :of',
      ExpressionAttributeNames: { '#of': 'of' },
      ExpressionAttributeValues: { ':of': { N: child.metadata.resourceVersion } },
    })
    await client.send(remove).catch((error: unknown) => {
      // The write that it belongs to is done: an entry too many is no reason to say that it failed.
      if (!isConditionFailure(error) && requestFailure(error) === undefined) throw error
    })
  }

  return {
    add: async (child, version) => {
      await Promise.all(ownerUidsOf(child).map((owner) => add(entryKey(owner, child), child, version)))
    },
    drop: async (child, owners) => {
      await Promise.all(owners.map((owner) => drop(entryKey(owner, child), child)))
    },
    childrenOf: async (owner, limit) => {
      const query = {
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': { S: partition(owner) } },
        ...(limit !== undefined && { Limit: limit }),
      }
      const items = await queryAll(options, `read the children of ${owner}`, query, limit)
      return items.map(({ sk }) => parseKeyText(sk?.S ?? ''))
    },
  }
}

function partition(owner: string): string {
  return `owner#${owner}`
}

function entryKey(owner: string, child: ApiObject): ItemKey {
  return itemKey(partition(owner), keyText(keyOf(child)))
}

/** There is an entry of a later write. */
async function unlessOutdated(sent: Promise<unknown>): Promise<void> {
  await sent.catch((error: unknown) => {
    if (!isConditionFailure(error)) throw error
  })
}
