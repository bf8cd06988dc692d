import { writtenBetween } from '../../../model/engine-state.ts'
import type { ListNetted } from '../../../ports/netted.ts'
import { versionAt } from './dynamodb-items.ts'
import { objectKeyOf, partitionsIn, wholeShare, type Share } from './dynamodb-keys.ts'
import { queryAll } from './dynamodb-query.ts'
import { createRecordings } from './dynamodb-recordings.ts'
import type { DynamodbOptions } from './dynamodb-requests.ts'

/**
 * Out of the index `feed`: where a kind is recorded, its entry goes to its new place with each write anyway, and takes
 * the time along for nothing. Elsewhere an entry is there for the time only; in buckets that grow, as the index of
 * timers has none.
 */
export function createDynamodbNetted(options: DynamodbOptions & { readonly share?: Share }): ListNetted {
  const { share = wholeShare } = options
  const recordings = createRecordings(options)
  return async ({ group, kind }, fromMs, toMs) => {
    const written = writtenBetween(fromMs, toMs)
    const values = {
      ':low': { N: String(versionAt(written.fromMs)) },
      ':high': { N: String(versionAt(written.toMs)) },
      ':from': { N: String(fromMs) },
      ':to': { N: String(toMs) },
    }
    const partitions = partitionsIn(share, await recordings.listPartitions({ group, kind }))
    const found = partitions.map((partition) =>
      queryAll(options, `read the safety net of ${group}/${kind}`, {
        IndexName: 'feed',
        KeyConditionExpression: '#feed = :feed AND rv BETWEEN :low AND :high',
        FilterExpression: '#net >= :from AND #net < :to',
        ExpressionAttributeNames: { '#feed': 'feed', '#net': 'net' },
        ExpressionAttributeValues: { ...values, ':feed': { S: partition } },
      }),
    )
    const items = (await Promise.all(found)).flat()
    return items
      .map((item) => ({ key: objectKeyOf(item), dueAtMs: Number(item['net']?.N) }))
      .toSorted((a, b) => a.dueAtMs - b.dueAtMs)
  }
}
