import { keyText, type ObjectKey } from '../../../shared/model/object-key.ts'
import type { Change } from '../../../shared/ports/change-feed.ts'
import { below, type World } from '../world.ts'

/** A DynamoDB stream: shards of records, each in the order of the writes, each record seen after a while. */
export interface SimStream {
  tell(key: ObjectKey, change: Change): void
  readonly shards: readonly SimShard[]
}

export interface SimShard {
  /** Resolves when the next record can be read. */
  readable(): Promise<void>
  /** At most so many records from where the reader stands; it stands there until it has moved on. */
  read(max: number): readonly Change[]
  moveOn(by: number): void
  /** Records that nobody has moved past. */
  behind(): number
}

const shardCount = 2

export function createSimStream({ world, lagMsMax }: { readonly world: World; readonly lagMsMax: number }): SimStream {
  const lags = world.random.fork('stream lags')
  const shards = Array.from({ length: shardCount }, () => createShard(world))
  return {
    shards,
    tell: (key, change) => shards[shardOf(keyText(key))]?.add(change, world.nowMs() + below(lags, lagMsMax)),
  }
}

function createShard(world: World): SimShard & { add(change: Change, readableAtMs: number): void } {
  let records: { readonly change: Change; readonly readableAtMs: number }[] = []
  let added = Promise.withResolvers<void>()
  return {
    add: (change, readableAtMs) => {
      records.push({ change, readableAtMs })
      added.resolve()
    },
    readable: async () => {
      while (records.length === 0) {
        added = Promise.withResolvers()
        await added.promise
      }
      const waitMs = (records[0]?.readableAtMs ?? 0) - world.nowMs()
      if (waitMs > 0) await world.sleep(waitMs)
    },
    read: (max) => {
      const later = records.findIndex(({ readableAtMs }) => readableAtMs > world.nowMs())
      return records.slice(0, Math.min(max, later < 0 ? records.length : later)).map(({ change }) => change)
    },
    moveOn: (by) => {
      records = records.slice(by)
    },
    behind: () => records.length,
  }
}

/** Also the partition of an item. */
export function shardOf(text: string, shards: number = shardCount): number {
  let sum = 7
  for (let i = 0; i < text.length; i++) sum = (sum * 31 + text.charCodeAt(i)) >>> 0
  return sum % shards
}
