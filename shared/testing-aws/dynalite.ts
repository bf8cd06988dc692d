import {
  CreateTableCommand,
  waitUntilTableExists,
  type DynamoDBClient,
  type DynamoDBClientConfig,
} from '@aws-sdk/client-dynamodb'
import { AsyncLocalStorage } from 'node:async_hooks'
import { EventEmitter } from 'node:events'
import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import { isDeepStrictEqual } from 'node:util'
import { createDynamodbClient } from '../adapters/aws/dynamodb/dynamodb-client.ts'
import { tableDefinition } from '../adapters/aws/dynamodb/dynamodb-table.ts'

/**
 * dynalite in this process, in memory: DynamoDB by somebody else. A client reaches it without a socket, through its own
 * serialisation and signature. What it lacks of DynamoDB is added where our code relies on it (the item of a failed
 * condition, a stream, the greatest length of an expression); it has no TTL and no transactions, which we do not use,
 * and refuses reads that may be old, which it cannot make.
 */
export interface Dynalite {
  readonly client: DynamoDBClient
  /** For other clients: what a client's `requestHandler` can be. */
  readonly transport: Transport
  /** Every write that changed something, in order per item, a moment after it is done. */
  onRecord(listener: (record: TestStreamRecord) => void): void
  close(): Promise<void>
}

/** As Lambda gets it of a stream with both images. */
export interface TestStreamRecord {
  readonly eventName: 'INSERT' | 'MODIFY' | 'REMOVE'
  readonly dynamodb: { readonly Keys: Image; readonly NewImage?: Image; readonly OldImage?: Image }
  readonly table: string
}

type Image = Readonly<Record<string, Readonly<Record<string, unknown>>>>

export interface Transport {
  handle(request: TransportRequest): Promise<{ readonly response: TransportResponse }>
}

export interface TransportRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | string
}

export interface TransportResponse {
  readonly statusCode: number
  readonly headers: Record<string, string>
  readonly body: Uint8Array
}

type HttpHandler = NonNullable<DynamoDBClientConfig['requestHandler']>

export const testCredentials = { accessKeyId: 'test', secretAccessKey: 'test' } as const

/** With the named tables, as `tableDefinition` has them. */
export async function startDynalite(...tables: readonly string[]): Promise<Dynalite> {
  const listeners = new Set<(record: TestStreamRecord) => void>()
  const server = dynalite({ createTableMs: 0 })
  const transport = transportTo(server, listeners)
  const client = testClient(transport)
  for (const table of tables) await createTestTable(client, table)
  return {
    client,
    transport,
    onRecord: (listener) => void listeners.add(listener),
    close: async () => client.destroy(),
  }
}

export function testClient(transport: Transport): DynamoDBClient {
  return createDynamodbClient({
    region: 'us-east-1',
    credentials: testCredentials,
    signer: unlookedSigner,
    // Its `handle` is all that is called.
    requestHandler: transport as unknown as HttpHandler,
  })
}

/** Where a signature is asked for and not looked at: half the time of a request would go into it. */
export const unlookedSigner = {
  sign: async <Signed extends { readonly headers: object }>(request: Signed): Promise<Signed> =>
    Object.assign(request, { headers: { ...request.headers, ...signature } }),
}

const signature = {
  authorization: 'AWS4-HMAC-SHA256 Credential=none, SignedHeaders=none, Signature=none',
  'x-amz-date': '20260101T000000Z',
}

export async function createTestTable(client: DynamoDBClient, table: string): Promise<void> {
  await client.send(new CreateTableCommand({ ...tableDefinition, TableName: table }))
  await waitUntilTableExists({ client, maxWaitTime: 10, minDelay: 0.02, maxDelay: 0.1 }, { TableName: table })
}

const require = createRequire(import.meta.url)
const { dynalite, db } = requireDynalite()

/** An optional peer of the package: whoever tests on AWS's engine installs it. */
function requireDynalite(): { readonly dynalite: Dynalites; readonly db: DynaliteDb } {
  try {
    return { dynalite: require('dynalite') as Dynalites, db: require('dynalite/db') as DynaliteDb }
  } catch (cause) {
    throw new Error('setpoint/testing-aws needs dynalite: type npm i -D dynalite', { cause })
  }
}

type Dynalites = (options: { readonly createTableMs: number }) => Server

function transportTo(server: Server, listeners: ReadonlySet<(record: TestStreamRecord) => void>): Transport {
  return {
    handle: (request) =>
      new Promise((resolve) => {
        const headers: Record<string, string> = {}
        const reply = {
          statusCode: 200,
          setHeader: (name: string, value: unknown) => void (headers[name.toLowerCase()] = String(value)),
          end: (body = '') => resolve({ response: { statusCode: reply.statusCode, headers, body: Buffer.from(body) } }),
        }
        const incoming = Object.assign(new EventEmitter(), {
          method: request.method,
          url: request.path,
          headers: Object.fromEntries(
            Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value]),
          ),
        })
        const body = bufferOf(request.body)
        const input = JSON.parse(body.toString()) as Request
        if (isTooLong(input))
          return resolve({ response: refusal('Expression size has exceeded the maximum allowed size') })
        if (mayBeOld(incoming.headers['x-amz-target'], input)) return resolve({ response: refusal(tooFresh) })
        current.run({ listeners, input }, () => {
          server.emit('request', incoming, reply)
          incoming.emit('data', body)
          incoming.emit('end')
        })
      }),
  }
}

