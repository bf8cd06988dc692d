import { GetQueueAttributesCommand, SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs'
import { clientTimeouts } from '../client/client-timeouts.ts'
import { serviceFailure } from '../client/service-failure.ts'

/** A client that gives up on a request after three seconds: nobody who uses it waits for messages. */
export function createSqsClient(config: SQSClientConfig = {}): SQSClient {
  return new SQSClient({ requestHandler: clientTimeouts({ connectMs: 1_000, answerMs: 3_000 }), ...config })
}

const waiting = 'ApproximateNumberOfMessages'
const taken = 'ApproximateNumberOfMessagesNotVisible'

/**
 * About how many messages of a queue wait to be received, and how many were received and are not deleted. Throws
 * THROTTLED, UNAVAILABLE.
 */
export async function queueDepth(
  client: SQSClient,
  queueUrl: string,
): Promise<{ readonly waiting: number; readonly taken: number }> {
  const command = new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: [waiting, taken] })
  try {
    const { Attributes = {} } = await client.send(command)
    return { waiting: Number(Attributes[waiting] ?? 0), taken: Number(Attributes[taken] ?? 0) }
  } catch (error) {
    throw serviceFailure(error, 'learn how long a queue is')
  }
}
