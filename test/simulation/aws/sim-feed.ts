import {
  BatchGetItemCommand,
  ConditionalCheckFailedException,
  GetItemCommand,
  ProvisionedThroughputExceededException,
  QueryCommand,
  UpdateItemCommand,
  type AttributeValue,
  type DynamoDBClient,
  type QueryCommandInput,
} from '@aws-sdk/client-dynamodb'
import { createDynamodbChangeFeed } from '../../../shared/adapters/aws/dynamodb/dynamodb-change-feed.ts'
import { newItem, versionOf } from '../../../shared/adapters/aws/dynamodb/dynamodb-items.ts'
import { gravePlace, itemKey, objectItemKey, type Item } from '../../../shared/adapters/aws/dynamodb/dynamodb-keys.ts'
import { createRecordings, type FeedEntry } from '../../../shared/adapters/aws/dynamodb/dynamodb-recordings.ts'
import type { DynamodbOptions } from '../../../shared/adapters/aws/dynamodb/dynamodb-requests.ts'
import { updateCommand } from '../../../shared/adapters/aws/dynamodb/dynamodb-update.ts'
import { hasCode } from '../../../shared/model/errors.ts'
import { keyOf, type ObjectKey } from '../../../shared/model/object-key.ts'
import type { ChangeFeed } from '../../../shared/ports/change-feed.ts'
import { call, oncePerLife, type CallOptions, type Life, type Network } from '../life.ts'
import type { TableWrite } from '../plane.ts'
import { simGroup } from '../addresses.ts'
import type { WatchTrouble } from '../scenario.ts'
import { below, type World } from '../world.ts'
import { watchedKinds } from './scenario.ts'

/**
 * What watches read on AWS: the items as the adapters lay them out, the index `feed` that lags behind them, and the
 * note of which kinds are recorded there. The feed and the recordings are the product's own, over a client that answers
 * the five requests which they make; so this part is simulated below the adapters.
 */
export interface SimFeed {
  /** Where the entry of a process's next write goes, by what the process knows. */
  findEntry(life: Life, key: ObjectKey): Promise<FeedEntry>
  /** So much earlier than it is made a write was numbered. */
  numberedMs(): number
  /** The last version under this name, though the object is gone. */
  lastVersion(key: ObjectKey): number
  note(write: Pick<TableWrite, 'type' | 'before' | 'after' | 'touched'>, entry: FeedEntry): void
  feedOf(life: Life): ChangeFeed
}

export interface SimFeedOptions {
  readonly world: World
  readonly trouble: WatchTrouble
  readonly network: Network
  /** Most that a query gives at once. */
  readonly page: number
}

