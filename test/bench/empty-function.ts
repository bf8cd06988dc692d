import wrap from '@middy/core'
import {
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { ChangeMessageVisibilityBatchCommand, DeleteMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs'

/** A function that does nothing, with middy, and with the SDK's clients and commands that `reconcile` works with. */
const commands = [
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
]
const clients = [new DynamoDBClient({ region: 'us-east-1' }), new SQSClient({ region: 'us-east-1' })]

export const handler = wrap(async (): Promise<number> => commands.length + clients.length)
