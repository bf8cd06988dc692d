import { randomUUID } from 'node:crypto'
import { afterAll, expect, it } from 'vitest'
import { createDynamodbRunHistory } from '../../shared/adapters/aws/dynamodb/dynamodb-run-history.ts'
import { systemClock } from '../../shared/adapters/node/system-clock.ts'
import { createSeededRandom } from '../../shared/testing/seeded-random.ts'
import { countAwsRequests } from '../support/aws-requests.ts'
import { createTestTable, startDynalite, testClient } from '../../shared/testing-aws/dynalite.ts'
import { faultyTransport } from '../support/faulty-transport.ts'
import { pastRun, runHistoryContract } from './run-history.contract.ts'

const dynalite = await startDynalite('runs')
afterAll(dynalite.close)

const report = (error: unknown): void => {
  throw error
}
const options = { client: dynalite.client, clock: systemClock, random: createSeededRandom(1), report }

runHistoryContract('DynamoDB on dynalite', async () => {
  const table = `runs-${randomUUID()}`
  await createTestTable(dynalite.client, table)
  const open = () => createDynamodbRunHistory({ ...options, table })
  return { history: open(), reopen: open, close: () => {} }
})

it('costs one write unit for a run with something to tell, and nothing for a quiet one', async () => {
  const requests = countAwsRequests(dynalite.client)
  const history = createDynamodbRunHistory({ ...options, table: 'runs' })
  const uid = randomUUID()
  for (let atMs = 0; atMs < 100; atMs++) history.noteQuiet(uid, { atMs, ms: 1, causes: ['resync'] })
  await history.flush()
  expect(requests.take().calls).toEqual({})
  history.note(uid, pastRun(200, { generation: 3, reads: 2, writes: 1 }))
  await history.flush()
  expect(requests.take()).toMatchObject({ calls: { PutItem: 1 }, writeUnits: 1 })
  expect((await history.read(uid)).map(({ times }) => times)).toEqual([100, undefined])
})

it('shortens the log of a run that says more than it may', async () => {
  const history = createDynamodbRunHistory({ ...options, table: 'runs' })
  const uid = randomUUID()
  const random = createSeededRandom(2)
  const noise = (): string => Array.from({ length: 50 }, random.uuid).join('')
  const log = Array.from({ length: 50 }, (_, atMs) => ({ atMs, level: 'info', message: noise() }) as const)
  history.note(uid, pastRun(1, { log }))
  const [run] = await history.read(uid)
  expect(run?.log?.length).toBeGreaterThan(0)
  expect(run?.log?.length).toBeLessThan(20)
  expect(run?.log?.at(-1)).toEqual(log.at(-1))
})

it('fails no run where the table is away: it tells of it once, and goes on', async () => {
  const told: unknown[] = []
  let isAway = true
  const client = testClient(faultyTransport(dynalite.transport, () => (isAway ? 'unreachable' : undefined)))
  const clock = { nowMs: () => 0, sleep: async () => {} }
  const history = createDynamodbRunHistory({
    ...options,
    client,
    clock,
    table: 'runs',
    patienceMs: 0,
    report: (error) => told.push(error),
  })
  const uid = randomUUID()
  for (let atMs = 0; atMs < 3; atMs++) history.note(uid, pastRun(atMs))
  await history.flush()
  expect(told).toHaveLength(1)
  isAway = false
  history.note(uid, pastRun(4))
  expect(await history.read(uid)).toEqual([pastRun(4)])
})
