import { OperatingError } from '../../../model/errors.ts'
import { objectText } from '../../../model/object-text.ts'
import type { Change, ChangeBatch, ChangeFeed, FollowOptions } from '../../../ports/change-feed.ts'
import type { KindName } from '../../../ports/object-index.ts'
import { createBatchRead } from './dynamodb-batches.ts'
import { isRemoved, reachMs, readItemIfWhole, findTouchedSince, versionAt } from './dynamodb-items.ts'
import { itemKey, livePlace, partitionsOf, type Item, type ItemKey } from './dynamodb-keys.ts'
import { queryAll, type Query } from './dynamodb-query.ts'
import { createRecordings } from './dynamodb-recordings.ts'
import type { DynamodbOptions } from './dynamodb-requests.ts'

export interface DynamodbChangeFeedOptions extends DynamodbOptions {
  /** The kinds to follow where none is named. */
  readonly kinds?: () => Promise<readonly KindName[]>
  /** Between two looks. Default 1 s. */
  readonly pollMs?: number
  /**
   * How long a write can be under way, from when it takes its number to when the index shows it; clocks that differ
   * count in. A reader begins so far back. Default 2 s.
   */
  readonly lookBackMs?: number
  /** Before that, versions were given by another table. Default: by none. */
  readonly usedSinceMs?: () => Promise<number>
}

/**
 * The ChangeFeed on DynamoDB, for watches: the engine is woken by the table's stream. It asks the index `feed` again
 * and again for what is new, and reads those objects strongly. A kind that nobody has watched for a day is not in the
 * index: it is recorded from then on, and its objects are looked through until the index has all. Numbers are taken
 * from clocks, so that a write may be seen after one that has a higher number: every look reaches back a while, and
 * tells what it has not told.
 *
 * A reader is told the states of an object in their order, not all of them, and the last one for sure. A version that
 * it was told, of a change, a batch or a list, lies ahead of changes still to come by the look-back at most, if a write
 * is visible within two seconds and clocks agree so far. Followed from there, the feed misses nothing, and repeats the
 * newest states of what was written in those two seconds: a client that is cut off again within the repeats gets no
 * further.
 */
export function createDynamodbChangeFeed(options: DynamodbChangeFeedOptions): ChangeFeed {
  const { clock, pollMs = 1_000, lookBackMs = 2_000, usedSinceMs = async () => 0 } = options
  const look = createLook(options)
  const readInBatches = createReadInBatches(options)

  /** Where a reader begins: a number ahead of our clock says no more than "now". */
  const startOf = async (after: string): Promise<number> => {
    const sinceMs = await usedSinceMs()
    const nowMs = clock.nowMs()
    const version = Number(after)
    if (!(version >= versionAt(nowMs - reachMs)))
      throw new OperatingError('EXPIRED', `resource version ${after} is older than an hour`)
    // Who lists and then watches has a version of this moment.
    if (version < versionAt(Math.min(sinceMs, nowMs - freshMs)))
      throw new OperatingError('EXPIRED', `resource version ${after} is from before the table was restored: list again`)
    return Math.min(version, versionAt(nowMs)) - versionAt(lookBackMs)
  }

  async function* follow({ after, of, signal }: FollowOptions): AsyncGenerator<ChangeBatch> {
    const progress: Progress = { low: await startOf(after), told: new Map() }
    let quietSinceMs = -Infinity
    while (!signal.aborted) {
      const nowMs = clock.nowMs()
      const { entries, isThorough } = await look(of, progress)
      const tookMs = clock.nowMs() - nowMs
      for await (const batch of readInBatches(entries, progress, nowMs)) {
        if (signal.aborted) return
        if (batch.changes.length === 0 && nowMs - quietSinceMs < quietMsMax) continue
        quietSinceMs = nowMs
        yield batch
      }
      // Within one reader nothing is told twice, so that it can look back further for what is late.
      progress.low = Math.max(progress.low, versionAt(nowMs - lookBackMs - lateMs))
      forget(progress)
      await clock.sleep(isThorough ? Math.max(pollMs, restShare * tookMs) : pollMs, signal)
    }
  }

  // Below the number of any write that begins now, here.
  const latest = async (): Promise<string> => String(versionAt(clock.nowMs()) - 1)
  return { follow, latest, reachBack: versionAt(lookBackMs + lateMs) }
}

/** From a list to the watch that follows it. */
const freshMs = 1_000
/** How much longer than usual the index may lag before a reader that is there misses a write. */
const lateMs = 8_000
/** How long a reader of a quiet kind is told nothing. */
const quietMsMax = 5_000
/** A batch ends with the change that makes it so long, in characters of objects. */
const charactersMax = 1_000_000
/** Small objects take more memory than their text. */
const changesMax = 500
/** So many objects are read first: how large they are is not known. */
const readsFirst = 10
/** Then as many as make a batch, if they are as large as those before them, and never more. */
const readsMax = 50
/** How much later than its look a state may be that is told with it: a part of the look-back. */
const aheadMsMax = 500

/** After a look through all objects the reader rests for so many times its length: for a large kind it costs much. */
const restShare = 10

/** How far a reader is. */
interface Progress {
  /** Everything up to here is told. */
  low: number
  /** By place, the version that was told, if it is above. */
  readonly told: Map<string, number>
}

/** What was not told yet, in the order of its versions. */
interface Found {
  readonly entries: readonly Item[]
  /** All objects of a kind were looked through. */
  readonly isThorough: boolean
}

