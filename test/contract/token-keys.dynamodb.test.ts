import { DeleteItemCommand, ScanCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify, SignJWT } from 'jose'
import { createPrivateKey } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  createDynamodbTokenKeys,
  findDynamodbTokenKey,
  keyMaxAgeMs,
  rotationMs,
} from '../../shared/adapters/aws/sign-in/dynamodb-token-keys.ts'
import { createTokenSigner, createTokenVerifier } from '../../shared/adapters/node/account-tokens.ts'
import { systemRandom } from '../../shared/adapters/node/system-random.ts'
import { accountTokenSecondsMax } from '../../shared/model/access/account-token.ts'
import type { TokenSigner } from '../../shared/ports/token-signer.ts'
import { startDynalite, testClient, type Dynalite } from '../../shared/testing-aws/dynalite.ts'
import { expectCode } from '../support/expect-code.ts'
import { faultyTransport, type Faults } from '../support/faulty-transport.ts'
import { createTokenTables, tokenTables } from '../support/token-tables.ts'
import { createVirtualClock, type VirtualClock } from '../support/virtual-clock.ts'

/** Keys of tokens on AWS: processes that sign, and processes that only see the public keys. */
let dynalite: Dynalite
let clock: VirtualClock
const startMs = Date.UTC(2026, 10, 24)

beforeEach(async () => {
  dynalite = await startDynalite()
  await createTokenTables(dynalite.client)
  clock = createVirtualClock(startMs)
})
afterEach(() => dynalite.close())

function startSigner(client: DynamoDBClient = dynalite.client): TokenSigner {
  const options = { ...tokenTables, client, clock, random: systemRandom, patienceMs: 0 }
  return createTokenSigner({ keys: createDynamodbTokenKeys(options), clock })
}

function startVerifier(client: DynamoDBClient = dynalite.client): TokenSigner['verify'] {
  const { table } = tokenTables
  const findKey = findDynamodbTokenKey({ table, client, clock, random: systemRandom, patienceMs: 0 })
  return createTokenVerifier({ findKey, clock })
}

const bound = { namespace: 'default', serviceaccount: { name: 'robot', uid: 'u' } }
const claims = { audiences: ['https://setpoint'], subject: 'system:serviceaccount:default:robot', bound }

async function sign(signer: TokenSigner, seconds = 3_600): Promise<string> {
  return (await signer.sign(claims, seconds)).token
}

async function itemsOf(table: string): Promise<readonly Record<string, string>[]> {
  const { Items = [] } = await dynalite.client.send(new ScanCommand({ TableName: table, ConsistentRead: true }))
  const textOf = ({ S, N = '' }: { S?: string | undefined; N?: string | undefined }): string => S ?? N
  return Items.map((item) => Object.fromEntries(Object.entries(item).map(([name, value]) => [name, textOf(value)])))
}

const keyOf = (token: string): unknown => decodeProtectedHeader(token).kid

/** A client whose requests to one table meet a fault: the first, or all of them. */
function faultyClient(faults: Faults): DynamoDBClient {
  return testClient(faultyTransport(dynalite.transport, faults))
}

describe('the key of tokens', () => {
  it('is made with the first token, and known by who sees the public keys only', async () => {
    const token = await sign(startSigner())
    expect(await startVerifier()(token)).toMatchObject({ ...claims, id: decodeJwt(token).jti })
    const [shown, ...others] = await itemsOf(tokenTables.table)
    expect(others).toEqual([])
    expect(shown).toMatchObject({ id: keyOf(token), key: expect.stringContaining('BEGIN PUBLIC KEY') })
    expect(JSON.stringify(await itemsOf(tokenTables.table))).not.toContain('PRIVATE')
  })

  it('is one, however many processes make it at once', async () => {
    const tokens = await Promise.all(Array.from({ length: 8 }, () => sign(startSigner())))
    expect(new Set(tokens.map(keyOf)).size).toBe(1)
    expect(await itemsOf(tokenTables.signingTable)).toHaveLength(1)
    const verify = startVerifier()
    for (const token of tokens) expect(await verify(token)).toBeDefined()
  })

  it('is whole although a process ended while it made it', async () => {
    const { signingTable } = tokenTables
    const dying = faultyClient((operation, _, { TableName }) =>
      operation === 'PutItem' && TableName === signingTable ? 'lost' : undefined,
    )
    await expectCode(sign(startSigner(dying)), 'UNAVAILABLE')
    expect(await itemsOf(signingTable)).toEqual([])
    const token = await sign(startSigner())
    expect(await startVerifier()(token)).toBeDefined()
  })

  it('is taken by a process that did not hear that it has made it', async () => {
    let lost = 0
    const deaf = faultyClient((operation, _, { TableName }) =>
      operation === 'PutItem' && TableName === tokenTables.signingTable && lost++ === 0 ? 'answer lost' : undefined,
    )
    const impatient = { ...clock, sleep: async () => {} }
    const options = { ...tokenTables, client: deaf, clock: impatient, random: systemRandom, patienceMs: 10_000 }
    const token = await sign(createTokenSigner({ keys: createDynamodbTokenKeys(options), clock }))
    expect(lost).toBe(2)
    expect(await startVerifier()(token)).toBeDefined()
    expect(await itemsOf(tokenTables.signingTable)).toMatchObject([{ kid: keyOf(token) }])
  })

  it('cannot be looked for: the token is neither taken nor refused, and is taken later', async () => {
    const token = await sign(startSigner())
    let isAway = true
    const verify = startVerifier(faultyClient(() => (isAway ? 'unreachable' : undefined)))
    await expectCode(verify(token), 'UNAVAILABLE')
    isAway = false
    expect(await verify(token)).toBeDefined()
  })
})

