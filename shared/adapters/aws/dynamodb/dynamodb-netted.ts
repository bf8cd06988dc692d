import { writtenBetween } from '../../../model/engine-state.ts'
import type { ListNetted } from '../../../ports/netted.ts'
import { versionAt } from './dynamodb-items.ts'
import { objectKeyOf, partitionsOf } from './dynamodb-keys.ts'
import { queryAll } from './dynamodb-query.ts'
import type { DynamodbOptions } from './dynamodb-requests.ts'

/**
 * Out of the index of changes: its entry goes to its new place with each write anyway, and takes the time along for
 * nothing. An entry in the index of timers would cost each change two writes: one to come, and one to go.
 */
export function createDynamodbNetted(options: DynamodbOptions): ListNetted {
  return async ({ group, kind }, fromMs, toMs) => {
    const written = writtenBetween(fromMs, toMs)
    const values = {
      ':low': { N: String(versionAt(written.fromMs)) },
      ':high': { N: String(versionAt(written.toMs)) },
      ':from': { N: String(fromMs) },
      ':to': { N: String(toMs) },
    }
    const found = partitionsOf({ group, kind }).map((pk) =>
      queryAll(options, `read the safety net of ${group}/${kind}`, {
        IndexName: 'changes',
        KeyConditionExpression: 'pk = :pk AND rv BETWEEN :low AND :high',
        FilterExpression: '#net >= :from AND #net < :to',
        ExpressionAttributeNames: { '#net': 'net' },
        ExpressionAttributeValues: { ...values, ':pk': { S: pk } },
      }),
    )
    const items = (await Promise.all(found)).flat()
    return items
      .map((item) => ({ key: objectKeyOf(item), dueAtMs: Number(item['net']?.N) }))
      .toSorted((a, b) => a.dueAtMs - b.dueAtMs)
  }
}
