import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { clientTimeouts } from '../client/client-timeouts.ts'
import { limitRequests } from '../client/limit-requests.ts'

/**
 * A client as the adapters want it: it does not retry by itself, since a repeated write must be told from a first one,
 * and it gives up on a request when nothing comes for a second, since no answer of DynamoDB takes so long. Connections
 * stay open between requests.
 */
export function createDynamodbClient(config: DynamoDBClientConfig = {}): DynamoDBClient {
  const requestHandler = clientTimeouts({ connectMs: 500, answerMs: 1_000 })
  return limitRequests(new DynamoDBClient({ maxAttempts: 1, requestHandler, ...config }))
}
