import { createPrometheusTelemetry } from '../../adapters/local/prometheus-telemetry.ts'
import type { Page, PlaneOperation } from '../../api/call.ts'
import type { ComputedObjects } from '../../api/computed/computed-objects.ts'
import { doctorReport } from '../../engine/insight/doctor.ts'
import { OperatingError } from '../../model/errors.ts'
import { budgetObjects } from '../computed/budget-objects.ts'
import { timerObjects } from '../computed/timer-objects.ts'
import { parseRetryBudget } from '../retry-setting.ts'
import { logLevelOf, type Environment } from './environment.ts'
import { awsQueueObjects, type AwsQueuesSource } from './queue-objects.ts'
import type { AwsServices } from './services.ts'

const type = 'text/plain; charset=utf-8'

/** What the API serves beside objects, as on one machine; numbers are in CloudWatch. */
export function awsPages({ controllers }: AwsServices, environment: Environment): ReadonlyMap<string, Page> {
  // What a doctor knows of runs is in the metrics of the functions: the definitions tell the rest.
  const { valueOf } = createPrometheusTelemetry()
  return new Map<string, Page>([
    ['doctor', { type, text: () => doctorReport(controllers, valueOf) }],
    ['log-level', { type, text: () => `${logLevelOf(environment)}\n` }],
  ])
}

/** What people see of queues, timers and budgets. */
export function awsComputed(source: AwsQueuesSource, environment: Environment): readonly ComputedObjects[] {
  const retryBudget = parseRetryBudget(environment['SETPOINT_RETRY_BUDGET'])
  return [awsQueueObjects(source), timerObjects(source), budgetObjects({ ...source, retryBudget, runsElsewhere: true })]
}

/** The level of a function is one of its variables. */
export const setLogLevelElsewhere: PlaneOperation = () => {
  throw new OperatingError('BAD_REQUEST', 'on AWS the log level is deployed: set `logLevel` of the ControlPlane')
}
