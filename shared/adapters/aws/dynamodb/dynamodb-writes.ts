import { randomUUID } from 'node:crypto'
import { GetItemCommand, type PutItemCommand, type UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { keyOf, keyText, type ObjectKey } from '../../../model/object-key.ts'
import { type StoredObject, withVersion } from '../../../model/stored-object.ts'
import { whenInTurn } from '../client/limit-requests.ts'
import { isConditionFailure, isFeedThrottle, wasRepeated } from './dynamodb-failures.ts'
import { isRemoved, nextVersion, readItem, type WriteMarks } from './dynamodb-items.ts'
import { isPlace, objectItemKey, type Item } from './dynamodb-keys.ts'
import { createRecordings } from './dynamodb-recordings.ts'
import { createDynamodbRequests, unknownFate, type DynamodbOptions } from './dynamodb-requests.ts'

/** Strong reads and conditional writes of the items that hold objects. */
export interface ObjectItems {
  /** What is there, dead or alive. */
  read(key: ObjectKey): Promise<Item | undefined>

  /**
   * Numbers a state above the version that it is written over, and writes it; every attempt anew, so that no write is
   * numbered long before it is done. Throws WRITE_UNKNOWN, THROTTLED, UNAVAILABLE.
   */
  write(write: ItemWrite): Promise<WrittenItem | Refused>
}

export interface ItemWrite {
  readonly verb: 'create' | 'replace' | 'remove'
  readonly given: StoredObject
  /** The version that it is written over, 0 if nothing is there. */
  readonly base: number
  /**
   * Conditional: of all attempts one is done at most. The token goes into the item, so that the attempt can be known
   * again.
   */
  readonly command: (next: StoredObject, marks: WriteMarks) => PutItemCommand | UpdateItemCommand
}

export interface WrittenItem {
  readonly stored: StoredObject
  /** What was there, if the command asks for it. */
  readonly before?: Item
}

/** The condition did not hold. */
export interface Refused {
  readonly there: Item | undefined
}

export function createObjectItems(options: DynamodbOptions): ObjectItems {
  const { client, table, clock } = options
  const requests = createDynamodbRequests(options)
  const recordings = createRecordings(options)

  const read: ObjectItems['read'] = async (key) => {
    if (!isPlace(key)) return
    const get = new GetItemCommand({ TableName: table, Key: objectItemKey(key), ConsistentRead: true })
    return (await requests.repeat(`read ${keyText(key)}`, () => client.send(get))).Item
  }

  const write: ObjectItems['write'] = ({ verb, given, base, command }) => {
    const key = keyOf(given.object)
    const what = `${verb} ${keyText(key)}`
    const token = randomUUID()
    const numberedFirst = nextVersion(clock, base)

    /** The condition did not hold: because an earlier attempt was done, or because of somebody else. */
    const ofWhatIsThere = (there: Item | undefined, isUncertain: boolean, cause: unknown): WrittenItem | Refused => {
      if (there?.['write']?.S === token) return { stored: readItem(there) }
      // The versions of a place only grow, and its tombstone stays: an older one tells that no attempt was done.
      if (!isUncertain || there === undefined || Number(there['rv']?.N) <= numberedFirst) return { there }
      if (verb === 'create' && isAlive(there) && there['uid']?.S === given.object.metadata.uid)
        return { stored: readItem(there) }
      throw unknownFate(what, cause)
    }

    const failedLook = (failure: unknown, mayBeDone: boolean): never => {
      throw mayBeDone ? unknownFate(what, failure) : failure
    }

    // Readers look back two seconds: while other requests of this process go ahead, a write has no number yet.
    const writeInTurn = async (): Promise<WrittenItem> => {
      const entry = await recordings.findEntry(key)
      const next = withVersion(given, nextVersion(clock, base))
      const { Attributes } = await send(command(next, { token, entry }))
      return { stored: next, ...(Attributes !== undefined && { before: Attributes }) }
    }

    const attempt = async (isUncertain: boolean): Promise<WrittenItem | Refused> => {
      try {
        return await whenInTurn(client, writeInTurn)
      } catch (error) {
        // The write is tried again in any case, and the next one that is throttled spreads the kind if this one cannot.
        if (isFeedThrottle(error)) await recordings.spread(key).catch(() => {})
        if (!isConditionFailure(error)) throw error
        const mayBeDone = isUncertain || wasRepeated(error)
        const there = error.Item ?? (await read(key).catch((failure: unknown) => failedLook(failure, mayBeDone)))
        return ofWhatIsThere(there, mayBeDone, error)
      }
    }

    return requests.write(what, attempt, async () => {
      const there = await read(key)
      return there?.['write']?.S === token ? { stored: readItem(there) } : undefined
    })
  }

  const send = (command: PutItemCommand | UpdateItemCommand): Promise<{ readonly Attributes?: Item | undefined }> =>
    client.send(command as UpdateItemCommand)

  return { read, write }
}

export function isAlive(item: Item | undefined): item is Item {
  return item !== undefined && !isRemoved(item)
}