function isTooLong(input: Request): boolean {
  return Object.entries(input).some(([name, text]) => name.endsWith('Expression') && text.length > expressionBytesMax)
}

/** Of each expression of a request, in ASCII. */
const expressionBytesMax = 4_096

/**
 * A read of the table itself that does not ask to be strong. On AWS it may miss the newest writes; here it would miss
 * none, and so show nothing. All that we read of tables rests on the newest.
 */
function mayBeOld(target = '', input: Request): boolean {
  const [, operation = ''] = target.split('.')
  if (operation === 'BatchGetItem')
    return Object.values(input.RequestItems ?? {}).some(({ ConsistentRead }) => ConsistentRead !== true)
  return tableReads.has(operation) && input.IndexName === undefined && input.ConsistentRead !== true
}

const tableReads = new Set(['GetItem', 'Query', 'Scan'])
const tooFresh = 'a read of the table without ConsistentRead may be old on AWS, and is never here'

function refusal(message: string): TransportResponse {
  return {
    statusCode: 400,
    headers: { 'content-type': 'application/x-amz-json-1.0' },
    body: Buffer.from(JSON.stringify({ __type: 'com.amazon.coral.validate#ValidationException', message })),
  }
}

/** The SDK warns of whoever treats its bytes as a text. */
export function bufferOf(body: Uint8Array | string): Buffer {
  return typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.byteLength)
}

/** Who hears of the writes of a request, and the request as it came: dynalite drops what it does not know. */
const current = new AsyncLocalStorage<{
  readonly listeners: ReadonlySet<(record: TestStreamRecord) => void>
  readonly input: Request
}>()

/** What dynalite's requests call as members of its module: patched for this process, once. */
interface DynaliteDb {
  updateIndexes: (...args: [store: unknown, table: { TableName: string }, ...images: Images, done: Done]) => void
  checkConditional: (request: Request, there: Image | null) => { readonly body: { Item?: Image } } | null | undefined
  addConsumedCapacity: (
    request: Request,
    isRead: boolean,
    before: Image | null,
    after?: Image | null,
  ) => Capacity | undefined
}

type Images = readonly [before: Image | null, after: Image | null]
type Done = (error?: unknown) => void

interface Request {
  readonly ReturnValuesOnConditionCheckFailure?: string
  readonly ReturnConsumedCapacity?: string
  readonly ConsistentRead?: boolean
  readonly IndexName?: string
  /** Of a batch, by the table. */
  readonly RequestItems?: Readonly<Record<string, { readonly ConsistentRead?: boolean }>>
}

interface Capacity {
  CapacityUnits: number
  GlobalSecondaryIndexes?: Record<string, { CapacityUnits: number }>
}

const { updateIndexes, checkConditional, addConsumedCapacity } = db

/** Called in the lock of the item, just before it is put. */
db.updateIndexes = (...[store, table, before, after, done]) => {
  const { listeners = new Set<never>() } = current.getStore() ?? {}
  updateIndexes(store, table, before, after, (error) => {
    done(error)
    if (error || listeners.size === 0 || equal(before, after)) return
    const record = recordOf(table.TableName, before ?? undefined, after ?? undefined)
    // By then the item is there for whoever reads it because of the record.
    setTimeout(() => {
      for (const listener of listeners) listener(record)
    }, 5)
  })
}

db.checkConditional = (request, there) => {
  const failure = checkConditional(request, there)
  if (failure && there && current.getStore()?.input.ReturnValuesOnConditionCheckFailure === 'ALL_OLD')
    failure.body.Item = there
  return failure
}

/** DynamoDB bills each entry of an index that a write adds, changes or takes away; ours are below 1 KB. */
db.addConsumedCapacity = (request, isRead, before, after) => {
  const capacity = addConsumedCapacity(request, isRead, before, after)
  if (capacity === undefined || isRead) return capacity
  for (const { IndexName = '', KeySchema = [] } of tableDefinition.GlobalSecondaryIndexes ?? []) {
    const entry = (image: Image | null | undefined) => KeySchema.map(({ AttributeName = '' }) => image?.[AttributeName])
    const [old, next] = [entry(before), entry(after)]
    if (equal(old, next)) continue
    const units = [old, next].filter((values) => values.every((value) => value !== undefined)).length
    if (units === 0) continue
    capacity.CapacityUnits += units
    if (request.ReturnConsumedCapacity === 'INDEXES')
      (capacity.GlobalSecondaryIndexes ??= {})[IndexName] = { CapacityUnits: units }
  }
  return capacity
}

/** Its objects have no prototype, or one, as it happens. */
function equal(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(plain(a), plain(b))
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null))
}

function recordOf(table: string, before: Image | undefined, after: Image | undefined): TestStreamRecord {
  const { pk = {}, sk = {} } = after ?? before ?? {}
  return {
    eventName: before === undefined ? 'INSERT' : after === undefined ? 'REMOVE' : 'MODIFY',
    table,
    dynamodb: {
      Keys: { pk, sk },
      ...(after !== undefined && { NewImage: after }),
      ...(before !== undefined && { OldImage: before }),
    },
  }
}
