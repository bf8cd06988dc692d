import { GetItemCommand, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb'
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { accountTokenSecondsMax } from '../../../model/access/account-token.ts'
import { OperatingError } from '../../../model/errors.ts'
import type { FindTokenKey, SigningKey, TokenKeys } from '../../node/account-tokens.ts'
import { isConditionFailure } from '../dynamodb/dynamodb-failures.ts'
import { createDynamodbRequests, type DynamodbOptions } from '../dynamodb/dynamodb-requests.ts'

/** So long a process goes on with a key without looking whether it is still there. */
export const keyMaxAgeMs = 60_000

/** A key signs for so long; then another is made. */
export const rotationMs = 30 * 86_400_000

/** Behind the end of the last token of a key. */
const slackSeconds = 86_400

/** Tells a name that we gave from what else a token may call its key. */
const keyId = /^[\w-]{1,64}$/

/**
 * The public keys of tokens, in a table of their own. One that is not there is asked for again with the next token that
 * names it.
 */
export function findDynamodbTokenKey(options: DynamodbOptions): FindTokenKey {
  const { client, table, clock } = options
  const requests = createDynamodbRequests(options)
  const known = new Map<string, FoundKey>()

  return async (id = '') => {
    if (!keyId.test(id)) return
    const before = known.get(id)
    if (before !== undefined && clock.nowMs() - before.readAtMs < keyMaxAgeMs) return before.key
    known.delete(id)
    const get = new GetItemCommand({ TableName: table, Key: { id: { S: id } }, ConsistentRead: true })
    const { Item } = await requests.repeat('read the key of a token', () => client.send(get))
    const pem = Item?.['key']?.S
    if (pem === undefined) return
    const key = before?.pem === pem ? before.key : createPublicKey(pem)
    known.set(id, { pem, key, readAtMs: clock.nowMs() })
    return key
  }
}

interface FoundKey {
  readonly pem: string
  readonly key: KeyObject
  readonly readAtMs: number
}

/** A new one each month, and each for little more than a year: one page has them all. */
async function listDynamodbTokenKeys(options: DynamodbOptions): Promise<readonly SigningKey[]> {
  const { client, table, clock } = options
  const scan = new ScanCommand({ TableName: table, ConsistentRead: true })
  const { Items = [] } = await createDynamodbRequests(options).repeat('list the keys of tokens', () =>
    client.send(scan),
  )
  return Items.flatMap(({ id, key, expires }) => {
    const holds = Number(expires?.N) * 1_000 > clock.nowMs()
    return holds && key?.S !== undefined && id?.S !== undefined ? [{ key: createPublicKey(key.S), id: id.S }] : []
  })
}

/** `table` has the public keys, `signingTable` the one private key that signs now. */
export interface DynamodbTokenKeysOptions extends DynamodbOptions {
  readonly signingTable: string
}

/**
 * Keys in two tables, so that who may read the public ones does not see the private one. A public key is there before
 * its private key can sign, and until the last token has ended that it may have signed. Several processes that find no
 * key make one each, and go on with the one that came first.
 */
export function createDynamodbTokenKeys(options: DynamodbTokenKeysOptions): TokenKeys {
  const { client, table, signingTable, clock, random } = options
  const requests = createDynamodbRequests(options)
  let known: CurrentKey | undefined

  const read = async (): Promise<CurrentKey | undefined> => {
    const get = new GetItemCommand({ TableName: signingTable, Key: current, ConsistentRead: true })
    const { Item } = await requests.repeat('read the key that signs tokens', () => client.send(get))
    const { key: pem, kid: id, made } = Item ?? {}
    if (pem?.S === undefined || id?.S === undefined) return
    return { key: createPrivateKey(pem.S), id: id.S, madeAtMs: Number(made?.N), readAtMs: clock.nowMs() }
  }

  const make = async (): Promise<void> => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const id = random.uuid()
    const nowMs = clock.nowMs()
    const expires = Math.ceil((nowMs + rotationMs) / 1_000) + accountTokenSecondsMax + slackSeconds
    const shown = { id: { S: id }, key: { S: pemOf(publicKey, 'spki') }, expires: { N: String(expires) } }
    const put = new PutItemCommand({ TableName: table, Item: shown })
    await requests.repeat('save the public key of tokens', () => client.send(put))
    const replace = new PutItemCommand({
      TableName: signingTable,
      Item: { ...current, kid: { S: id }, key: { S: pemOf(privateKey, 'pkcs8') }, made: { N: String(nowMs) } },
      ConditionExpression: 'attribute_not_exists(id) OR made <= :old',
      ExpressionAttributeValues: { ':old': { N: String(nowMs - rotationMs) } },
    })
    await requests.repeat('save the key that signs tokens', () => client.send(replace)).catch(unlessAnotherCame)
  }

  const isGood = (one: CurrentKey | undefined): one is CurrentKey =>
    one !== undefined && clock.nowMs() - one.madeAtMs < rotationMs

  return {
    find: findDynamodbTokenKey(options),
    all: () => listDynamodbTokenKeys(options),
    current: async () => {
      if (isGood(known) && clock.nowMs() - known.readAtMs < keyMaxAgeMs) return known
      known = await read()
      if (isGood(known)) return known
      await make()
      known = await read()
      if (isGood(known)) return known
      throw new OperatingError('UNAVAILABLE', 'the key that signs tokens was made, and is not there')
    },
  }
}

interface CurrentKey extends SigningKey {
  readonly madeAtMs: number
  readonly readAtMs: number
}

const current = { id: { S: 'current' } }

/** Another process was first, or this one was, and did not hear so. Either way there is a key. */
function unlessAnotherCame(error: unknown): void {
  if (!isConditionFailure(error)) throw error
}

function pemOf(key: KeyObject, type: 'spki' | 'pkcs8'): string {
  return key.export({ type, format: 'pem' }).toString()
}