describe('a month later', () => {
  it('another key signs, and tokens of the first go on to their end', async () => {
    const signer = startSigner()
    const verify = startVerifier()
    const first = await sign(signer, accountTokenSecondsMax)
    await clock.advance(rotationMs - 1)
    const last = await sign(signer, accountTokenSecondsMax)
    expect(keyOf(last)).toBe(keyOf(first))
    await clock.advance(1)
    const next = await sign(signer)
    expect(keyOf(next)).not.toBe(keyOf(first))
    expect([await verify(first), await verify(last), await verify(next)]).not.toContain(undefined)
    // Its public key is there until the last token that it can have signed has ended.
    const shown = (await itemsOf(tokenTables.table)).find(({ id }) => id === keyOf(last))
    expect(Number(shown?.['expires'])).toBeGreaterThan(decodeJwt(last).exp ?? Infinity)
    await clock.advance(accountTokenSecondsMax * 1_000)
    expect([await verify(first), await verify(last)]).toEqual([undefined, undefined])
  })

  it('others are told both keys, each until its tokens have ended', async () => {
    const signer = startSigner()
    expect(await signer.publicKeys()).toEqual([])
    const first = await sign(signer, accountTokenSecondsMax)
    await clock.advance(rotationMs)
    const next = await sign(signer)
    const told = async () => new Set((await startSigner().publicKeys()).map(({ kid }) => kid))
    expect(await told()).toEqual(new Set([keyOf(first), keyOf(next)]))
    const keys = createLocalJWKSet({ keys: [...(await signer.publicKeys())] })
    await jwtVerify(first, keys, { currentDate: new Date(clock.nowMs()) })
    await clock.advance((accountTokenSecondsMax + 2 * 86_400) * 1_000)
    expect(await told()).toEqual(new Set([keyOf(next)]))
  })

  it('several processes go on with one key, and those that knew the old one follow', async () => {
    const signers = Array.from({ length: 5 }, () => startSigner())
    const before = new Set((await Promise.all(signers.map((signer) => sign(signer)))).map(keyOf))
    await clock.advance(rotationMs)
    const after = new Set((await Promise.all(signers.map((signer) => sign(signer)))).map(keyOf))
    expect([before.size, after.size]).toEqual([1, 1])
    expect(after).not.toEqual(before)
    expect(await itemsOf(tokenTables.signingTable)).toHaveLength(1)
  })
})

describe('who takes keys away', () => {
  it('ends their tokens within a minute, in processes that knew them, too', async () => {
    const signer = startSigner()
    const verify = startVerifier()
    const token = await sign(signer)
    expect([await verify(token), await signer.verify(token)]).not.toContain(undefined)
    const { client } = dynalite
    const { table, signingTable } = tokenTables
    await client.send(new DeleteItemCommand({ TableName: signingTable, Key: { id: { S: 'current' } } }))
    await client.send(new DeleteItemCommand({ TableName: table, Key: { id: { S: String(keyOf(token)) } } }))
    await clock.advance(keyMaxAgeMs)
    expect([await verify(token), await signer.verify(token)]).toEqual([undefined, undefined])
    const next = await sign(signer)
    expect(keyOf(next)).not.toBe(keyOf(token))
    expect(await verify(next)).toBeDefined()
  })
})

it.each([
  { why: 'names no key', head: {} },
  { why: 'names a key that is not there', head: { kid: 'a27b1c3e-0000-4000-8000-000000000000' } },
  { why: 'names what cannot be a key of ours', head: { kid: 'current#'.repeat(400) } },
  { why: 'names its key by a number', head: { kid: 7 as unknown as string } },
])('is none of ours: a token that $why', async ({ head }) => {
  const signer = startSigner()
  const good = await sign(signer)
  const [item] = await itemsOf(tokenTables.signingTable)
  const key = createPrivateKey(item?.['key'] ?? '')
  const token = await new SignJWT(decodeJwt(good)).setProtectedHeader({ alg: 'ES256', ...head }).sign(key)
  expect(await startVerifier()(token)).toBeUndefined()
})
