import { QueryCommand, type QueryCommandInput } from '@aws-sdk/client-dynamodb'
import type { Item } from './dynamodb-keys.ts'
import { createDynamodbRequests, type DynamodbOptions } from './dynamodb-requests.ts'

export type Query = Omit<QueryCommandInput, 'TableName'>

/** The pages of a query as they are asked for, each of 1 MB at most before the filter; some may be empty. */
export async function* queryPages(
  options: DynamodbOptions,
  what: string,
  query: Query,
): AsyncGenerator<readonly Item[], void> {
  const { client, table } = options
  const requests = createDynamodbRequests(options)
  let ExclusiveStartKey: Item | undefined
  do {
    const command = new QueryCommand({
      TableName: table,
      ...query,
      ...(ExclusiveStartKey !== undefined && { ExclusiveStartKey }),
    })
    const { Items = [], LastEvaluatedKey } = await requests.repeat(what, () => client.send(command))
    ExclusiveStartKey = LastEvaluatedKey
    yield Items
  } while (ExclusiveStartKey !== undefined)
}

/** All items of a query; with a count, no pages behind those that hold so many. */
export async function queryAll(
  options: DynamodbOptions,
  what: string,
  query: Query,
  count = Infinity,
): Promise<readonly Item[]> {
  const items: Item[] = []
  for await (const page of queryPages(options, what, query)) {
    items.push(...page)
    if (items.length >= count) break
  }
  return items
}