export function createSimFeed({ world, trouble, network, page }: SimFeedOptions): SimFeed {
  const items = new Map<string, Item>()
  const index = createFeedIndex(world, trouble)
  const delays = world.random.fork('numbered')
  let recordings: Item =
    trouble.recordedBuckets === undefined ? {} : recordedForLong(world.nowMs(), trouble.recordedBuckets)
  let tokens = 0

  const put = (item: Item): void => {
    items.set(textOf(item), item)
    index.follow(item)
  }

  const note: SimFeed['note'] = ({ type, before, after, touched }, entry) => {
    const marks = { token: String(++tokens), entry }
    const there = items.get(textOf(objectItemKey(keyOf(after.object))))
    if (type === 'added' || there === undefined) {
      if (there !== undefined) put({ ...there, ...itemKey(there['pk']?.S ?? '', graveOf(there)) })
      return put(newItem(after, marks))
    }
    const base = before === undefined ? 0 : versionOf(before.object)
    const expires = type === 'removed' ? { expires: Math.ceil(world.nowMs() / 1_000) + 3_660 } : {}
    put(updated(there, updateCommand({ table: 'sim', next: after, base, touched, marks, ...expires })))
  }

  const answer = (command: object): object => {
    if (command instanceof QueryCommand) return query(command.input)
    if (command instanceof GetItemCommand) return { Item: recordings }
    if (command instanceof UpdateItemCommand) {
      recordings = noted(recordings, command)
      return {}
    }
    const { RequestItems = {} } = (command as BatchGetItemCommand).input
    const [[table, wanted] = ['', {}]] = Object.entries(RequestItems)
    const found = (wanted.Keys ?? []).map((key) => items.get(textOf(key))).filter((item) => item !== undefined)
    return { Responses: { [table]: found } }
  }

  const query = ({ IndexName, ExpressionAttributeValues = {}, ExclusiveStartKey }: QueryCommandInput): object => {
    const low = Number(ExpressionAttributeValues[':low']?.N)
    const all =
      IndexName === 'feed'
        ? index.entries(ExpressionAttributeValues[':feed']?.S ?? '')
        : partitionIn(items, ExpressionAttributeValues[':pk']?.S)
    const later: Item[] = []
    for (const item of all)
      if (versionIn(item) > low && (ExclusiveStartKey === undefined || isBehind(item, ExclusiveStartKey)))
        later.push(item)
    if (later.length === 0) return nothing
    const rest = later.toSorted((a, b) => (isBehind(a, b) ? 1 : -1)).map(({ pk, sk, rv }) => ({ pk, sk, rv }) as Item)
    const Items = rest.slice(0, page)
    return { Items, ...(rest.length > page && { LastEvaluatedKey: Items.at(-1) }) }
  }

  const isQuick = (command: object): boolean =>
    command instanceof QueryCommand && network.random.next() < quickShare && query(command.input) === nothing

  const optionsOf = (life: Life): DynamodbOptions => ({
    client: {
      send: async (command: object) => (isQuick(command) ? nothing : send(network, life, command, answer)),
    } as unknown as DynamoDBClient,
    table: 'sim',
    clock: life.clock,
    random: world.random.fork(`feed ${life.name}`),
  })
  const recordingsOf = oncePerLife((life) => createRecordings(optionsOf(life)))

  return {
    findEntry: (life, key) => recordingsOf(life).findEntry(key),
    numberedMs: () => below(delays, trouble.numberedMsMax + 1),
    lastVersion: (key) => versionIn(items.get(textOf(objectItemKey(key))) ?? {}),
    note,
    feedOf: oncePerLife((life) => createDynamodbChangeFeed({ ...optionsOf(life), pollMs: trouble.pollMs })),
  }
}

const nothing = { Items: [] }
/** Most of all requests find nothing. So many of them take no time, and nothing happens to them. */
const quickShare = 0.9

function* partitionIn(items: ReadonlyMap<string, Item>, partition: string | undefined): Iterable<Item> {
  for (const item of items.values()) if (item['pk']?.S === partition) yield item
}

/** The replicas of the index. Each of them may answer a query. */
function createFeedIndex(world: World, { lagMsMax, replicas: count = 1 }: WatchTrouble) {
  const lags = world.random.fork('feed lags')
  const choice = world.random.fork('replicas')
  const replicas = Array.from({ length: count }, () => createReplica(world, () => below(lags, lagMsMax + 1)))
  const one = (): (typeof replicas)[0] => replicas[count === 1 ? 0 : below(choice, count)] as (typeof replicas)[0]
  return {
    follow: (item: Item): void => {
      for (const replica of replicas) replica.follow(item)
    },
    entries: (partition: string): Iterable<Item> => one().entries(partition),
  }
}

