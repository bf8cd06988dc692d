import { gunzipSync, gzipSync } from 'node:zlib'
import { DeleteItemCommand, GetItemCommand, PutItemCommand, type WriteRequest } from '@aws-sdk/client-dynamodb'
import { hasCode, OperatingError } from '../../../model/errors.ts'
import { keyText, parseKeyText, type ObjectKey } from '../../../model/object-key.ts'
import { batchesOf } from '../client/batches.ts'
import { createBatchWrite } from './dynamodb-batches.ts'
import { isConditionFailure } from './dynamodb-failures.ts'
import { nextVersion } from './dynamodb-items.ts'
import { itemKey, type Item, type ItemKey } from './dynamodb-keys.ts'
import { queryAll } from './dynamodb-query.ts'
import { createDynamodbRequests, type DynamodbOptions, type DynamodbRequests } from './dynamodb-requests.ts'

/**
 * Who refers to whom: an item `ref#<target>` per referrer, to be found by the target, and one item `refs#<referrer>`
 * with all that it refers to. The second is written last, so that whoever is interrupted finds the same difference
 * again.
 *
 * A request whose answer was lost may be done much later, when the referrer refers to something else. So the second
 * item has a version that only grows, and is written over in the version that was read; an entry carries the version it
 * was written under, and is deleted only if that is no later than what was read. What comes too late so does nothing,
 * or leaves an entry too many, which wakes a key that need not run.
 */
export interface ReferenceEntries {
  referrers(target: ObjectKey): Promise<readonly ObjectKey[]>
  targets(referrer: ObjectKey): Promise<readonly ObjectKey[]>
  set(referrer: ObjectKey, targets: readonly ObjectKey[]): Promise<void>
  /**
   * After a referrer was removed, in this version: what was noted later is the next one's of its name. Leaves entries
   * behind if it fails: they wake a key where nothing is.
   */
  drop(referrer: ObjectKey, removedAt: number): Promise<void>
}

export function createReferenceEntries(options: DynamodbOptions): ReferenceEntries {
  const entries = new Entries(options)
  return {
    referrers: (target) => entries.referrersOf(target),
    targets: async (referrer) => (await entries.read(referrer)).targets.map(parseKeyText),
    set: (referrer, targets) => entries.set(referrer, targets),
    drop: (referrer, removedAt) =>
      entries.set(referrer, [], removedAt).catch((error: unknown) => {
        // The removal is done: entries too many are no reason to say that it failed.
        if (!hasCode(error, 'THROTTLED', 'UNAVAILABLE')) throw error
      }),
  }
}

class Entries {
  readonly #options: DynamodbOptions
  readonly #requests: DynamodbRequests
  readonly #writeAll: ReturnType<typeof createBatchWrite>

  constructor(options: DynamodbOptions) {
    this.#options = options
    this.#requests = createDynamodbRequests(options)
    this.#writeAll = createBatchWrite(options)
  }

