import { PutItemCommand, type AttributeValue } from '@aws-sdk/client-dynamodb'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { OperatingError } from '../../../model/errors.ts'
import { parseJson } from '../../../model/parse-json.ts'
import { keptRuns, type PastRun, type RunHistory } from '../../../ports/run-history.ts'
import { createQuietRuns } from '../../node/quiet-runs.ts'
import { itemKey, type Item } from './dynamodb-keys.ts'
import { queryAll } from './dynamodb-query.ts'
import { createDynamodbRequests, type DynamodbOptions } from './dynamodb-requests.ts'
import { timeToLiveAttribute } from './dynamodb-table.ts'

export interface DynamodbRunHistory extends RunHistory {
  /** Writes what waits. Never rejects: a run that cannot be written is lost, and told. */
  flush(): Promise<void>
}

export interface DynamodbRunHistoryOptions extends DynamodbOptions {
  /** Told once of each time that runs are lost, until they can be written again. */
  readonly report: (error: unknown) => void
}

const secondsKept = 7 * 24 * 3_600
/** With its key below one unit of a write. */
const plainMax = 850
/** Lines of the log go until a row is as short as that: ten units of a write. */
const packedMax = 10_000
/** More do not wait for one write. */
const waitingMax = 1_000

/**
 * The history in the table of the objects, an item for each run that is told by itself, in a partition of its object.
 * The newest are read; DynamoDB removes each after a week, for nothing. Quiet runs are counted in this process, and go
 * along with the next row. The stream's mapping passes these items by, as all that are no object.
 */
export function createDynamodbRunHistory(options: DynamodbRunHistoryOptions): DynamodbRunHistory {
  const { client, table, clock, report } = options
  const requests = createDynamodbRequests(options)
  const quiet = createQuietRuns()
  let waiting: Item[] = []
  let count = 0
  let isLosing = false

  const writeRow = async (row: Item): Promise<void> => {
    try {
      const put = new PutItemCommand({ TableName: table, Item: row })
      await requests.repeat('write down a run', () => client.send(put))
      isLosing = false
    } catch (error) {
      if (!isLosing) report(error)
      isLosing = true
    }
  }
  const flush = async (): Promise<void> => {
    const rows = waiting
    waiting = []
    await Promise.all(rows.map(writeRow))
  }

  return {
    note: (uid, run) => {
      if (waiting.length >= waitingMax) return
      const before = quiet.take(uid)
      const runs = before === undefined ? [run] : [before, run]
      const expires = String(Math.floor(clock.nowMs() / 1_000) + secondsKept)
      waiting.push({ ...rowKey(uid, run.atMs, count++), ...packRuns(runs), [timeToLiveAttribute]: { N: expires } })
    },
    noteQuiet: quiet.count,
    read: async (uid) => {
      await flush()
      const items = await queryAll(
        options,
        'read the runs of an object',
        {
          KeyConditionExpression: 'pk = :pk',
          ExpressionAttributeValues: { ':pk': { S: partitionOf(uid) } },
          ScanIndexForward: false,
          ConsistentRead: true,
          Limit: keptRuns,
        },
        keptRuns,
      )
      const last = quiet.read(uid)
      const runs = items.toReversed().flatMap(unpackRuns)
      return (last === undefined ? runs : [...runs, last]).slice(-keptRuns)
    },
    flush,
  }
}

function partitionOf(uid: string): string {
  return `runs#${uid}`
}

/** In the order of time; of one millisecond, in the order in which a process noted them. */
function rowKey(uid: string, atMs: number, count: number): Item {
  return itemKey(partitionOf(uid), `${String(atMs).padStart(15, '0')}#${String(count).padStart(9, '0')}`)
}

/** The quiet ones before a run stand in its row. */
function packRuns(runs: readonly PastRun[]): Readonly<Record<string, AttributeValue>> {
  const text = JSON.stringify(runs)
  if (text.length <= plainMax) return { runs: { S: text } }
  const packed = deflateRawSync(text)
  const last = runs.at(-1)
  if (packed.length <= packedMax || last?.log === undefined) return { packed: { B: new Uint8Array(packed) } }
  return packRuns([...runs.slice(0, -1), shortenLog(last, last.log)])
}

/** What was said last tells most. */
function shortenLog({ log: _, ...run }: PastRun, lines: NonNullable<PastRun['log']>): PastRun {
  const log = lines.slice(Math.ceil(lines.length / 2))
  return log.length === 0 ? run : { ...run, log }
}

function unpackRuns({ runs, packed }: Item): readonly PastRun[] {
  const text = packed?.B === undefined ? runs?.S : inflateRawSync(packed.B).toString()
  if (text === undefined) throw new OperatingError('UNAVAILABLE', 'an item of the history has no run in it')
  return parseJson(text) as readonly PastRun[]
}
