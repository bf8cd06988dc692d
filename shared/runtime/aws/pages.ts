import { createPrometheusTelemetry } from '../../adapters/local/prometheus-telemetry.ts'
import type { Page, PlaneOperation } from '../../api/call.ts'
import { doctorReport } from '../../engine/insight/doctor.ts'
import { createControlLoops } from '../../engine/loops/control-loops.ts'
import { OperatingError } from '../../model/errors.ts'
import { budgetsPage, timersPage } from '../plane-pages.ts'
import { parseRetryBudget } from '../retry-setting.ts'
import { formatTable } from '../text-table.ts'
import { logLevelOf, type Environment } from './environment.ts'
import type { AwsQueues } from './queues.ts'
import type { QueueServices } from './services.ts'

const type = 'text/plain; charset=utf-8'

/** What the API serves beside objects, as on one machine; numbers are in CloudWatch. */
export function awsPages(
  services: QueueServices & Pick<AwsQueues, 'depthOf' | 'capacityOf'>,
  environment: Environment,
): ReadonlyMap<string, Page> {
  const { controllers } = services
  // What a doctor knows of runs is in the metrics of the functions: the definitions tell the rest.
  const { valueOf } = createPrometheusTelemetry()
  const retryBudget = parseRetryBudget(environment['SETPOINT_RETRY_BUDGET'])
  return new Map<string, Page>([
    ['doctor', { type, text: () => doctorReport(controllers, valueOf) }],
    ['queue', { type, text: () => tellQueues(services) }],
    ['timers', timersPage(services)],
    ['budgets', budgetsPage({ controllers, retryBudget, retriesLeft: () => 'kept in the table' })],
    ['log-level', { type, text: () => `${logLevelOf(environment)}\n` }],
  ])
}

/** SQS tells how many messages there are, and not which. */
async function tellQueues(services: QueueServices & Pick<AwsQueues, 'depthOf' | 'capacityOf'>): Promise<string> {
  const loops = Map.groupBy(createControlLoops(services), (loop) => services.capacityOf(loop).queue)
  const rows = await Promise.all(
    [...loops].map(async ([queue, [loop, ...others]]) => {
      const depth = loop === undefined ? 0 : await services.depthOf(loop)
      const users = others.length === 0 ? (loop?.name ?? '') : `${others.length + 1} controllers`
      return [queue.slice(queue.lastIndexOf('/') + 1), users, `about ${depth}`]
    }),
  )
  return formatTable([['QUEUE', 'OF', 'MESSAGES'], ...rows])
}

/** The level of a function is one of its variables. */
export const setLogLevelElsewhere: PlaneOperation = () => {
  throw new OperatingError('BAD_REQUEST', 'on AWS the log level is deployed: set `logLevel` of the ControlPlane')
}
