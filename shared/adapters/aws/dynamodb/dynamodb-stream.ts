import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import type { Change } from '../../../ports/change-feed.ts'
import { isRemoved, readItem, readItemIfWhole, parseTouched } from './dynamodb-items.ts'
import type { Item } from './dynamodb-keys.ts'

/** A record of the table's stream, as Lambda or GetRecords gives it. */
export interface StreamRecord {
  readonly dynamodb?:
    | {
        readonly NewImage?: StreamImage | undefined
        readonly OldImage?: StreamImage | undefined
      }
    | undefined
}

/** Of the attributes that our items have, all clients agree on the form. */
type StreamImage = { readonly [name: string]: unknown }

/**
 * The change that a record tells; `undefined` if it tells of no write of an object: of an entry of an index, a
 * tombstone's copy or end. Every write of an object is one record, in order per object.
 */
export function changeOf({ dynamodb }: StreamRecord): Change | undefined {
  const after = itemOf(dynamodb?.NewImage)
  if (after?.['touched']?.S === undefined) return undefined
  const old = itemOf(dynamodb?.OldImage)
  const wasThere = old !== undefined && !isRemoved(old)
  // Nobody can say what was damaged before this write, and nobody needs to.
  const before = wasThere ? readItemIfWhole(old) : undefined
  const type = isRemoved(after) ? 'removed' : wasThere ? 'modified' : 'added'
  const change = { type, touched: parseTouched(after['touched'].S), stored: readItem(after) } as const
  return before === undefined ? change : { ...change, before }
}

/**
 * A filter for the mapping of the stream to a function: writes that touched more than the engine's own state. A write
 * is known by the first of the parts it touched, in the order of weight, and all other items have no such attribute.
 */
export const relayedWrites = {
  dynamodb: {
    NewImage: {
      touched: {
        S: ['spec', 'delete', 'control', 'meta', 'labels', 'annotations', 'fields', 'status', 'timer'].map(
          (prefix) => ({
            prefix,
          }),
        ),
      },
    },
  },
} as const

function itemOf(image: StreamImage | undefined): Item | undefined {
  return image as Record<string, AttributeValue> | undefined
}
