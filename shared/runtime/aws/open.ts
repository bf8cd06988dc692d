import { createStsRoles } from '../../adapters/aws/sign-in/sts-roles.ts'
import type { Share } from '../../adapters/aws/dynamodb/dynamodb-keys.ts'
import type { Vault } from '../../ports/vault.ts'
import type { Controller } from '../../reconciler/controller.ts'
import { parseRetryBudget } from '../retry-setting.ts'
import type { AwsBoundary, Seeing } from './boundary.ts'
import { openAwsQueues, type AwsQueues } from './queues.ts'
import { createAwsServices, type QueueServices } from './services.ts'
import { openAwsTable } from './table.ts'

/** A function as it is made: where it stands, how it is seen, and whose objects it works for. */
export interface FunctionOptions {
  readonly boundary: AwsBoundary
  readonly seeing: Seeing
  readonly controllers: readonly Controller[]
  /** Left out where no reconciler reads or writes secrets of AWS. */
  readonly openVault?: ((boundary: AwsBoundary) => Vault) | undefined
}

/**
 * For the functions of the engine: the table and the queues. A definition that was changed is known to all of them
 * within five minutes.
 */
export function openEngineServices(
  { boundary, seeing, controllers, openVault }: FunctionOptions,
  share?: Share,
): QueueServices & AwsQueues {
  const ports = openAwsTable(boundary, { patienceMs, share, logger: seeing.logger })
  const retryBudget = parseRetryBudget(boundary.environment['SETPOINT_RETRY_BUDGET'])
  const services = createAwsServices({ boundary, ports, controllers, retryBudget, kindsMaxAgeMs: 300_000, ...seeing })
  const roles = createStsRoles({ client: boundary.sts ?? {}, clock: boundary.clock })
  const vault = openVault?.(boundary)
  return { ...services, roles, ...(vault && { vault }), ...openAwsQueues(boundary, controllers, ports.checkpoint) }
}

/** Less than a function has left when it writes down how its runs went. */
const patienceMs = 3_000
