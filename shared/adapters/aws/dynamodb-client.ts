import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'

/**
 * A client as the adapters want it: it does not retry by itself, since a repeated write must be told from a first one, and it gives
 * up on a request when nothing comes for a second, since no answer of DynamoDB takes so long. Connections stay open between requests.
 */
export function createDynamodbClient(config: DynamoDBClientConfig = {}): DynamoDBClient {
  return new DynamoDBClient({
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: 500,
      // Until the answer begins, and between its parts.
      requestTimeout: 1_000,
      throwOnRequestTimeout: true,
      socketTimeout: 1_000,
    },
    ...config,
  })
}
