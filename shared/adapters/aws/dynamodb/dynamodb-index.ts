import type { DueTimer, KindName, ObjectIndex } from '../../../ports/object-index.ts'
import { objectKeyOf, partitionsIn, partitionsOf, wholeShare, type Item, type Share } from './dynamodb-keys.ts'
import { createOwnerEntries } from './dynamodb-owners.ts'
import { queryAll } from './dynamodb-query.ts'
import { createReferenceEntries } from './dynamodb-references.ts'
import type { DynamodbOptions } from './dynamodb-requests.ts'

/**
 * The ObjectIndex on DynamoDB. Owners and references are strong: items of the table. Timers and the wheel are secondary
 * indexes, which lag by a moment: what the sweep misses comes with its next tick. `childrenOf` may name a child whose
 * write did not come about, or that was let go or removed by somebody who died right after. With a share, timers and
 * wheel are those of its part of the partitions.
 */
export function createDynamodbIndex(options: DynamodbOptions & { readonly share?: Share }): ObjectIndex {
  const { share = wholeShare } = options
  const owners = createOwnerEntries(options)
  const references = createReferenceEntries(options)

  /** Items of all partitions of a kind whose place in an index is between two numbers, both inclusive. */
  const between = async (kind: KindName, { index, attribute, from, to, count }: Range): Promise<readonly Item[]> => {
    const found = partitionsIn(share, partitionsOf(kind)).map((pk) =>
      queryAll(
        options,
        `read the index ${index} of ${kind.group}/${kind.kind}`,
        {
          IndexName: index,
          KeyConditionExpression: 'pk = :pk AND #at BETWEEN :from AND :to',
          ExpressionAttributeNames: { '#at': attribute },
          ExpressionAttributeValues: { ':pk': { S: pk }, ':from': { N: String(from) }, ':to': { N: String(to) } },
          ...(count !== undefined && { Limit: count }),
        },
        count,
      ),
    )
    return (await Promise.all(found)).flat()
  }

  return {
    childrenOf: owners.childrenOf,
    referrers: references.referrers,
    references: references.targets,
    setReferences: references.set,

    due: async (kind, untilMs, limit, from = 0) => {
      if (from > untilMs) return []
      const items = await between(kind, { index: 'due', attribute: 'due', from, to: untilMs, count: limit })
      return items
        .map(timerOf)
        .toSorted((a, b) => a.dueAtMs - b.dueAtMs)
        .slice(0, limit)
    },

    onWheel: async (kind, from, to) =>
      to <= from ? [] : (await between(kind, { index: 'wheel', attribute: 'slot', from, to: to - 1 })).map(objectKeyOf),
  }
}

interface Range {
  readonly index: 'due' | 'wheel'
  readonly attribute: string
  readonly from: number
  readonly to: number
  /** Of each partition, no more than needed. */
  readonly count?: number
}

function timerOf(item: Item): DueTimer {
  return { key: objectKeyOf(item), dueAtMs: Number(item['due']?.N) }
}
