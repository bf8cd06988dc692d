import { GetQueueAttributesCommand, SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs'
import { clientTimeouts } from '../client/client-timeouts.ts'
import { limitRequests } from '../client/limit-requests.ts'
import { serviceFailure } from '../client/service-failure.ts'

/** A client that gives up on a request after three seconds: nobody who uses it waits for messages. */
export function createSqsClient(config: SQSClientConfig = {}): SQSClient {
  const requestHandler = clientTimeouts({ connectMs: 1_000, answerMs: 3_000 })
  return limitRequests(new SQSClient({ requestHandler, ...config }))
}

const waiting = 'ApproximateNumberOfMessages'

/** About how many messages of a queue wait to be received. Throws THROTTLED, UNAVAILABLE. */
export async function queueDepth(client: SQSClient, queueUrl: string): Promise<number> {
  const command = new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: [waiting] })
  try {
    const { Attributes = {} } = await client.send(command)
    return Number(Attributes[waiting] ?? 0)
  } catch (error) {
    throw serviceFailure(error, 'learn how long a queue is')
  }
}
