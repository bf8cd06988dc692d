import { randomUUID } from 'node:crypto'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { createDynamodbInHand } from '../../shared/adapters/aws/dynamodb/dynamodb-in-hand.ts'
import type { InHand } from '../../shared/ports/in-hand.ts'
import { createSeededRandom } from '../../shared/testing/seeded-random.ts'
import { createTestTable, startDynalite, testClient } from '../../shared/testing-aws/dynalite.ts'
import { countAwsRequests } from '../support/aws-requests.ts'
import { expectCode } from '../support/expect-code.ts'
import { faultyTransport, type Fault } from '../support/faulty-transport.ts'
import { inHandContract } from './in-hand.contract.ts'

const dynalite = await startDynalite()
afterAll(dynalite.close)

const random = createSeededRandom(1)
let table: string
beforeEach(async () => {
  table = `in-hand-${randomUUID()}`
  await createTestTable(dynalite.client, table)
})

inHandContract('DynamoDB on dynalite', () => ({
  process: (clock) => createDynamodbInHand({ client: dynalite.client, table, clock, random }),
  close: () => {},
}))

function openOn(client = dynalite.client): InHand {
  let nowMs = 1_000_000
  const clock = { nowMs: () => nowMs, sleep: async (ms: number) => void (nowMs += ms) }
  return createDynamodbInHand({ client, table, clock, random })
}
const note = { id: 'a', rank: 'sweep', untilMs: 2_000_000 } as const

it('a note, a strike and a look cost one request each, of up to two hundred', async () => {
  const requests = countAwsRequests(dynalite.client)
  const one = openOn()
  const ids = Array.from({ length: 200 }, (_, i) => String(i))
  await one.note(
    'system',
    ids.map((id) => ({ ...note, id })),
  )
  await one.strike('system', ids.slice(1), ['shelf'])
  await one.strike('system', [], [])
  await one.look('system')
  expect(requests.take()).toMatchObject({ calls: { UpdateItem: 2, GetItem: 1 } })
})

it.each<Fault>(['throttle', 'unreachable', 'answer lost'])('%s: is tried again', async (fault) => {
  const transport = faultyTransport(dynalite.transport, (_, count) => (count < 1 ? fault : undefined))
  await openOn(testClient(transport)).note('system', [note])
  expect((await openOn().look('system')).notes).toEqual([note])
})

it('for long is THROTTLED', async () => {
  const transport = faultyTransport(dynalite.transport, () => 'throttle')
  await expectCode(openOn(testClient(transport)).note('system', [note]), 'THROTTLED')
})
