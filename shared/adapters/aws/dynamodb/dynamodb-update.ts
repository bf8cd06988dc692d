import { UpdateItemCommand, type AttributeValue } from '@aws-sdk/client-dynamodb'
import { keyOf } from '../../../model/object-key.ts'
import { touches, type StoredObject, type Touched } from '../../../model/stored-object.ts'
import { partAttribute, stateAttributes, formatTouched, type WriteMarks } from './dynamodb-items.ts'
import { objectItemKey } from './dynamodb-keys.ts'

export interface ItemChange {
  readonly table: string
  /** The new state, under its new version. */
  readonly next: StoredObject
  /** The version that is written over. */
  readonly base: number
  readonly touched: Touched
  readonly marks: WriteMarks
  /** Makes it a tombstone, until then, in seconds since the epoch. */
  readonly expires?: number
}

/**
 * One update, on condition of uid and version. The text of the object goes along whatever was touched: DynamoDB bills
 * by the item. Answers with what was there, if the owners may be others now.
 */
export function updateCommand(change: ItemChange): UpdateItemCommand {
  const { table, next, base, touched } = change
  const attributes = composeChanges(change)
  const names = Object.keys(attributes)
  const set = names.filter((name) => attributes[name] !== undefined)
  const gone = names.filter((name) => attributes[name] === undefined)
  return new UpdateItemCommand({
    TableName: table,
    Key: objectItemKey(keyOf(next.object)),
    UpdateExpression: [
      `SET ${set.map((name) => `#${name} = :${name}`).join()}`,
      ...(gone.length > 0 ? [`REMOVE ${gone.map((name) => `#${name}`).join()}`] : []),
    ].join(' '),
    ConditionExpression: '#uid = :uid AND #rv = :base AND attribute_not_exists(#expires)',
    ExpressionAttributeNames: Object.fromEntries([...names, 'uid', 'expires'].map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: {
      ...Object.fromEntries(set.map((name) => [`:${name}`, attributes[name] as AttributeValue])),
      ':uid': { S: next.object.metadata.uid },
      ':base': { N: String(base) },
    },
    ReturnValues: touches(touched, 'meta') ? 'ALL_OLD' : 'NONE',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  })
}

/** By name; `undefined` for those that go. */
function composeChanges(change: ItemChange): Readonly<Record<string, AttributeValue | undefined>> {
  const { next, touched, marks, expires } = change
  const rv = { N: next.object.metadata.resourceVersion }
  const { token, entry } = marks
  const { due, net, feed, owners, ...texts } = stateAttributes(next, entry)
  return {
    rv,
    write: { S: token },
    touched: { S: formatTouched(touched) },
    ...Object.fromEntries(touched.map((part) => [partAttribute(part), rv])),
    ...texts,
    ...(touches(touched, 'meta') ? { owners } : {}),
    // What is not in them any more leaves the indexes.
    ...(expires === undefined
      ? { due, net, feed }
      : {
          net: undefined,
          feed: entry.isRecorded ? feed : undefined,
          expires: { N: String(expires) },
          due: undefined,
          slot: undefined,
          owners: undefined,
        }),
  }
}