  async referrersOf(target: ObjectKey): Promise<readonly ObjectKey[]> {
    const items = await queryAll(this.#options, `read who refers to ${keyText(target)}`, {
      ConsistentRead: true,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': { S: partition(keyText(target)) } },
    })
    return items.map(({ sk }) => parseKeyText(sk?.S ?? ''))
  }

  async read(referrer: ObjectKey): Promise<Recorded> {
    const { client, table } = this.#options
    const get = new GetItemCommand({ TableName: table, Key: ofReferrer(referrer), ConsistentRead: true })
    const { Item } = await this.#requests.repeat(`read the references of ${keyText(referrer)}`, () => client.send(get))
    return { version: Number(Item?.['version']?.N ?? 0), targets: targetsIn(Item) }
  }

  async set(referrer: ObjectKey, targets: readonly ObjectKey[], asOf = Infinity): Promise<void> {
    const wanted = [...new Set(targets.map(keyText))]
    const before = await this.read(referrer)
    // Of the same millisecond it is one of before: the next one's is told later.
    if (before.version > asOf) return
    const added = without(wanted, before.targets)
    const gone = without(before.targets, wanted)
    if (added.length + gone.length === 0) return
    const version = nextVersion(this.#options.clock, before.version)
    const puts: readonly WriteRequest[] = added.map((target) => ({
      PutRequest: { Item: { ...entryKey(target, referrer), of: { N: String(version) } } },
    }))
    await this.#writeAll(`note who ${keyText(referrer)} refers to`, puts)
    for (const some of batchesOf(gone, deletesAtOnce))
      await Promise.all(some.map((target) => this.#forget(referrer, target, before.version)))
    await this.#record(referrer, before, { version, targets: wanted })
  }

  async #forget(referrer: ObjectKey, target: string, version: number): Promise<void> {
    const { client, table } = this.#options
    const remove = new DeleteItemCommand({
      TableName: table,
      Key: entryKey(target, referrer),
      ConditionExpression: '#of <= :of',
      ExpressionAttributeNames: { '#of': 'of' },
      ExpressionAttributeValues: { ':of': { N: String(version) } },
    })
    await this.#requests.repeat(`forget that ${keyText(referrer)} refers to ${target}`, async () => {
      await client.send(remove).catch((error: unknown) => {
        if (!isConditionFailure(error)) throw error
      })
    })
  }

  async #record(referrer: ObjectKey, before: Recorded, next: Recorded): Promise<void> {
    const { client, table } = this.#options
    const put = new PutItemCommand({
      TableName: table,
      Item: this.#itemOf(referrer, next),
      ConditionExpression: before.version === 0 ? 'attribute_not_exists(pk)' : '#version = :before',
      ...(before.version > 0 && {
        ExpressionAttributeNames: { '#version': 'version' },
        ExpressionAttributeValues: { ':before': { N: String(before.version) } },
      }),
    })
    const what = `note the references of ${keyText(referrer)}`
    await this.#requests.repeat(what, async () => {
      try {
        await client.send(put)
      } catch (error) {
        // An attempt whose answer was lost may have been this one.
        if (!isConditionFailure(error) || (await this.read(referrer)).version !== next.version)
          throw overtaken(what, error)
      }
    })
  }

  /** An empty item stays for an hour: its version refuses requests that come late. */
  #itemOf(referrer: ObjectKey, { version, targets }: Recorded): Item {
    const expires = Math.ceil(this.#options.clock.nowMs() / 1_000) + emptyKeptS
    return {
      ...ofReferrer(referrer),
      version: { N: String(version) },
      ...(targets.length > 0 ? attributeOf(targets) : { expires: { N: String(expires) } }),
    }
  }
}

/** What a referrer refers to, under a version that only grows; 0 if that was never noted. */
interface Recorded {
  readonly version: number
  readonly targets: readonly string[]
}

/** An item takes 400 KB. Ten thousand keys of one kind are 50 KB when they are packed. */
const packedFrom = 100_000

/** In clear, unless they are very many. No key has a line break. */
function attributeOf(targets: readonly string[]): Item {
  const text = targets.join('\n')
  return text.length < packedFrom ? { targets: { SS: [...targets] } } : { packed: { B: gzipSync(text) } }
}

function targetsIn(item: Item | undefined): readonly string[] {
  const packed = item?.['packed']?.B
  return packed === undefined ? (item?.['targets']?.SS ?? []) : gunzipSync(packed).toString().split('\n')
}

const emptyKeptS = 3_600
const deletesAtOnce = 25

/** Somebody else notes the same referrer: the one of the two that is not dead comes again. */
function overtaken(what: string, error: unknown): unknown {
  if (!isConditionFailure(error)) return error
  return new OperatingError('UNAVAILABLE', `cannot ${what}: another process did so at the same time`, { cause: error })
}

function ofReferrer(referrer: ObjectKey): ItemKey {
  return itemKey(`refs#${keyText(referrer)}`, '-')
}

function partition(target: string): string {
  return `ref#${target}`
}

function entryKey(target: string, referrer: ObjectKey): ItemKey {
  return itemKey(partition(target), keyText(referrer))
}

function without(texts: readonly string[], others: readonly string[]): readonly string[] {
  const left = new Set(texts)
  for (const other of others) left.delete(other)
  return [...left]
}
