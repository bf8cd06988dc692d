import { createDynamodbAllowances } from '../../adapters/aws/dynamodb/dynamodb-allowances.ts'
import { createDynamodbChangeFeed } from '../../adapters/aws/dynamodb/dynamodb-change-feed.ts'
import { createDynamodbCheckpoint } from '../../adapters/aws/dynamodb/dynamodb-checkpoint.ts'
import { createDynamodbClient } from '../../adapters/aws/dynamodb/dynamodb-client.ts'
import { createDynamodbInHand } from '../../adapters/aws/dynamodb/dynamodb-in-hand.ts'
import { createDynamodbIndex } from '../../adapters/aws/dynamodb/dynamodb-index.ts'
import { wholeShare, type Share } from '../../adapters/aws/dynamodb/dynamodb-keys.ts'
import { createDynamodbNetted } from '../../adapters/aws/dynamodb/dynamodb-netted.ts'
import type { DynamodbOptions } from '../../adapters/aws/dynamodb/dynamodb-requests.ts'
import { createDynamodbReservations } from '../../adapters/aws/dynamodb/dynamodb-reservations.ts'
import { createDynamodbRunHistory } from '../../adapters/aws/dynamodb/dynamodb-run-history.ts'
import { createDynamodbStore } from '../../adapters/aws/dynamodb/dynamodb-store.ts'
import type { Checkpoint } from '../../ports/checkpoint.ts'
import type { Logger } from '../../ports/logger.ts'
import type { AwsBoundary } from './boundary.ts'
import { keptRunsOf, tableNameOf, tableSwitchOf, type Environment } from './environment.ts'
import { keepFailures, type FlushedHistory } from './kept-runs.ts'
import type { TablePorts } from './services.ts'
import { createUsedSince } from './table-switch.ts'

export interface AwsTableOptions {
  /** So long a request is tried again that is throttled, or gets no answer. */
  readonly patienceMs: number
  /** Of the objects, for timers and wheel. Default: all. */
  readonly share?: Share | undefined
  /** Told of runs that could not be written down. Left out, none are. */
  readonly logger?: Logger
}

/** What is kept in the table. */
export function openAwsTable(
  boundary: AwsBoundary,
  { patienceMs, share = wholeShare, logger }: AwsTableOptions,
): TablePorts {
  const { environment, dynamodb, clock, random } = boundary
  const options = { client: createDynamodbClient(dynamodb), table: tableNameOf(environment), clock, random, patienceMs }
  const checkpoint = (name: string): Checkpoint => createDynamodbCheckpoint({ ...options, name })
  const id = tableSwitchOf(environment)
  return {
    ...(logger && historyOf(options, environment, logger)),
    store: createDynamodbStore(options),
    index: createDynamodbIndex({ ...options, share }),
    feed: createDynamodbChangeFeed({
      ...options,
      ...(id !== undefined && { usedSinceMs: createUsedSince({ id, note: checkpoint('table'), clock }) }),
    }),
    listNetted: createDynamodbNetted({ ...options, share }),
    inHand: createDynamodbInHand(options),
    reserve: createDynamodbReservations(options),
    allowances: createDynamodbAllowances(options),
    checkpoint,
  }
}

function historyOf(
  options: DynamodbOptions,
  environment: Environment,
  logger: Logger,
): { readonly history?: FlushedHistory } {
  const kept = keptRunsOf(environment)
  if (kept === 'none') return {}
  const report = (error: unknown): void => logger.error('runs are not kept', { error: String(error) })
  const history = createDynamodbRunHistory({ ...options, patienceMs: historyPatienceMs, report })
  return { history: kept === 'all' ? history : keepFailures(history) }
}

/** The answer to the queue waits for it. */
const historyPatienceMs = 1_000
