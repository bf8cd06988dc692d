import { randomUUID } from 'node:crypto'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { createDynamodbReservations } from '../../shared/adapters/aws/dynamodb/dynamodb-reservations.ts'
import type { Clock } from '../../shared/ports/clock.ts'
import type { Reserve } from '../../shared/ports/reservations.ts'
import { createSeededRandom } from '../../shared/testing/seeded-random.ts'
import { countAwsRequests } from '../support/aws-requests.ts'
import { createTestTable, startDynalite, testClient } from '../../shared/testing-aws/dynalite.ts'
import { expectCode } from '../support/expect-code.ts'
import { faultyTransport, type Fault } from '../support/faulty-transport.ts'
import { reservationsContract } from './reservations.contract.ts'

const dynalite = await startDynalite()
afterAll(dynalite.close)

const random = createSeededRandom(1)
let table: string
beforeEach(async () => {
  table = `reservations-${randomUUID()}`
  await createTestTable(dynalite.client, table)
})

reservationsContract('DynamoDB on dynalite', () => ({
  process: (clock) => createDynamodbReservations({ client: dynalite.client, table, clock, random }),
  close: () => {},
}))

const rate = { perSecond: 10, burst: 1 }

/** Time passes only while somebody sleeps. */
function hastyClock(): Clock {
  let nowMs = 1_000_000
  return { nowMs: () => nowMs, sleep: async (ms) => void (nowMs += ms) }
}

describe('what reservations cost', () => {
  const requests = countAwsRequests(dynalite.client)
  const once = { calls: { UpdateItem: 1 }, readUnits: 0, writeUnits: 1, indexUnits: {} }

  it('one write for any number of them, and one more for whoever does not know yet that others have reserved', async () => {
    const clock = hastyClock()
    const [one, other] = [1, 2].map(() => createDynamodbReservations({ client: dynalite.client, table, clock, random }))
    requests.take()
    await one?.('line', 10, rate)
    expect(requests.take()).toEqual(once)
    await one?.('line', 10, rate)
    expect(requests.take()).toEqual(once)
    await other?.('line', 10, rate)
    expect(requests.take()).toMatchObject({ calls: { UpdateItem: 2 } })
    await other?.('line', 10, rate)
    expect(requests.take()).toEqual(once)
  })
})

describe('a request that fails', () => {
  /** With a fault of the first so many requests. */
  function faulty(fault: Fault, times = 1): Reserve {
    const transport = faultyTransport(dynalite.transport, (_, count) => (count < times ? fault : undefined))
    return createDynamodbReservations({ client: testClient(transport), table, clock: hastyClock(), random })
  }

  it.each<Fault>(['throttle', 'unreachable', 'lost', 'broken', 'skewed'])('%s: is made again', async (fault) => {
    const [first = 0] = await faulty(fault)('line', 1, rate)
    expect(first).toBeLessThan(1_000_100)
  })

  it.each<Fault>(['answer lost', 'broken after', 'garbled'])(
    '%s: is made again, and what it reserved is lost: nobody else gets it',
    async (fault) => {
      const [first = 0] = await faulty(fault)('line', 5, rate)
      expect(first).toBe(1_000_500)
    },
  )

  it('for long is THROTTLED', async () => {
    await expectCode(faulty('throttle', Infinity)('line', 1, rate), 'THROTTLED')
  })
})
