import { reportStatus } from '../../model/apply/report-status.ts'
import {
  asJson,
  conditionOf,
  conditionsOf,
  patchConditions,
  type Condition,
  type ConditionPatch,
  type ConditionPatches,
} from '../../model/conditions.ts'
import { reconcileRequestAnnotation } from '../../model/control-annotations.ts'
import type { JsonObject } from '../../model/json.ts'
import type { ApiObject } from '../../model/object.ts'
import type { Report } from '../../reconciler/outcome.ts'
import { observes, type Verdict } from '../../reconciler/verdict.ts'
import type { RunFacts } from './run-facts.ts'
import { reportedPart } from '../../model/status-fields.ts'

/** The object with the status that a verdict gives it: what the run reports, the conditions, what was observed. */
export function nextStatus(live: ApiObject, verdict: Verdict, facts: RunFacts): ApiObject {
  const { status: current = {} } = live
  const own = reportedPart(current)
  const { status: reported } = reportOf(verdict)
  if (reported === undefined) return withStatus(live, own, verdict, facts)
  if (facts.reporter === undefined) return withStatus(live, reported, verdict, facts)
  const { status, metadata } = reportStatus({ ...facts.reporter, live, current: own, reported })
  return withStatus(metadata === live.metadata ? live : { ...live, metadata }, status, verdict, facts)
}

function withStatus(live: ApiObject, own: JsonObject, verdict: Verdict, facts: RunFacts): ApiObject {
  const conditions = nextConditions(live, verdict, facts)
  const observed = observes(verdict)
    ? Math.max(facts.generation, observedGenerationOf(live))
    : // A failed run has not observed its generation, and undoes no newer observation.
      observedGenerationOf(live)
  const status: JsonObject = {
    ...own,
    ...(conditions.length > 0 && { conditions: asJson(conditions) }),
    ...(observed > 0 && { observedGeneration: observed }),
    ...handledRequest(live, facts),
  }
  if (Object.keys(status).length > 0) return { ...live, status }
  const { status: _, ...rest } = live
  return rest
}

/** "Reconcile now": the token of the request that this run has answered. A later one is for the next. */
function handledRequest({ metadata, status }: ApiObject, facts: RunFacts): JsonObject {
  const asked = metadata.annotations?.[reconcileRequestAnnotation]
  if (asked === undefined) return {}
  const handled = 'request' in facts ? (facts.request ?? status?.['lastHandledReconcileAt']) : asked
  return handled === undefined ? {} : { lastHandledReconcileAt: handled }
}

function nextConditions(live: ApiObject, verdict: Verdict, facts: RunFacts): readonly Condition[] {
  const patches = {
    ...(facts.probeAtMs === undefined && { HotLoop: null }),
    ...conditionsOfVerdict(verdict, conditionOf(live, 'Ready')),
    ...reportOf(verdict).conditions,
  }
  return patchConditions(conditionsOf(live), patches, facts)
}

/**
 * The generation that the status says was observed. 0 if it says none, or one that is yet to come: anybody may write a
 * status.
 */
export function observedGenerationOf({ metadata: { generation }, status }: ApiObject): number {
  const observed = status?.['observedGeneration']
  return typeof observed === 'number' && observed <= generation ? observed : 0
}

function reportOf(verdict: Verdict): Pick<Report, 'status' | 'conditions'> {
  return verdict.kind === 'done' || verdict.kind === 'again' ? verdict : (verdict.report ?? {})
}

const untroubled = { Stalled: null, Paused: null } as const

function conditionsOfVerdict(verdict: Verdict, ready: Condition | undefined): ConditionPatches {
  switch (verdict.kind) {
    case 'done':
      return { ...untroubled, Ready: readiness(verdict.ready ?? true) }
    case 'again':
      if (verdict.ready !== undefined) return { ...untroubled, Ready: readiness(verdict.ready) }
      return ready === undefined || ready.reason === 'Pending' ? { ...untroubled, Ready: requeued } : untroubled
    case 'failed':
      if (verdict.quiet) return untroubled
      return { ...untroubled, Ready: { status: 'False', reason: verdict.reason, message: verdict.message } }
    case 'retryAfter':
      return { ...untroubled, Ready: { status: 'False', reason: 'RetryAfter', message: verdict.message } }
    case 'stopped': {
      const { reason, message } = verdict
      const Stalled = { status: 'True', reason, message } as const
      return { Paused: null, Ready: { status: 'False', reason, message }, Stalled }
    }
  }
}

/** Of an object of which no run has said anything yet. */
const requeued: ConditionPatch = {
  status: 'Unknown',
  reason: 'Requeued',
  message: 'the last run asked for another run',
}

function readiness(ready: NonNullable<Report['ready']>): ConditionPatch {
  return ready === true ? { status: 'True', reason: 'Reconciled' } : { status: 'False', ...ready }
}
