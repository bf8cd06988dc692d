import { metrics } from '../../model/metrics.ts'
import type { Telemetry } from '../../ports/telemetry.ts'
import type { Verdict } from '../../reconciler/verdict.ts'
import type { WriteEffect, OutsideCall, RunEffects } from './run-effects.ts'

/** A run that is over. */
export interface RunRecord {
  readonly verdict: Verdict
  readonly ms: number
  readonly effects: RunEffects
  /** The object had converged, and nothing had changed that the control plane knows of. */
  readonly wasSteady: boolean
  /** How long the change took that this run has observed, if it was one and its time is known. */
  readonly convergedMs: number | undefined
  /** The run observed a change that no wake-up had told of. */
  readonly isRepair: boolean
  /** The failure is one of a row of equal ones. */
  readonly isRepeated: boolean
}

/** The counters of one controller's runs, all of them there from the start. */
export function createRunMetrics(name: string, telemetry: Telemetry): (run: RunRecord) => void {
  const controller = { controller: name }
  const result = (of: Result) => telemetry.counter(metrics.reconcileTotal, { ...controller, result: of })
  const results = {
    success: result('success'),
    error: result('error'),
    requeue: result('requeue'),
    requeue_after: result('requeue_after'),
  }
  const steady = (of: SteadyResult) => telemetry.counter(metrics.steadyRuns, { ...controller, result: of })
  const steadyRuns = { quiet: steady('quiet'), wrote: steady('wrote'), requeued: steady('requeued') }
  const wrote = (of: WriteEffect) => telemetry.counter(metrics.writes, { ...controller, result: of })
  const writes = {
    created: wrote('created'),
    updated: wrote('updated'),
    unchanged: wrote('unchanged'),
    deleted: wrote('deleted'),
  }
  const failed = telemetry.counter(metrics.reconcileErrors, controller)
  const stopped = telemetry.counter(metrics.terminalErrors, controller)
  const timedOut = telemetry.counter(metrics.timeouts, controller)
  const repeated = telemetry.counter(metrics.repeatedErrors, controller)
  const retried = telemetry.counter(metrics.retries, { name, ...controller })
  const took = telemetry.histogram(metrics.reconcileSeconds, controller)
  const converged = telemetry.histogram(metrics.timeToConverge, controller)
  const repaired = telemetry.counter(metrics.repairs, controller)
  const drifted = telemetry.counter(metrics.driftFound, controller)
  const read = telemetry.counter(metrics.reads, controller)
  const outside = outsideCounters(controller, telemetry)

  const countVerdict = (verdict: Verdict): void => {
    results[resultOf(verdict)]()
    if (verdict.kind === 'failed') retried()
    if (verdict.kind === 'stopped') stopped()
    if (isError(verdict)) failed()
    if (verdict.kind === 'failed' && verdict.reason === 'DeadlineExceeded') timedOut()
  }

  return (run) => {
    const { reads, written, drift } = run.effects
    took(run.ms / 1_000)
    countVerdict(run.verdict)
    if (reads > 0) read(reads)
    for (const outcome in written)
      if (written[outcome as WriteEffect] > 0) writes[outcome as WriteEffect](written[outcome as WriteEffect])
    if (drift > 0) drifted(drift)
    for (const [call, times] of run.effects.outside ?? []) outside.get(call)?.(times)
    if (run.wasSteady) steadyRuns[steadyResult(run)]()
    if (run.convergedMs !== undefined) converged(run.convergedMs / 1_000)
    if (run.isRepair) repaired()
    if (run.isRepeated) repeated()
  }
}

function outsideCounters(
  controller: { readonly controller: string },
  telemetry: Telemetry,
): ReadonlyMap<OutsideCall, (by?: number) => void> {
  const verbs = ['get', 'find', 'create', 'update', 'delete'] as const
  return new Map(
    verbs.flatMap((verb) =>
      (['success', 'error'] as const).map(
        (result) =>
          [`${verb} ${result}`, telemetry.counter(metrics.outsideCalls, { ...controller, verb, result })] as const,
      ),
    ),
  )
}

type Result = 'success' | 'error' | 'requeue' | 'requeue_after'
type SteadyResult = 'quiet' | 'wrote' | 'requeued'

function resultOf(verdict: Verdict): Result {
  switch (verdict.kind) {
    case 'done':
      return 'success'
    case 'again':
    case 'retryAfter':
      return 'requeue_after'
    case 'failed':
      return verdict.quiet ? 'requeue' : 'error'
    case 'stopped':
      return 'error'
  }
}

function isError(verdict: Verdict): boolean {
  return resultOf(verdict) === 'error'
}

function steadyResult({ verdict, effects: { written } }: RunRecord): SteadyResult {
  if (written.created + written.updated + written.deleted > 0) return 'wrote'
  return verdict.kind === 'again' && (verdict.ready ?? true) === true ? 'requeued' : 'quiet'
}
