import { randomUUID } from 'node:crypto'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { createDynamodbIndex } from '../../shared/adapters/aws/dynamodb/dynamodb-index.ts'
import { createReferenceEntries } from '../../shared/adapters/aws/dynamodb/dynamodb-references.ts'
import { createDynamodbStore } from '../../shared/adapters/aws/dynamodb/dynamodb-store.ts'
import { keyOf, type ObjectKey } from '../../shared/model/object-key.ts'
import type { ObjectIndex } from '../../shared/ports/object-index.ts'
import { createSeededRandom } from '../../shared/testing/seeded-random.ts'
import { createTestTable, startDynalite, testClient, type Transport } from '../../shared/testing-aws/dynalite.ts'
import { faultyTransport, type Faults } from '../support/faulty-transport.ts'
import { storedWidget, versionOf } from '../support/stored-object.ts'

/**
 * A change of references in DynamoDB takes several requests. A writer that is interrupted or overtaken between two
 * requests leaves no reference without its entry. Without the entry, the target would not wake the referrer.
 */
const dynalite = await startDynalite()
afterAll(dynalite.close)

const random = createSeededRandom(1)
let nowMs = Date.parse('2026-01-01T00:00:00Z')
const clock = { nowMs: () => (nowMs += 1), sleep: async (ms: number) => void (nowMs += ms) }
let table: string
let index: ObjectIndex

beforeEach(async () => {
  table = `references-${randomUUID()}`
  await createTestTable(dynalite.client, table)
  index = createDynamodbIndex(optionsOver(dynalite.transport))
})

const optionsOver = (transport: Transport) => ({ client: testClient(transport), table, random, clock })
const faulty = (faults: Faults) => optionsOver(faultyTransport(dynalite.transport, faults))

const referrer = keyOf(storedWidget('w').object)
const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ ...referrer, kind: 'Gadget', name })) as [
  ObjectKey,
  ObjectKey,
  ObjectKey,
]

const all =
  (wanted: string): Faults =>
  (operation) =>
    operation === wanted ? 'throttle' : undefined
const referrersOf = async () =>
  (await Promise.all([a, b, c].map((one) => index.referrers(one)))).map((few) => few.length)

/** Does something else ahead of the first request of this operation. */
function interposed(wanted: string, before: () => Promise<unknown>): ReturnType<typeof optionsOver> {
  let isDone = false
  return optionsOver({
    handle: async (request) => {
      const operation = String(request.headers['x-amz-target']).split('.')[1]
      if (!isDone && operation === wanted) {
        isDone = true
        await before()
      }
      return dynalite.transport.handle(request)
    },
  })
}

describe('who is interrupted', () => {
  it.each(['PutItem', 'DeleteItem', 'BatchWriteItem'])(
    'at %s leaves what the next one needs to set it right, whatever that one wants',
    async (operation) => {
      for (const next of [[a], [b], [a, c], []]) {
        await index.setReferences(referrer, [])
        await index.setReferences(referrer, [a])
        await expect(createDynamodbIndex(faulty(all(operation))).setReferences(referrer, [b])).rejects.toThrow(
          /cannot (note|forget)/,
        )
        await index.setReferences(referrer, next)
        const wanted = [a, b, c].map((one) => (next.includes(one) ? 1 : 0))
        const entries = await referrersOf()
        // An entry too many wakes a key that need not run. There is one where what was added was not noted.
        expect(entries.map((count, i) => count >= (wanted[i] ?? 0))).toEqual([true, true, true])
        if (operation !== 'PutItem') expect(entries).toEqual(wanted)
      }
    },
  )

  it('finds the entries that are left when it comes again for the same', async () => {
    await index.setReferences(referrer, [a, b])
    await expect(createDynamodbIndex(faulty(all('DeleteItem'))).setReferences(referrer, [b])).rejects.toThrow(
      /cannot (note|forget)/,
    )
    expect(await referrersOf()).toEqual([1, 1, 0])
    await index.setReferences(referrer, [b])
    expect(await referrersOf()).toEqual([0, 1, 0])
  })
})

it('of two who note at once one is refused, and what the other noted has its entries', async () => {
  await index.setReferences(referrer, [a])
  const other = createDynamodbIndex(interposed('PutItem', () => index.setReferences(referrer, [a, c])))
  await expect(other.setReferences(referrer, [b])).rejects.toThrow('another process')
  expect((await index.references(referrer)).map(({ name }) => name).toSorted()).toEqual(['a', 'c'])
  const [ofA, , ofC] = await referrersOf()
  expect([ofA, ofC]).toEqual([1, 1])
})

it('who notes anew while the entries go keeps what it noted', async () => {
  await index.setReferences(referrer, [a])
  const other = createDynamodbIndex(interposed('DeleteItem', () => index.setReferences(referrer, [a, c])))
  await expect(other.setReferences(referrer, [b])).rejects.toThrow('another process')
  const [ofA, , ofC] = await referrersOf()
  expect([ofA, ofC]).toEqual([1, 1])
})

describe('when a referrer is removed', () => {
  const remade = async () => {
    const store = createDynamodbStore(optionsOver(dynalite.transport))
    await store.create(storedWidget('w', { uid: 'second' }))
    await index.setReferences(referrer, [a])
  }

  it.each(['PutItem', 'DeleteItem'])(
    'and %s is throttled, the next one of its name has its entries',
    async (operation) => {
      const store = createDynamodbStore(optionsOver(dynalite.transport))
      const live = await store.create(storedWidget('w'))
      await index.setReferences(referrer, [a])
      const ofReferences: Faults = (called, _, { Item, Key }) =>
        called === operation && /^refs?#/.test((Item ?? Key)?.pk?.S ?? '') ? 'throttle' : undefined
      await createDynamodbStore(faulty(ofReferences)).remove(live)
      await remade()
      expect(await referrersOf()).toEqual([1, 0, 0])
    },
  )

  it('and its deletes are throttled, the next writer deletes the entries that are left', async () => {
    const store = createDynamodbStore(optionsOver(dynalite.transport))
    const live = await store.create(storedWidget('w'))
    await index.setReferences(referrer, [a])
    await createDynamodbStore(faulty(all('DeleteItem'))).remove(live)
    expect([await index.references(referrer), await referrersOf()]).toEqual([[], [1, 0, 0]])
    await index.setReferences(referrer, [])
    expect(await referrersOf()).toEqual([0, 0, 0])
  })

  it('while a new object of its name notes the same references, the entries of the new object stay', async () => {
    const store = createDynamodbStore(optionsOver(dynalite.transport))
    const live = await store.create(storedWidget('w'))
    await index.setReferences(referrer, [a])
    const entries = createReferenceEntries(interposed('PutItem', remade))
    const removed = await store.remove(live)
    await index.setReferences(referrer, [a])
    const isGone = async () => (await store.get(referrer)) === undefined
    await entries.drop(referrer, versionOf(removed) + 10 ** 9, isGone)
    expect(await referrersOf()).toEqual([1, 0, 0])
    expect(await index.references(referrer)).toEqual([a])
  })
})

it('very many references with line breaks in their names are read as they were written', async () => {
  const targets = Array.from({ length: 600 }, (_, i) => ({
    ...a,
    name: `${'a'.repeat(170)}${i}${i === 7 ? '\nx' : ''}`,
  }))
  await index.setReferences(referrer, targets)
  expect(await index.references(referrer)).toEqual(targets)
  await index.setReferences(referrer, [])
  expect(await index.referrers(targets[7] as ObjectKey)).toEqual([])
})
