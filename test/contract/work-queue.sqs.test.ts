import { afterAll, beforeAll, beforeEach, vi } from 'vitest'
import { startFauxqs } from '../support/fauxqs.ts'
import { openTestQueue, sqsClient } from '../support/sqs-queue.ts'
import { workQueueContract } from './work-queue.contract.ts'

/** Always run; over emulators that are fetched it is test/wire/sqs-contract.ts. */

const visibilityMs = 30_000
const latencyMs = 100

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

const onePerGroup =
  'fauxqs gives one message per group and receive; AWS gives as many of the group as fit (emulators.md §2.1)'

workQueueContract(
  'SQS FIFO (fauxqs)',
  async () => {
    const { queue, answered, close } = await openTestQueue(sqsClient(fauxqs.endpoint), visibilityMs)
    const pass = (ms: number): Promise<void> => {
      vi.setSystemTime(Date.now() + ms)
      return answered()
    }
    return { queue, visibilityMs, latencyMs, pass, close }
  },
  {
    'forgets what is settled': onePerGroup,
    'brings the wake-ups that wait for a key together': onePerGroup,
    'brings the latest resourceVersion and each reason': onePerGroup,
  },
)
