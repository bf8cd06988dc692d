import { gunzipSync, gzipSync } from 'node:zlib'
import {
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  type AttributeValue,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb'
import { hasCode, OperatingError } from '../../../model/errors.ts'
import { parseJson } from '../../../model/parse-json.ts'
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
 * with all that it refers to. A change first adds the new entries, then writes the second item, and then deletes the
 * old entries. Until they are deleted, the second item names the old entries as leaving. So the writer that comes after
 * an interruption knows which entries may still be there.
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
   * After a referrer was removed, in this version: what was noted later is the next one's of its name. So is all of it
   * once that one is there, which `isGone` tells. Leaves entries behind if it fails: they wake a key where nothing is.
   */
  drop(referrer: ObjectKey, removedAt: number, isGone: () => Promise<boolean>): Promise<void>
}

export function createReferenceEntries(options: DynamodbOptions): ReferenceEntries {
  const entries = new Entries(options)
  return {
    referrers: (target) => entries.referrersOf(target),
    targets: async (referrer) => (await entries.read(referrer)).targets.map(parseKeyText),
    set: (referrer, targets) => entries.set(referrer, targets),
    drop: (referrer, removedAt, isGone) =>
      entries.drop(referrer, removedAt, isGone).catch((error: unknown) => {
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
    return {
      version: Number(Item?.['version']?.N ?? 0),
      targets: unpack(Item?.['packed']) ?? Item?.['targets']?.SS ?? [],
      leaving: unpack(Item?.['leaving']) ?? [],
    }
  }

  async set(referrer: ObjectKey, targets: readonly ObjectKey[]): Promise<void> {
    const wanted = [...new Set(targets.map(keyText))]
    const before = await this.read(referrer)
    const added = without(wanted, before.targets)
    const gone = without([...before.targets, ...before.leaving], wanted)
    if (added.length + gone.length === 0) return
    const version = nextVersion(this.#options.clock, before.version)
    const puts: readonly WriteRequest[] = added.map((target) => ({
      PutRequest: { Item: { ...entryKey(target, referrer), of: { N: String(version) } } },
    }))
    await this.#writeAll(`note who ${keyText(referrer)} refers to`, puts)
    const noted = { version, targets: wanted, leaving: gone }
    await this.#record(referrer, before, noted)
    if (gone.length > 0) await this.#forgetAll(referrer, before, noted)
  }

  async drop(referrer: ObjectKey, removedAt: number, isGone: () => Promise<boolean>): Promise<void> {
    const before = await this.read(referrer)
    const leaving = [...before.targets, ...before.leaving]
    // Of the same millisecond it is one of before: the next one's is told later.
    if (before.version > removedAt || leaving.length === 0) return
    const dropped = { version: nextVersion(this.#options.clock, before.version), targets: [], leaving }
    await this.#record(referrer, before, dropped)
    // A later note for the next object of this name finds a difference and writes. An earlier note has written nothing.
    if (await isGone()) return this.#forgetAll(referrer, before, dropped)
    await this.#record(referrer, dropped, { ...before, version: dropped.version + 1 })
  }

  /** Deletes the entries that leave, as far as nobody noted them anew since. */
  async #forgetAll(referrer: ObjectKey, before: Recorded, now: Recorded): Promise<void> {
    for (const some of batchesOf(now.leaving, deletesAtOnce))
      await Promise.all(some.map((target) => this.#forget(referrer, target, before.version)))
    await this.#record(referrer, now, { version: now.version + 1, targets: now.targets, leaving: [] })
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
        if (!isConditionFailure(error) || !isSame(await this.read(referrer), next)) throw overtaken(what, error)
      }
    })
  }

  /** An empty item stays for an hour: its version refuses requests that come late. */
  #itemOf(referrer: ObjectKey, { version, targets, leaving }: Recorded): Item {
    const expires = Math.ceil(this.#options.clock.nowMs() / 1_000) + emptyKeptS
    return {
      ...ofReferrer(referrer),
      version: { N: String(version) },
      ...attributeOf(targets),
      ...(leaving.length > 0 && { leaving: pack(leaving) }),
      ...(targets.length + leaving.length === 0 && { expires: { N: String(expires) } }),
    }
  }
}

/** What a referrer refers to, under a version that only grows; 0 if that was never noted. */
interface Recorded {
  readonly version: number
  readonly targets: readonly string[]
  /** What it referred to before: their entries may be there, or be gone. */
  readonly leaving: readonly string[]
}

function isSame(one: Recorded, other: Recorded): boolean {
  const textOf = ({ version, targets, leaving }: Recorded): string =>
    JSON.stringify([version, targets.toSorted(), leaving.toSorted()])
  return textOf(one) === textOf(other)
}

/** An item takes 400 KB. Ten thousand keys of one kind are 50 KB when they are packed. */
const packedFrom = 100_000

/** In clear, unless they are very many. */
function attributeOf(targets: readonly string[]): Item {
  if (targets.length === 0) return {}
  const length = targets.reduce((sum, target) => sum + target.length, 0)
  return length < packedFrom ? { targets: { SS: [...targets] } } : { packed: pack(targets) }
}

function pack(targets: readonly string[]): AttributeValue.BMember {
  return { B: gzipSync(JSON.stringify(targets)) }
}

/** Versions before 2026-11-29 packed lines. No key begins with a bracket: a group has none. */
function unpack(packed: AttributeValue | undefined): readonly string[] | undefined {
  if (packed?.B === undefined) return undefined
  const text = gunzipSync(packed.B).toString()
  return text.startsWith('[') ? (parseJson(text) as readonly string[]) : text.split('\n')
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
