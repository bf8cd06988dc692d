import type { AwsBoundary } from '../../shared/runtime/aws/boundary.ts'
import { createSeededRandom } from '../../shared/testing/seeded-random.ts'
import { testCredentials, type Transport } from '../../shared/testing-aws/dynalite.ts'

type Given = Pick<AwsBoundary, 'environment' | 'clock'> & Partial<AwsBoundary>

/** The boundary of a function that reaches AWS over this transport alone. */
export function awsBoundary(transport: Transport, given: Given): AwsBoundary {
  // Its `handle` is all that is called.
  const settings = { region: 'us-east-1', credentials: testCredentials, requestHandler: transport as never }
  return {
    random: createSeededRandom(1),
    write: () => {},
    dynamodb: settings,
    sqs: settings,
    eventbridge: settings,
    retire: () => {},
    ...given,
  }
}

/** `SETPOINT_QUEUES` where Widgets have two queues. */
export const widgetQueues = JSON.stringify({
  system: 'https://sqs/1/system.fifo',
  widget: ['https://sqs/1/a', 'https://sqs/1/b'],
})
