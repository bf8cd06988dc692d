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
  const nextPage = createPager(options, what, query)
  for (let page = await nextPage(); ; page = await nextPage()) {
    yield page.items
    if (page.isLast) return
  }
}

/** All items of a query; with a count, no pages behind those that hold so many. */
export async function queryAll(
  options: DynamodbOptions,
  what: string,
  query: Query,
  count = Infinity,
): Promise<readonly Item[]> {
  const nextPage = createPager(options, what, query)
  const items: Item[] = []
  for (;;) {
    const page = await nextPage()
    items.push(...page.items)
    if (page.isLast || items.length >= count) return items
  }
}

interface Page {
  readonly items: readonly Item[]
  readonly isLast: boolean
}

/**
 * Asks for one page after the other. DynamoDB counts what a filter leaves out, such as what was removed: behind a page
 * of which nothing is left the next one is four times as long.
 */
function createPager(options: DynamodbOptions, what: string, query: Query): () => Promise<Page> {
  const { client, table } = options
  const requests = createDynamodbRequests(options)
  let { Limit } = query
  let from: Item | undefined
  return async () => {
    const place = { ...(Limit !== undefined && { Limit }), ...(from && { ExclusiveStartKey: from }) }
    const command = new QueryCommand({ TableName: table, ...query, ...place })
    const { Items = [], LastEvaluatedKey } = await requests.repeat(what, () => client.send(command))
    from = LastEvaluatedKey
    if (Limit !== undefined && Items.length === 0) Limit = Math.max(Limit, Math.min(4 * Limit, pageMax))
    return { items: Items, isLast: from === undefined }
  }
}

/** No page is made longer than that. */
const pageMax = 1_000
