import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from 'aws-lambda'
import { changeOf } from '../../adapters/aws/dynamodb/dynamodb-stream.ts'
import { backoffMs } from '../../engine/state/backoff.ts'
import { createControlRelay } from '../../engine/loops/control-loops.ts'
import { hasCode, isAway } from '../../model/errors.ts'
import type { Change } from '../../ports/change-feed.ts'
import { convertChanges } from '../../resources/converted-reads.ts'
import { openEngineServices, type FunctionOptions } from './open.ts'
import { openPublish, type Publish } from './publish.ts'
import type { QueueServices } from './services.ts'
import { lazy } from '../../model/lazy.ts'

/** A record of the table's stream. */
export interface RelayRecord {
  /** Names the record in the report of failures. */
  readonly id: string
  /** What happened, as long as it can be told; throws for a record that cannot be read: DAMAGED if it never can. */
  readonly change: () => Change | undefined
}

/**
 * Relays a batch of the stream, and names the first record that could not be. From there on the mapping gives the batch
 * again, so nothing is lost. A record that fails by itself does not stand before the others: they are relayed first,
 * each alone, and only then is it reported; in the end the mapping sets it aside. Relaying a record twice does no harm.
 * A record that is damaged is passed over at once, since no try would help; the log names its object.
 *
 * The mapping counts how often it gives a batch, and not why it came back. So while the table or a queue is away, the
 * relay tries again by itself for as long as its function may run: an outage of half an hour costs no wake-up.
 */
export type RelayBatch = (records: readonly RelayRecord[], timeMs?: number) => Promise<string | undefined>

export interface RelayBatchOptions extends QueueServices {
  /** Told of all that was relayed of a batch, once, ahead of the report. */
  readonly publish: Publish
}

/** The function behind the table's stream. */
export function createRelayFunction(
  options: FunctionOptions,
): (event: DynamoDBStreamEvent, timeMs: number) => Promise<DynamoDBBatchResponse> {
  const batch = lazy(() =>
    createRelayBatch({ ...openEngineServices(options), publish: openPublish(options.boundary, options.seeing) }),
  )
  return async ({ Records }, timeMs) => {
    const records = Records.map((record) => ({
      id: record.dynamodb?.SequenceNumber ?? '',
      change: () => changeOf(record),
    }))
    const failed = await batch()(records, timeMs)
    return { batchItemFailures: failed === undefined ? [] : [{ itemIdentifier: failed }] }
  }
}

export function createRelayBatch(options: RelayBatchOptions): RelayBatch {
  const { queueOf, logger, publish, conversions, clock, random } = options
  const relay = createControlRelay(options, queueOf)

  async function relayInTime(changes: readonly Change[], untilMs: number): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await relay(changes)
      } catch (error) {
        const pauseMs = Math.min(pauseMsMax, backoffMs(attempt, random.next()))
        if (!isAway(error) || clock.nowMs() + pauseMs + attemptMs > untilMs) throw error
        logger.warn('the relay waits for what is away', { attempt, error: String(error) })
        await clock.sleep(pauseMs)
      }
    }
  }

  /** Those that are not damaged, each read once. */
  function listReadable(records: readonly RelayRecord[]): readonly RelayRecord[] {
    return records.flatMap((record) => {
      try {
        const change = record.change()
        return { id: record.id, change: () => change }
      } catch (error) {
        if (!hasCode(error, 'DAMAGED')) return record
        logger.error('stream record passed over', { record: record.id, error: String(error) })
        return []
      }
    })
  }

  async function all(records: readonly RelayRecord[], { untilMs, relayed }: Relaying): Promise<void> {
    const changes = convertChanges(
      records.flatMap((record) => record.change() ?? []),
      conversions,
    )
    await relayInTime(changes, untilMs)
    relayed.push(...changes)
  }

  async function oneByOne(records: readonly RelayRecord[], relaying: Relaying): Promise<string | undefined> {
    let first: string | undefined
    for (const record of records) {
      try {
        await all([record], relaying)
      } catch (error) {
        first ??= record.id
        logger.error('stream record not relayed', { record: record.id, error: textOf(error) })
        if (isAway(error)) return first
      }
    }
    return first
  }

  return async (given, timeMs = 0) => {
    const records = listReadable(given)
    const relaying: Relaying = { untilMs: clock.nowMs() + timeMs, relayed: [] }
    let failed: string | undefined
    try {
      await all(records, relaying)
    } catch (error) {
      failed = isAway(error) ? records[0]?.id : await oneByOne(records, relaying)
      logger.warn('a part of the stream will be read again', { from: failed ?? '', error: textOf(error) })
    }
    await publish(relaying.relayed, relaying.untilMs)
    return failed
  }
}

interface Relaying {
  readonly untilMs: number
  /** Grows. */
  readonly relayed: Change[]
}

const pauseMsMax = 5_000
/** What an attempt may take whose requests get no answer. */
const attemptMs = 15_000

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
