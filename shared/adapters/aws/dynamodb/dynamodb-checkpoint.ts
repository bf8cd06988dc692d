import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import type { Checkpoint } from '../../../ports/checkpoint.ts'
import { itemKey } from './dynamodb-keys.ts'
import { createDynamodbRequests, type DynamodbOptions } from './dynamodb-requests.ts'

export interface DynamodbCheckpointOptions extends DynamodbOptions {
  readonly name: string
}

/** The Checkpoint of this name in the table: read strongly, the last save wins. */
export function createDynamodbCheckpoint(options: DynamodbCheckpointOptions): Checkpoint {
  const { client, table, name } = options
  const requests = createDynamodbRequests(options)
  const Key = itemKey(`checkpoint#${name}`, '-')
  return {
    load: async () => {
      const get = new GetItemCommand({ TableName: table, Key, ConsistentRead: true })
      return (await requests.repeat(`read the checkpoint ${name}`, () => client.send(get))).Item?.['value']?.S
    },
    save: async (value) => {
      const put = new PutItemCommand({ TableName: table, Item: { ...Key, value: { S: value } } })
      await requests.repeat(`save the checkpoint ${name}`, () => client.send(put))
    },
  }
}
