import { randomUUID } from 'node:crypto'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { createDynamodbAllowances } from '../../shared/adapters/aws/dynamodb/dynamodb-allowances.ts'
import type { Allowances } from '../../shared/ports/allowances.ts'
import { createSeededRandom } from '../../shared/testing/seeded-random.ts'
import { countAwsRequests } from '../support/aws-requests.ts'
import { createTestTable, startDynalite, testClient } from '../../shared/testing-aws/dynalite.ts'
import { expectCode } from '../support/expect-code.ts'
import { faultyTransport, type Fault } from '../support/faulty-transport.ts'
import { allowancesContract } from './allowances.contract.ts'

const dynalite = await startDynalite()
afterAll(dynalite.close)

const random = createSeededRandom(1)
const rate = { perSecond: 10, burst: 2 }
let table: string
beforeEach(async () => {
  table = `allowances-${randomUUID()}`
  await createTestTable(dynalite.client, table)
})

allowancesContract('DynamoDB on dynalite', () => ({
  process: (clock) => createDynamodbAllowances({ client: dynalite.client, table, clock, random }),
  close: () => {},
}))

function openOn(client = dynalite.client): Allowances {
  let nowMs = 1_000_000
  const clock = { nowMs: () => nowMs, sleep: async (ms: number) => void (nowMs += ms) }
  return createDynamodbAllowances({ client, table, clock, random })
}

describe('what an allowance costs', () => {
  it('one write for each call, two for the first of a burst', async () => {
    const requests = countAwsRequests(dynalite.client)
    const some = openOn()
    await some.take('account', rate)
    expect(requests.take()).toMatchObject({ calls: { UpdateItem: 2 } })
    await some.take('account', rate)
    expect(requests.take()).toMatchObject({ calls: { UpdateItem: 1 } })
    expect(await some.take('account', rate)).toBeGreaterThan(0)
    expect(requests.take()).toMatchObject({ calls: { UpdateItem: 1 } })
  })
})

describe('a call that fails to be counted', () => {
  function faulty(fault: Fault, times = 1): Allowances {
    const transport = faultyTransport(dynalite.transport, (_, count) => (count < times ? fault : undefined))
    return openOn(testClient(transport))
  }

  it.each<Fault>(['throttle', 'unreachable', 'lost', 'broken', 'skewed'])('%s: is asked for again', async (fault) => {
    expect(await faulty(fault).take('account', rate)).toBe(0)
  })

  it.each<Fault>(['answer lost', 'broken after', 'garbled'])('%s: is asked for again, and counts', async (fault) => {
    const single = { perSecond: 0.1, burst: 2 }
    await openOn().take('account', single)
    expect(await faulty(fault).take('account', single)).toBeGreaterThan(0)
  })

  it('for long is THROTTLED', async () => {
    await expectCode(faulty('throttle', Infinity).take('account', rate), 'THROTTLED')
  })
})
