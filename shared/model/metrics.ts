/**
 * Every metric there is. Names and labels are controller-runtime's, client-go's and the Kubernetes apiserver's where
 * they have one for the same thing, so that dashboards and alerts written for them work; what nobody else has is named
 * `setpoint_…`.
 *
 * Label values come from closed sets: controllers, kinds that are served, verbs, outcomes. Never the name of an object.
 */
export interface Metric<Type extends MetricType = MetricType, Label extends string = string> {
  readonly name: string
  readonly type: Type
  readonly help: string
  readonly labels: readonly Label[]
  /** Upper bounds, ascending, without infinity; of a histogram. */
  readonly buckets?: readonly number[]
}

export type MetricType = 'counter' | 'gauge' | 'histogram'

/** A value for each label of a metric. */
export type Labels<Label extends string = string> = { readonly [name in Label]: string }

const runBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]
const waitBuckets = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 1_000]
const convergeBuckets = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3_600]
const requestBuckets = [0.005, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

const ofController = ['controller'] as const
const ofQueue = ['name', 'controller'] as const
const ofRequest = ['verb', 'group', 'resource', 'subresource'] as const

export const metrics = {
  reconcileTotal: counter(
    'controller_runtime_reconcile_total',
    ['controller', 'result'],
    'Runs by result: success, error, requeue (at once, after a conflict), requeue_after.',
  ),
  reconcileErrors: counter('controller_runtime_reconcile_errors_total', ofController, 'Runs that failed or stopped.'),
  terminalErrors: counter(
    'controller_runtime_terminal_reconcile_errors_total',
    ofController,
    'Runs that stopped: the object does not run again before a change or the resync.',
  ),
  timeouts: counter(
    'controller_runtime_reconcile_timeouts_total',
    ofController,
    "Runs that were ended by the controller's timeout.",
  ),
  reconcileSeconds: histogram(
    'controller_runtime_reconcile_time_seconds',
    ofController,
    'Duration of runs, with the write at their end.',
    runBuckets,
  ),
  activeWorkers: gauge('controller_runtime_active_workers', ofController, 'Keys that run now.'),
  maxConcurrent: gauge(
    'controller_runtime_max_concurrent_reconciles',
    ofController,
    'Keys that may run at the same time.',
  ),

  queueDepth: gauge('workqueue_depth', ofQueue, 'Keys that wait and could run now.'),
  queueAdds: counter('workqueue_adds_total', ofQueue, 'Wake-ups sent; the wake-ups of one waiting key are merged.'),
  queueSeconds: histogram(
    'workqueue_queue_duration_seconds',
    ofQueue,
    'Wait of keys that could run, until their run began.',
    waitBuckets,
  ),
  workSeconds: histogram('workqueue_work_duration_seconds', ofQueue, 'Duration of turns.', runBuckets),
  retries: counter('workqueue_retries_total', ofQueue, 'Turns that are repeated after a failure.'),
  unfinishedSeconds: gauge(
    'workqueue_unfinished_work_seconds',
    ofQueue,
    'Sum of the time that the running turns have taken so far.',
  ),
  longestRunningSeconds: gauge(
    'workqueue_longest_running_processor_seconds',
    ofQueue,
    'Time that the longest running turn has taken so far.',
  ),

  queueOldest: gauge(
    'setpoint_queue_oldest_seconds',
    ofController,
    'Wait of the key that could run now and has waited longest.',
  ),
  timeToConverge: histogram(
    'setpoint_time_to_converge_seconds',
    ofController,
    'From the moment a change of the desired state was accepted to the moment it was observed.',
    convergeBuckets,
  ),
  oldestUnconverged: gauge(
    'setpoint_oldest_unconverged_seconds',
    ofController,
    'Age of the oldest change that has not been observed; 0 if there is none.',
  ),
  repairs: counter(
    'setpoint_repairs_total',
    ofController,
    'Changes that were found by the resync, because their wake-up was lost. Should stay 0.',
  ),
  driftFound: counter(
    'setpoint_drift_found_total',
    ofController,
    'Children of converged objects and entities outside that were missing or changed by others, and were corrected.',
  ),
  outsideCalls: counter(
    'setpoint_outside_calls_total',
    ['controller', 'verb', 'result'],
    'Calls of remote APIs by external reconcilers, by verb (get, find, create, update, delete) and result (success, error).',
  ),
  steadyRuns: counter(
    'setpoint_steady_runs_total',
    ['controller', 'result'],
    'Runs of objects that had converged before: quiet (nothing written), wrote, requeued (asked for another run).',
  ),
  repeatedErrors: counter(
    'setpoint_repeated_errors_total',
    ofController,
    'Failures with the same message five times in a row or more: often "not ready yet", reported as an error.',
  ),
  advice: counter(
    'setpoint_advice_total',
    ['controller', 'advice'],
    'Times that a reconciler did something its author should check; the log names it once an hour.',
  ),
  reads: counter('setpoint_reads_total', ofController, 'Objects and lists that runs read.'),
  writes: counter(
    'setpoint_writes_total',
    ['controller', 'result'],
    'Writes of runs by result: created, updated, deleted, unchanged (equal, so not written).',
  ),

  requests: counter(
    'apiserver_request_total',
    [...ofRequest, 'code'] as const,
    'Requests for resources by HTTP status; a watch counts when it opens.',
  ),
  requestSeconds: histogram(
    'apiserver_request_duration_seconds',
    ofRequest,
    'Duration of requests for resources, without watches.',
    requestBuckets,
  ),
  openWatches: gauge('apiserver_longrunning_requests', ofRequest, 'Watches that are open.'),

  damagedObjects: gauge(
    'setpoint_damaged_objects',
    [],
    'Objects that are damaged in the database and cannot be read; /doctor names them.',
  ),

  processCpuSeconds: counter('process_cpu_seconds_total', [], 'CPU time of the process, user and system.'),
  processResidentBytes: gauge('process_resident_memory_bytes', [], 'Memory of the process.'),
  processStartSeconds: gauge('process_start_time_seconds', [], 'When the process began, in seconds since 1970.'),
  heapUsedBytes: gauge('nodejs_heap_size_used_bytes', [], 'JavaScript heap in use.'),
} as const

function counter<const Label extends string>(
  name: string,
  labels: readonly Label[],
  help: string,
): Metric<'counter', Label> {
  return { name, type: 'counter', help, labels }
}

function gauge<const Label extends string>(
  name: string,
  labels: readonly Label[],
  help: string,
): Metric<'gauge', Label> {
  return { name, type: 'gauge', help, labels }
}

function histogram<const Label extends string>(
  name: string,
  labels: readonly Label[],
  ...[help, buckets]: [help: string, buckets: readonly number[]]
): Metric<'histogram', Label> {
  return { name, type: 'histogram', help, labels, buckets }
}
