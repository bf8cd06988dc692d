import * as iam from 'aws-cdk-lib/aws-iam'
import type { ControlFunction } from './control-function.ts'
import { indexArns, type ObjectTable, type TableIndex } from './object-table.ts'

/** What a function does with the objects. */
export interface ObjectAccess {
  /** Of DynamoDB, on the table itself. */
  readonly actions: readonly TableAction[]
  /** The indexes it queries. */
  readonly indexes: readonly TableIndex[]
}

export type TableAction =
  | 'GetItem'
  | 'BatchGetItem'
  | 'Query'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | 'BatchWriteItem'

/** Lets a function do that with a table, and use the key it is encrypted with, if that is a customer's. */
export function allowObjects(worker: ControlFunction, table: ObjectTable, { actions, indexes }: ObjectAccess): void {
  worker.allow(
    actions.map((action) => `dynamodb:${action}`),
    [table.tableArn],
  )
  if (indexes.length > 0) worker.allow(['dynamodb:Query'], indexArns(table, indexes))
  if (table.encryptionKey !== undefined) allowKey(worker, table.encryptionKey.keyArn)
}

/** DynamoDB uses the key in the function's name, and only DynamoDB may. */
export function allowKey(worker: ControlFunction, keyArn: string): void {
  worker.addToRolePolicy(
    new iam.PolicyStatement({
      actions: ['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey'],
      resources: [keyArn],
      conditions: { StringEquals: { 'kms:ViaService': `dynamodb.${worker.stack.region}.amazonaws.com` } },
    }),
  )
}
