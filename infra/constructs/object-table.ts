import { CfnCondition, CfnParameter, Fn, RemovalPolicy } from 'aws-cdk-lib'
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import type { Construct } from 'constructs'
import { notRestored, restoredParameters, type RestoredTable } from '../restored-table.ts'

export interface ObjectTableOptions {
  /**
   * What becomes of the objects when the stack goes. With the default the table stays, unless it is the stack's first
   * deployment that failed: then it is empty, and goes with the rest.
   * @default RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
   */
  readonly removalPolicy?: RemovalPolicy
  /**
   * Whether DynamoDB refuses to delete the table. Switch it on after the first deployment: if that one fails,
   * CloudFormation could not take the table back. A table that is deleted can be restored for 35 days in any case.
   * @default false
   */
  readonly deletionProtection?: boolean
  /**
   * A key of your own for the objects, Secrets among them.
   * @default - the key that DynamoDB owns
   */
  readonly encryptionKey?: IKey
  /**
   * Whether the table can be brought back to any second of the last 35 days.
   * @default true
   */
  readonly pointInTimeRecovery?: boolean
  /**
   * Keeps an index that this version no longer asks. A table that an earlier version made has `changes`, and
   * CloudFormation adds or removes one index at a time: the first deployment of this version over it names `changes`
   * here, which adds `feed` beside it, and the next one does not.
   * @default - none
   */
  readonly keepIndex?: 'changes'
  /**
   * A table that was restored, with its stream, which parameters of the stack name by default. It is for pipelines that
   * deploy without `cdk deploy`: they give no parameters, and CloudFormation takes the defaults. `cdk deploy` keeps the
   * parameters as they are.
   * @default - the table of the stack
   */
  readonly restored?: RestoredTable
}

/** One of the stack, or one that was restored. */
export type ObjectTable = Omit<dynamodb.ITable, 'tableStreamArn'> & { readonly tableStreamArn?: string | undefined }

/**
 * The stack's own table, and the one that is used: a restored one in its place, if parameters of the stack name one.
 * So the switch is an update of the stack with the template that it has, and later ones by `cdk deploy` keep it.
 */
export interface ObjectTables {
  readonly own: dynamodb.Table
  readonly used: ObjectTable
}

export function objectTables(scope: Construct, id: string, options: ObjectTableOptions): ObjectTables {
  const own = ownTable(scope, id, options)
  const parameter = (name: string, unset: string, description: string): CfnParameter => {
    const made = new CfnParameter(scope, name, { default: unset, description })
    // Without a hash: people type it.
    made.overrideLogicalId(`${scope.node.id.replaceAll(/[^A-Za-z0-9]/g, '')}${name}`)
    return made
  }
  const { table: usual, stream: usualStream } = options.restored ?? noTable
  const name = parameter(restoredParameters.table, usual, 'A restored table, in place of the one of this stack')
  const stream = parameter(restoredParameters.stream, usualStream, 'The ARN of its stream')
  const isRestored = new CfnCondition(scope, 'IsRestored', {
    expression: Fn.conditionNot(Fn.conditionEquals(name.valueAsString, notRestored)),
  })
  const choose = (restored: CfnParameter, ofOwn: string): string =>
    Fn.conditionIf(isRestored.logicalId, restored.valueAsString, ofOwn).toString()
  const { encryptionKey } = options
  const used = dynamodb.Table.fromTableAttributes(own, 'Used', {
    tableName: choose(name, own.tableName),
    tableStreamArn: choose(stream, own.tableStreamArn ?? ''),
    globalIndexes: [...indexNames],
    ...(encryptionKey !== undefined && { encryptionKey }),
  })
  return { own, used }
}

const noTable: RestoredTable = { table: notRestored, stream: `arn:aws:dynamodb:::${notRestored}` }

/**
 * Where all objects are, with the stream that the relay reads. Its keys and indexes are those the store's adapter works
 * with.
 */
function ownTable(scope: Construct, id: string, options: ObjectTableOptions): dynamodb.Table {
  const {
    removalPolicy = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    encryptionKey,
    pointInTimeRecovery = true,
  } = options
  const table = new dynamodb.Table(scope, id, {
    ...keys,
    billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
    stream: dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,
    timeToLiveAttribute,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: pointInTimeRecovery },
    removalPolicy,
    deletionProtection: options.deletionProtection ?? false,
    ...(encryptionKey !== undefined && {
      encryption: dynamodb.TableEncryption.CUSTOMER_MANAGED,
      encryptionKey,
    }),
  })
  const earlier = options.keepIndex === undefined ? {} : { [options.keepIndex]: earlierIndexes[options.keepIndex] }
  for (const [indexName, index] of Object.entries({ ...earlier, ...indexes }))
    table.addGlobalSecondaryIndex({ indexName, projectionType: dynamodb.ProjectionType.KEYS_ONLY, ...index })
  return table
}

const text = (name: string): dynamodb.Attribute => ({ name, type: dynamodb.AttributeType.STRING })
const number = (name: string): dynamodb.Attribute => ({ name, type: dynamodb.AttributeType.NUMBER })

const timeToLiveAttribute = 'expires'
const keys = { partitionKey: text('pk'), sortKey: text('sk') }
const versions = {
  sortKey: number('rv'),
  projectionType: dynamodb.ProjectionType.INCLUDE,
  nonKeyAttributes: ['net'],
}
const earlierIndexes = { changes: { partitionKey: text('pk'), ...versions } }
const indexes = {
  feed: { partitionKey: text('feed'), ...versions },
  wheel: { partitionKey: text('pk'), sortKey: number('slot') },
  due: { partitionKey: text('pk'), sortKey: number('due') },
}

export type TableIndex = keyof typeof indexes

export const indexNames = Object.keys(indexes) as readonly TableIndex[]

/** The ARNs of a table's indexes, for a policy without a star. */
export function indexArns(table: ObjectTable, names: readonly TableIndex[]): readonly string[] {
  return names.map((name) => `${table.tableArn}/index/${name}`)
}