/** It follows each item in its own time, in the order of its writes. */
function createReplica(world: World, lagMs: () => number) {
  const partitions = new Map<string, Map<string, Item>>()
  const places = new Map<string, string>()
  const followingAtMs = new Map<string, number>()

  const place = (item: Item): void => {
    const text = textOf(item)
    partitions.get(places.get(text) ?? '')?.delete(text)
    const partition = item['feed']?.S
    if (partition === undefined) return void places.delete(text)
    places.set(text, partition)
    const entries = partitions.get(partition) ?? new Map<string, Item>()
    partitions.set(partition, entries.set(text, item))
  }

  return {
    follow: (item: Item): void => {
      const text = textOf(item)
      const atMs = Math.max(followingAtMs.get(text) ?? 0, world.nowMs() + lagMs())
      followingAtMs.set(text, atMs)
      world.after(atMs - world.nowMs(), () => place(item))
    },
    entries: (partition: string): Iterable<Item> => partitions.get(partition)?.values() ?? [],
  }
}

/** One request through the network, which fails as the SDK has it. */
async function send(
  network: Network,
  life: Life,
  command: object,
  answer: (command: object) => object,
): Promise<object> {
  const options = requests.get(command.constructor)
  if (options === undefined) throw new TypeError(`${command.constructor.name} is not simulated`)
  try {
    return await call(network, life, options, async () => answer(command))
  } catch (error) {
    const { message } = error as Error
    if (hasCode(error, 'THROTTLED')) throw new ProvisionedThroughputExceededException({ message, $metadata: {} })
    if (hasCode(error, 'WRITE_UNKNOWN')) throw Object.assign(new Error(message), { $metadata: {} })
    throw error
  }
}

/** By its command, what a request is. */
const requests: ReadonlyMap<unknown, CallOptions> = new Map(
  [QueryCommand, GetItemCommand, BatchGetItemCommand, UpdateItemCommand].map((command) => [
    command,
    { name: `feed:${command.name}`, isWrite: command === UpdateItemCommand },
  ]),
)

/** `SET #a = :a,#b = :b REMOVE #c`, as the store writes it. */
function updated(item: Item, { input }: UpdateItemCommand): Item {
  const { UpdateExpression = '', ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {} } = input
  const [set = '', remove = ''] = UpdateExpression.replace(/^SET /, '').split(' REMOVE ')
  const gone = new Set(remove.split(',').map((name) => names[name]))
  const kept = Object.entries(item).filter(([name]) => !gone.has(name))
  const changed = set.split(',').map((one): [string, AttributeValue] => {
    const [name = '', value = ''] = one.split(' = ')
    return [names[name] ?? '', values[value] as AttributeValue]
  })
  return Object.fromEntries([...kept, ...changed])
}

/** The kinds that are watched have been for an hour, and will be for a day. */
function recordedForLong(nowMs: number, buckets: number): Item {
  const bornMs = nowMs - 3_600_000
  const text = JSON.stringify({ untilMs: nowMs + 86_400_000, sureMs: bornMs, buckets: [[buckets, 0]] })
  const notes = watchedKinds.map((kind) => [`${kind === 'ConfigMap' ? '' : simGroup}/${kind}`, { S: text }] as const)
  return { ...Object.fromEntries(notes), born: { N: String(bornMs) } }
}

/** The note of one kind, on condition of the one before. */
function noted(notes: Item, { input }: UpdateItemCommand): Item {
  const { ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {} } = input
  const kind = names['#kind'] ?? ''
  const born = names['#born'] ?? ''
  if (notes[kind]?.S !== values[':before']?.S)
    throw new ConditionalCheckFailedException({ message: 'another note is there', $metadata: {} })
  return {
    ...notes,
    [kind]: values[':next'] as AttributeValue,
    [born]: notes[born] ?? (values[':born'] as AttributeValue),
  }
}

function graveOf({ sk, uid }: Item): string {
  return gravePlace(sk?.S ?? '', uid?.S ?? '')
}

function textOf({ pk, sk }: Item): string {
  return `${pk?.S} ${sk?.S}`
}

function versionIn({ rv }: Item): number {
  return Number(rv?.N ?? 0)
}

/** By version, and then by place. */
function isBehind(a: Item, b: Item): boolean {
  return versionIn(a) === versionIn(b) ? textOf(a) > textOf(b) : versionIn(a) > versionIn(b)
}
