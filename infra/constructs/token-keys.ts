import { RemovalPolicy } from 'aws-cdk-lib'
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import { Construct } from 'constructs'
import { acknowledge } from './acknowledge.ts'
import type { ControlFunction } from './control-function.ts'
import { allowKey } from './object-access.ts'

export interface TokenKeysProps {
  readonly encryptionKey?: IKey | undefined
}

/**
 * The keys of tokens of ServiceAccounts. They are in two tables, since a permission is for a table: only the API sees
 * the key that signs. The functions make the keys, with the first token. The tables go with the stack, and all tokens
 * with them. At rest they cost nothing.
 */
export class TokenKeys extends Construct {
  /** The key that signs. */
  readonly signing: dynamodb.Table
  /** The public keys of all tokens that may still hold. */
  readonly shown: dynamodb.Table

  constructor(scope: Construct, id: string, props: TokenKeysProps) {
    super(scope, id)
    this.signing = this.createTable('Signing', props)
    this.shown = this.createTable('Shown', props, { timeToLiveAttribute: 'expires' })
    acknowledge(this, 'DDB3', 'A key that is lost ends its tokens, and a token can be asked for again at any time.')
  }

  /** For the API: it makes keys, signs, knows tokens again, and tells by which keys others do. */
  allowSigning(worker: ControlFunction): void {
    worker.allow(['dynamodb:GetItem', 'dynamodb:PutItem'], [this.signing.tableArn, this.shown.tableArn])
    worker.allow(['dynamodb:Scan'], [this.shown.tableArn])
    worker.addEnvironment('SETPOINT_SIGNING_KEYS', this.signing.tableName)
    this.tell(worker)
  }

  /** For the authorizer. */
  allowChecking(worker: ControlFunction): void {
    worker.allow(['dynamodb:GetItem'], [this.shown.tableArn])
    this.tell(worker)
  }

  private tell(worker: ControlFunction): void {
    worker.addEnvironment('SETPOINT_TOKEN_KEYS', this.shown.tableName)
    if (this.shown.encryptionKey !== undefined) allowKey(worker, this.shown.encryptionKey.keyArn)
  }

  private createTable(
    id: string,
    { encryptionKey }: TokenKeysProps,
    options: Partial<dynamodb.TableProps> = {},
  ): dynamodb.Table {
    const encryption = dynamodb.TableEncryption.CUSTOMER_MANAGED
    return new dynamodb.Table(this, id, {
      partitionKey: { name: 'id', type: dynamodb.AttributeType.STRING },
      billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
      removalPolicy: RemovalPolicy.DESTROY,
      ...(encryptionKey !== undefined && { encryption, encryptionKey }),
      ...options,
    })
  }
}
