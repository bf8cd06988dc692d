import { OperatingError } from '../../../model/errors.ts'
import type { ObjectKey } from '../../../model/object-key.ts'
import { objectText } from '../../../model/object-text.ts'
import { pageCharactersMax } from '../../../model/size-limit.ts'
import type { StoredObject } from '../../../model/stored-object.ts'
import type { ListQuery, ObjectStore } from '../../../ports/object-store.ts'
import { reachMs, readItemIfWhole, versionAt } from './dynamodb-items.ts'
import { listRange, objectKeyOf, partitionsOf, type Item } from './dynamodb-keys.ts'
import { queryPages } from './dynamodb-query.ts'
import type { DynamodbOptions } from './dynamodb-requests.ts'

/**
 * Lists by walking all partitions of a kind at once, each with strong queries, and taking the first of them in order.
 * Of a page with a limit, each partition reads its share and a little more, so that at most two pages are read for one.
 */
export function createDynamodbList(options: DynamodbOptions): ObjectStore['list'] {
  return async (query) => {
    const { limit = Infinity, asOf } = query
    if (asOf !== undefined && !(Number(asOf) >= versionAt(options.clock.nowMs() - reachMs)))
      throw new OperatingError('EXPIRED', `resource version ${asOf} is older than an hour: list again`)
    // The end of this millisecond, before anything is read: what is written later is told by a watch, which looks back.
    const resourceVersion = String(versionAt(options.clock.nowMs() + 1) - 1)
    const walks = startWalks(options, query)
    await Promise.all(walks.map(({ fill }) => fill()))
    const items: StoredObject[] = []
    const damaged: ObjectKey[] = []
    let characters = 0
    const isFull = (): boolean => items.length >= limit || (limit !== Infinity && characters >= pageCharactersMax)
    for (;;) {
      const next = first(walks)
      if (next === undefined || isFull()) {
        const page = { items, resourceVersion, more: next !== undefined }
        return damaged.length === 0 ? page : { ...page, damaged }
      }
      const item = next.take()
      const stored = readItemIfWhole(item)
      if (stored === undefined) damaged.push(objectKeyOf(item))
      else {
        items.push(stored)
        characters += objectText(stored.object).length
      }
      await next.fill()
    }
  }
}

function startWalks(options: DynamodbOptions, query: ListQuery): readonly Walk[] {
  const { group, kind, namespace, after, limit } = query
  const range = listRange(namespace, after)
  if (range === undefined) return []
  const partitions = partitionsOf(query)
  const count = limit === undefined ? {} : { Limit: shareOf(limit + 1, partitions.length) }
  return partitions.map((pk) =>
    walkThrough(
      queryPages(options, `list ${group}/${kind}`, {
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
        FilterExpression: 'attribute_not_exists(expires)',
        ExpressionAttributeValues: { ':pk': { S: pk }, ':from': { S: range.from }, ':to': { S: range.to } },
        ...count,
      }),
    ),
  )
}

const pageMax = 1_000

/** Shares are not even: with twice the root more, a second page of a partition is the exception. */
function shareOf(count: number, partitionCount: number): number {
  const share = count / partitionCount
  const page = Math.ceil(partitionCount === 1 ? share : share + 2 * Math.sqrt(share))
  return Math.min(page, pageMax)
}

/** The items of one partition, in order. */
interface Walk {
  /** The place of the next one; `undefined` behind the last. */
  readonly place: () => Buffer | undefined
  take(): Item
  /** Reads on if nothing is left of the last page. */
  fill(): Promise<void>
}

function walkThrough(pages: AsyncIterator<readonly Item[], void>): Walk {
  let page: readonly Item[] = []
  let at = 0
  let place: Buffer | undefined
  let isDone = false
  const arrive = (): void => {
    const sk = page[at]?.['sk']?.S
    place = sk === undefined ? undefined : Buffer.from(sk)
  }
  return {
    place: () => place,
    take: () => {
      const item = page[at++] as Item
      arrive()
      return item
    },
    fill: async () => {
      while (at >= page.length && !isDone) {
        const { value, done = false } = await pages.next()
        isDone = done
        page = value ?? []
        at = 0
        arrive()
      }
    },
  }
}

/** The walk whose next item comes first, by the bytes of its place: that is the order within a partition. */
function first(walks: readonly Walk[]): Walk | undefined {
  let least: { readonly walk: Walk; readonly place: Buffer } | undefined
  for (const walk of walks) {
    const place = walk.place()
    if (place !== undefined && (least === undefined || Buffer.compare(place, least.place) < 0)) least = { walk, place }
  }
  return least?.walk
}
