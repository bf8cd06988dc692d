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
import { createDynamodbRequests, type DynamodbOptions } from './dynamodb-requests.ts'

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
  /** After a referrer was removed. Leaves entries behind if it fails: they wake a key where nothing is. */
  drop(referrer: ObjectKey): Promise<void>
}

export function createReferenceEntries(options: DynamodbOptions): ReferenceEntries {
  const { client, table, clock } = options
  const requests = createDynamodbRequests(options)
  const writeAll = createBatchWrite(options)

  const readRecorded = async (referrer: ObjectKey): Promise<Recorded> => {
    const get = new GetItemCommand({ TableName: table, Key: ofReferrer(referrer), ConsistentRead: true })
    const { Item } = await requests.repeat(`read the references of ${keyText(referrer)}`, () => client.send(get))
    return { version: Number(Item?.['version']?.N ?? 0), targets: targetsIn(Item) }
  }

  /** An empty one stays for an hour: its version keeps what is late away. */
  const itemOf = (referrer: ObjectKey, { version, targets }: Recorded): Item => ({
    ...ofReferrer(referrer),
    version: { N: String(version) },
    ...(targets.length > 0
      ? attributeOf(targets)
      : { expires: { N: String(Math.ceil(clock.nowMs() / 1_000) + emptyKeptS) } }),
  })

  const record = async (referrer: ObjectKey, before: Recorded, next: Recorded): Promise<void> => {
    const put = new PutItemCommand({
      TableName: table,
      Item: itemOf(referrer, next),
      ConditionExpression: before.version === 0 ? 'attribute_not_exists(pk)' : '#version = :before',
      ...(before.version > 0 && {
        ExpressionAttributeNames: { '#version': 'version' },
        ExpressionAttributeValues: { ':before': { N: String(before.version) } },
      }),
    })
    const what = `note the references of ${keyText(referrer)}`
    await requests.repeat(what, async () => {
      try {
        await client.send(put)
      } catch (error) {
        // An attempt whose answer was lost may have been this one.
        if (!isConditionFailure(error) || (await readRecorded(referrer)).version !== next.version)
          throw overtaken(what, error)
      }
    })
  }

  const forget = async (referrer: ObjectKey, target: string, version: number): Promise<void> => {
    const remove = new DeleteItemCommand({
      TableName: table,
      Key: entryKey(target, referrer),
      ConditionExpression: '#of <= :of',
      ExpressionAttributeNames: { '#of': 'of' },
      ExpressionAttributeValues: { ':of': { N: String(version) } },
    })
    await requests.repeat(`forget that ${keyText(referrer)} refers to ${target}`, async () => {
      await client.send(remove).catch((error: unknown) => {
        if (!isConditionFailure(error)) throw error
      })
    })
  }

  const set: ReferenceEntries['set'] = async (referrer, targets) => {
    const wanted = [...new Set(targets.map(keyText))]
    const before = await readRecorded(referrer)
    const added = without(wanted, before.targets)
    const gone = without(before.targets, wanted)
    if (added.length + gone.length === 0) return
    const version = nextVersion(clock, before.version)
    const puts: readonly WriteRequest[] = added.map((target) => ({
      PutRequest: { Item: { ...entryKey(target, referrer), of: { N: String(version) } } },
    }))
    await writeAll(`note who ${keyText(referrer)} refers to`, puts)
    for (const some of batchesOf(gone, deletesAtOnce))
      await Promise.all(some.map((target) => forget(referrer, target, before.version)))
    await record(referrer, before, { version, targets: wanted })
  }

  return {
    referrers: async (target) => {
      const items = await queryAll(options, `read who refers to ${keyText(target)}`, {
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': { S: partition(keyText(target)) } },
      })
      return items.map(({ sk }) => parseKeyText(sk?.S ?? ''))
    },
    targets: async (referrer) => (await readRecorded(referrer)).targets.map(parseKeyText),
    set,
    drop: (referrer) =>
      set(referrer, []).catch((error: unknown) => {
        // The removal is done: entries too many are no reason to say that it failed.
        if (!hasCode(error, 'THROTTLED', 'UNAVAILABLE')) throw error
      }),
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
  return new OperatingError('UNAVAILABLE', `cannot ${what}: somebody else did so meanwhile`, { cause: error })
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
