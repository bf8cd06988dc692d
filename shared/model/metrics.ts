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
    'Runs by how they ended: success, error, requeue (at once, after a conflict), requeue_after.',
  ),
  reconcileErrors: counter('controller_runtime_reconcile_errors_total', ofController, 'Runs that failed or stopped.'),
  terminalErrors: counter(
    'controller_runtime_terminal_reconcile_errors_total',
    ofController,
    'Runs that stopped: nothing is tried again until something changes.',
  ),
  timeouts: counter(
    'controller_runtime_reconcile_timeouts_total',
    ofController,
    "Runs that were ended by the controller's timeout.",
  ),
  reconcileSeconds: histogram(
    'controller_runtime_reconcile_time_seconds',
    ofController,
    'How long runs took, the write of what they changed included.',
    runBuckets,
  ),
  activeWorkers: gauge('controller_runtime_active_workers', ofController, 'Keys that have their turn now.'),
  maxConcurrent: gauge(
    'controller_runtime_max_concurrent_reconciles',
    ofController,
    'Keys that may have their turn at once.',
  ),

  queueDepth: gauge('workqueue_depth', ofQueue, 'Keys that wait and could run now.'),
  queueAdds: counter('workqueue_adds_total', ofQueue, 'Wake-ups sent; those of one key are merged while it waits.'),
  queueSeconds: histogram(
    'workqueue_queue_duration_seconds',
    ofQueue,
    'How long keys that could run waited for their turn.',
    waitBuckets,
  ),
  workSeconds: histogram('workqueue_work_duration_seconds', ofQueue, 'How long turns took.', runBuckets),
  retries: counter('workqueue_retries_total', ofQueue, 'Turns that are taken again because of a failure.'),
  unfinishedSeconds: gauge(
    'workqueue_unfinished_work_seconds',
    ofQueue,
    'How long the turns that are not over have taken so far, together.',
  ),
  longestRunningSeconds: gauge(
    'workqueue_longest_running_processor_seconds',
    ofQueue,
    'How long the oldest turn that is not over has taken so far.',
  ),

  queueOldest: gauge(
    'setpoint_queue_oldest_seconds',
    ofController,
    'How long the key has waited that has waited longest and could run now.',
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
    'Changes that no wake-up had told of and the resync found. Stays 0.',
  ),
  driftFound: counter(
    'setpoint_drift_found_total',
    ofController,
    'Children of converged objects, and things outside, that were missing or changed by somebody else, and were mended.',
  ),
  outsideCalls: counter(
    'setpoint_outside_calls_total',
    ['controller', 'verb', 'result'],
    "Calls of somebody else's API by external reconcilers: get, find, create, update, delete; by success or error.",
  ),
  steadyRuns: counter(
    'setpoint_steady_runs_total',
    ['controller', 'result'],
    'Runs that found the desired state observed already: quiet (nothing written), wrote, requeued (asked to run again).',
  ),
  repeatedErrors: counter(
    'setpoint_repeated_errors_total',
    ofController,
    'Failures with the same message five times in a row or more: often "not ready yet", said by an error.',
  ),
  advice: counter(
    'setpoint_advice_total',
    ['controller', 'advice'],
    'Times that a reconciler did what its author should look at; the log says what, once an hour.',
  ),
  reads: counter('setpoint_reads_total', ofController, 'Objects and lists that runs read.'),
  writes: counter(
    'setpoint_writes_total',
    ['controller', 'result'],
    'Writes that runs asked for: created, updated, deleted, unchanged (asked for, but equal).',
  ),

  requests: counter(
    'apiserver_request_total',
    [...ofRequest, 'code'] as const,
    'Requests for resources by their HTTP status; watches when they open.',
  ),
  requestSeconds: histogram(
    'apiserver_request_duration_seconds',
    ofRequest,
    'How long requests for resources took; watches are left out.',
    requestBuckets,
  ),
  openWatches: gauge('apiserver_longrunning_requests', ofRequest, 'Watches that are open.'),

  damagedObjects: gauge(
    'setpoint_damaged_objects',
    [],
    'Objects that were found damaged in the database and cannot be read; /doctor names them.',
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
