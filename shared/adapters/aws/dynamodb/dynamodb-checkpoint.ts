import { GetItemCommand, PutItemCommand, type AttributeValue } from '@aws-sdk/client-dynamodb'
import type { Checkpoint } from '../../../ports/checkpoint.ts'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { itemKey } from './dynamodb-keys.ts'
import { createDynamodbRequests, type DynamodbOptions } from './dynamodb-requests.ts'

export interface DynamodbCheckpointOptions extends DynamodbOptions {
  readonly name: string
}

/** The Checkpoint of this name in the table: read strongly, the last save wins. A long text is packed. */
export function createDynamodbCheckpoint(options: DynamodbCheckpointOptions): Checkpoint {
  const { client, table, name } = options
  const requests = createDynamodbRequests(options)
  const Key = itemKey(`checkpoint#${name}`, '-')
  return {
    load: async () => {
      const get = new GetItemCommand({ TableName: table, Key, ConsistentRead: true })
      const { Item } = await requests.repeat(`read the checkpoint ${name}`, () => client.send(get))
      const packed = Item?.['packed']?.B
      return packed === undefined ? Item?.['value']?.S : inflateRawSync(packed).toString()
    },
    save: async (value) => {
      const put = new PutItemCommand({ TableName: table, Item: { ...Key, ...pack(value) } })
      await requests.repeat(`save the checkpoint ${name}`, () => client.send(put))
    },
  }
}

/** With its key below one unit of a write: the tick saves one each minute. */
const plainMax = 900

function pack(value: string): Readonly<Record<string, AttributeValue>> {
  if (value.length <= plainMax) return { value: { S: value } }
  return { packed: { B: new Uint8Array(deflateRawSync(value)) } }
}
