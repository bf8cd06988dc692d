import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'

/** A table that has nothing but the note of what is recorded. */
export function createNotesClient(): DynamoDBClient {
  let item: Record<string, { readonly S?: string; readonly N?: string }> = {}
  const send = async ({ input }: { readonly input: Input }): Promise<unknown> => {
    const { ExpressionAttributeNames: names, ExpressionAttributeValues: values } = input
    if (names === undefined || values === undefined) return { Item: item }
    const [kind = '', born = ''] = [names['#kind'], names['#born']]
    item = { [born]: values[':born'] ?? {}, ...item, [kind]: values[':next'] ?? {} }
    return {}
  }
  return { send } as unknown as DynamoDBClient
}

interface Input {
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>
  readonly ExpressionAttributeValues?: Readonly<Record<string, { readonly S?: string; readonly N?: string }>>
}
