import {
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { ChangeMessageVisibilityBatchCommand, DeleteMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs'

/** A function that does nothing, with the clients and commands that `reconcile` cannot do without. */
const commands = [
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
]
const clients = [new DynamoDBClient({ region: 'us-east-1' }), new SQSClient({ region: 'us-east-1' })]

export const handler = async (): Promise<number> => commands.length + clients.length