type Look = (of: KindName | undefined, progress: Progress) => Promise<Found>

function createLook(options: DynamodbChangeFeedOptions): Look {
  const recordings = createRecordings(options)

  const queriesOf = async (kind: KindName, low: number): Promise<readonly Query[]> => {
    const sureMs = await recordings.record(kind)
    return low < versionAt(sureMs)
      ? partitionsOf(kind).map((pk) => thoroughQuery(pk, low))
      : (await recordings.listPartitions(kind)).map((partition) => indexQuery(partition, low))
  }

  return async (of, { low, told }) => {
    const followed = of === undefined ? await options.kinds?.() : [of]
    if (followed === undefined) throw new TypeError('following all kinds needs the option `kinds`')
    const queries = (await Promise.all(followed.map((kind) => queriesOf(kind, low)))).flat()
    const found = await Promise.all(queries.map((query) => queryAll(options, 'read what is new', query)))
    const isNew = (item: Item): boolean => versionIn(item) > (told.get(place(item)) ?? low)
    return {
      entries: found.flat().filter(isNew).toSorted(byVersion),
      isThorough: queries.some(({ ConsistentRead }) => ConsistentRead === true),
    }
  }
}

function indexQuery(partition: string, low: number): Query {
  return {
    IndexName: 'feed',
    KeyConditionExpression: 'feed = :feed AND rv > :low',
    ExpressionAttributeValues: { ':feed': { S: partition }, ':low': { N: String(low) } },
  }
}

/** Finds removed objects, too: their tombstones lie among the others. */
function thoroughQuery(pk: string, low: number): Query {
  return {
    ConsistentRead: true,
    KeyConditionExpression: 'pk = :pk',
    FilterExpression: 'rv > :low',
    ProjectionExpression: 'pk, sk, rv',
    ExpressionAttributeValues: { ':pk': { S: pk }, ':low': { N: String(low) } },
  }
}

function byVersion(a: Item, b: Item): number {
  return versionIn(a) - versionIn(b)
}

/** Each once: the index may show an item in its old and its new place. */
function keysOf(items: readonly Item[]): readonly ItemKey[] {
  const keys = items.map(({ pk, sk }) => itemKey(pk?.S ?? '', sk?.S ?? ''))
  return [...new Map(keys.map((key) => [`${key.pk.S} ${key.sk.S}`, key])).values()]
}

/** Undefined for what is damaged: there is nothing that could be told. */
function changeSince(item: Item, version: number): Change | undefined {
  const stored = readItemIfWhole(item)
  if (stored === undefined) return undefined
  if (isRemoved(item)) return { type: 'removed', touched: ['delete'], stored }
  const isCreation = Number(item['born']?.N) > version
  return { type: isCreation ? 'added' : 'modified', touched: findTouchedSince(item, version), stored }
}

type ReadInBatches = (entries: readonly Item[], progress: Progress, nowMs: number) => AsyncGenerator<ChangeBatch>

/** Reads what entries of the index are about. Few objects are in memory at a time, and fewer large ones. */
function createReadInBatches(options: DynamodbOptions): ReadInBatches {
  const read = createBatchRead(options)
  return async function* readInBatches(
    entries: readonly Item[],
    progress: Progress,
    nowMs: number,
  ): AsyncGenerator<ChangeBatch> {
    let changes: Change[] = []
    let length = 0
    let count = readsFirst
    for (let from = 0; from < entries.length;) {
      const asked = entries.slice(from, from + count)
      from += asked.length
      const end = versionIn(asked.at(-1) ?? {})
      const newest = from < entries.length ? end : versionAt(nowMs + aheadMsMax)
      let readLength = 0
      for (const change of changesOf(await read('read what changed', keysOf(asked)), progress, newest)) {
        const { object } = change.stored
        const ownLength = objectText(object).length
        changes.push(change)
        length += ownLength
        readLength += ownLength
        if (length < charactersMax && changes.length < changesMax) continue
        yield { changes, resourceVersion: String(Math.min(Number(object.metadata.resourceVersion), versionAt(nowMs))) }
        changes = []
        length = 0
      }
      count = Math.max(1, Math.min(readsMax, Math.floor((count * charactersMax) / Math.max(1, readLength))))
    }
    yield { changes, resourceVersion: String(versionAt(nowMs)) }
  }
}

/**
 * What items say that was not told, and notes it as told. Each is unpacked when it is its turn. A state that is newer
 * than the rest of the look would be followed from past what is told after it: it is left to the next look, which finds
 * it at its own place.
 */
function* changesOf(items: readonly Item[], { told, low }: Progress, newest: number): Generator<Change> {
  for (const item of items.toSorted(byVersion)) {
    const since = told.get(place(item)) ?? low
    // A tombstone whose entry was ahead of its copy: the next object of the name is told already.
    if (versionIn(item) <= since || versionIn(item) > newest) continue
    told.set(place(item), versionIn(item))
    const change = changeSince(item, since)
    if (change !== undefined) yield change
  }
}

function versionIn({ rv }: Item): number {
  return Number(rv?.N)
}

/**
 * Of an object and of the one before it of the same name: a tombstone that comes after the next object is told no more.
 */
function place({ pk, sk }: Item): string {
  return `${pk?.S} ${livePlace(sk?.S ?? '')}`
}

function forget({ told, low }: Progress): void {
  for (const [at, version] of told) if (version <= low) told.delete(at)
}
