import {
  CreateTableCommand,
  waitUntilTableExists,
  type CreateTableCommandInput,
  type DynamoDBClient,
} from '@aws-sdk/client-dynamodb'

/** As the template has them; `table` is that of the public keys. */
export const tokenTables = { signingTable: 'signing-keys', table: 'token-keys' } as const

export async function createTokenTables(client: DynamoDBClient): Promise<void> {
  for (const TableName of Object.values(tokenTables)) {
    const table: CreateTableCommandInput = {
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    }
    await client.send(new CreateTableCommand(table))
    await waitUntilTableExists({ client, maxWaitTime: 10, minDelay: 0.02, maxDelay: 0.1 }, { TableName })
  }
}
