import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, vi } from 'vitest'
import { systemClock } from '../../shared/adapters/local/system-clock.ts'
import { createSqsWorkQueue } from '../../shared/adapters/aws/sqs-work-queue.ts'
import { createSeededRandom } from '../../shared/testing/seeded-random.ts'
import { startFauxqs } from '../support/fauxqs.ts'
import { openTestQueue } from '../support/sqs-queue.ts'
import { workQueueContract } from './work-queue.contract.ts'

/** Always run; the same over emulators that are fetched is test/wire/work-queue.test.ts. */

const visibilityMs = 30_000
const latencyMs = 100
/** In real time, for the calls that are under way. */
const callsMs = 300

let fauxqs: Awaited<ReturnType<typeof startFauxqs>>

beforeAll(async () => {
  fauxqs = await startFauxqs()
})
afterAll(() => fauxqs[Symbol.asyncDispose]())

/** The emulator sees what time it is by the date; its sockets go by real time. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
  return () => vi.useRealTimers()
})

async function pass(ms: number): Promise<void> {
  vi.setSystemTime(Date.now() + ms)
  await sleep(callsMs)
}

const onePerGroup =
  'fauxqs gives one message per group and receive; AWS gives as many of the group as fit (emulators.md §2.1)'

workQueueContract(
  'SQS FIFO (fauxqs)',
  async () => {
    const opened = await openTestQueue(fauxqs.endpoint, visibilityMs)
    const random = createSeededRandom(1)
    const queue = createSqsWorkQueue({ ...opened, loop: 'widgets', clock: systemClock, random, waitSeconds: 0 })
    return { queue, visibilityMs, latencyMs, pass, close: () => opened[Symbol.asyncDispose]() }
  },
  {
    'forgets what is settled': onePerGroup,
    'brings the wake-ups that wait for a key together': onePerGroup,
    'brings the latest resourceVersion and each reason': onePerGroup,
  },
)
