import { PutItemCommand, type AttributeValue, type PutItemCommandInput } from '@aws-sdk/client-dynamodb'
import { OperatingError } from '../../../model/errors.ts'
import { keyOf, keyText } from '../../../model/object-key.ts'
import { checkStateSize } from '../../../model/size-limit.ts'
import { touches, type StoredObject, type Touched } from '../../../model/stored-object.ts'
import type { ObjectStore } from '../../../ports/object-store.ts'
import { newItem, nextVersion, ownerUidsOf, readItem, versionOf, type WriteMarks } from './dynamodb-items.ts'
import { gravePlace, itemKey, type Item } from './dynamodb-keys.ts'
import { createDynamodbList } from './dynamodb-list.ts'
import { createOwnerEntries } from './dynamodb-owners.ts'
import { createReferenceEntries } from './dynamodb-references.ts'
import { createDynamodbRequests, type DynamodbOptions, type DynamodbRequests } from './dynamodb-requests.ts'
import { updateCommand } from './dynamodb-update.ts'
import { createObjectItems, isAlive, type Refused, type WrittenItem } from './dynamodb-writes.ts'

/**
 * The ObjectStore on DynamoDB: one item per object, each write one conditional write of it, no transactions. What else
 * a write concerns is written before it if it may not be missed (owners, the tombstone of the name's last object), and
 * behind it if it may be there too long. How items lie: docs/decisions/0016-dynamodb-layout.md
 */
export function createDynamodbStore(options: DynamodbOptions): ObjectStore {
  const { clock } = options
  const items = createObjectItems(options)
  const ownerEntries = createOwnerEntries(options)
  // What is only tidied up keeps nobody waiting.
  const referenceEntries = createReferenceEntries({ ...options, patienceMs: 500 })
  const writes: Writes = { options, items, ownerEntries, requests: createDynamodbRequests(options) }

  return {
    get: async (key) => {
      const item = await items.read(key)
      return isAlive(item) ? readItem(item) : undefined
    },

    list: createDynamodbList(options),

    create: async (given) => {
      checkStateSize(given, ['spec'])
      for (let tombstone: Item | undefined; ;) {
        const done = await createOver(writes, given, tombstone)
        if ('stored' in done) return done.stored
        if (isAlive(done.there)) throw alreadyExists(given)
        tombstone = done.there
        if (tombstone !== undefined) await bury(writes, tombstone)
      }
    },

    replace: async (given, touched) => {
      checkStateSize(given, touched)
      const ownersMayDiffer = touches(touched, 'meta')
      if (ownersMayDiffer) await ownerEntries.add(given.object, nextVersion(clock, versionOf(given.object)))
      const { stored, before } = await change(writes, given, { verb: 'replace', touched })
      if (ownersMayDiffer && before !== undefined) await ownerEntries.drop(stored.object, ownersGone(before, stored))
      return stored
    },

    remove: async (given) => {
      const expires = Math.ceil((clock.nowMs() + tombstoneMs) / 1_000)
      const { stored } = await change(writes, given, { verb: 'remove', touched: ['delete'], expires })
      const [key, owners] = [keyOf(stored.object), ownerUidsOf(stored.object)]
      await Promise.all([
        ownerEntries.drop(stored.object, owners),
        referenceEntries.drop(key, versionOf(stored.object), async () => !isAlive(await items.read(key))),
      ])
      return stored
    },
  }
}

/** What the writes of objects share. */
interface Writes {
  readonly options: DynamodbOptions
  readonly requests: DynamodbRequests
  readonly items: ReturnType<typeof createObjectItems>
  readonly ownerEntries: ReturnType<typeof createOwnerEntries>
}

/** Where nothing is, or over the very tombstone that is known. */
async function createOver(
  { options: { table, clock }, items, ownerEntries }: Writes,
  given: StoredObject,
  tombstone: Item | undefined,
): Promise<WrittenItem | Refused> {
  const base = Number(tombstone?.['rv']?.N ?? 0)
  await ownerEntries.add(given.object, nextVersion(clock, base))
  const command = (next: StoredObject, marks: WriteMarks): PutItemCommand =>
    new PutItemCommand({
      TableName: table,
      Item: newItem(next, marks),
      ...(tombstone === undefined ? nothingThere : stillThere(tombstone)),
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    })
  return items.write({ verb: 'create', given, base, command })
}

/** Keeps a tombstone for those who watch, though its name is taken again. */
async function bury({ options: { client, table, clock }, requests }: Writes, tombstone: Item): Promise<void> {
  if (Number(tombstone['expires']?.N) * 1_000 <= clock.nowMs()) return
  // Without what tells the relay of a write: it was told when the object was removed.
  const { touched: _, ...state } = tombstone
  const place = gravePlace(tombstone['sk']?.S ?? '', tombstone['uid']?.S ?? '')
  const put = new PutItemCommand({
    TableName: table,
    Item: { ...state, ...itemKey(tombstone['pk']?.S ?? '', place) },
  })
  await requests.repeat(`keep the tombstone ${place}`, () => client.send(put))
}

async function change(
  { options: { table }, items }: Writes,
  given: StoredObject,
  { verb, ...how }: Change & { readonly verb: 'replace' | 'remove' },
): Promise<WrittenItem> {
  const base = versionOf(given.object)
  const command = (next: StoredObject, marks: WriteMarks) => updateCommand({ table, next, base, marks, ...how })
  const done = await items.write({ verb, given, base, command })
  if ('stored' in done) return done
  throw refusal(given, done.there)
}

/** As long as removals are told, and a minute more. */
const tombstoneMs = 3_660_000

interface Change {
  readonly touched: Touched
  readonly expires?: number
}

const nothingThere = { ConditionExpression: 'attribute_not_exists(pk)' } as const

function stillThere(
  tombstone: Item,
): Pick<PutItemCommandInput, 'ConditionExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'> {
  return {
    ConditionExpression: '#write = :write',
    ExpressionAttributeNames: { '#write': 'write' },
    ExpressionAttributeValues: { ':write': tombstone['write'] as AttributeValue },
  }
}

function ownersGone(before: Item, { object }: StoredObject): readonly string[] {
  const owners = ownerUidsOf(object)
  return (before['owners']?.SS ?? []).filter((uid) => !owners.includes(uid))
}

function alreadyExists({ object }: StoredObject): OperatingError {
  return new OperatingError('ALREADY_EXISTS', `${keyText(keyOf(object))} exists already`)
}

/** Why a write finds nothing to write on. */
function refusal({ object }: StoredObject, there: Item | undefined): OperatingError {
  const text = keyText(keyOf(object))
  if (!isAlive(there)) return new OperatingError('NOT_FOUND', `${text} does not exist`)
  const { uid, resourceVersion } = object.metadata
  const difference = there['uid']?.S === uid ? `at ${there['rv']?.N}, not at ${resourceVersion}` : 'another object now'
  return new OperatingError('VERSION_CONFLICT', `${text} is ${difference}`)
}
