import { budgetKind } from '../../api/computed/computed-kinds.ts'
import { computedObject, type ComputedObjects } from '../../api/computed/computed-objects.ts'
import { digest } from '../../model/digest.ts'
import type { JsonObject } from '../../model/json.ts'
import type { ApiObject } from '../../model/object.ts'
import type { Rate } from '../../model/reservations.ts'
import { microTimestamp } from '../../model/time.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Controller } from '../../reconciler/controller.ts'
import { pageOf } from './page-of.ts'

export interface BudgetsSource {
  readonly controllers: readonly Controller[]
  readonly clock: Clock
  /** What all controllers together may spend on retries. */
  readonly retryBudget: Rate | undefined
  /** How much of it is left; left out where runs are in other processes, which count together. */
  readonly retriesLeft?: (() => number) | undefined
  readonly runsElsewhere?: true
}

/** What bounds the runs: of all retries together, of each controller and its objects, and of calls of far sides. */
export function budgetObjects(source: BudgetsSource): ComputedObjects {
  const all = (): readonly ApiObject[] => [...retries(source), ...source.controllers.flatMap((one) => of(one, source))]
  return {
    kind: budgetKind,
    list: async (query) => pageOf(all(), query),
    find: async ({ name }) => all().find(({ metadata }) => metadata.name === name),
  }
}

function retries({ retryBudget, retriesLeft }: BudgetsSource): readonly ApiObject[] {
  if (retryBudget === undefined) return []
  const left = retriesLeft === undefined ? { message: 'counted in the table' } : { left: retriesLeft() }
  return [budget('retries', { bounds: 'Retries', ...rateOf(retryBudget), ...left })]
}

function of(controller: Controller, source: BudgetsSource): readonly ApiObject[] {
  const { name, controllerLimit, objectLimit, concurrency } = controller
  const runs = controllerLimit && { bounds: 'Runs', ...rateOf(controllerLimit) }
  const perObject = objectLimit && {
    bounds: 'RunsPerObject',
    max: objectLimit.runs,
    withinSeconds: objectLimit.withinMs / 1_000,
  }
  return [
    budget(`${name}.concurrency`, { controller: name, bounds: 'Concurrency', max: concurrency }),
    ...(runs === undefined ? [] : [budget(`${name}.runs`, { controller: name, ...runs })]),
    ...(perObject === undefined ? [] : [budget(`${name}.runs-per-object`, { controller: name, ...perObject })]),
    ...calls(controller, source),
  ]
}

/** The name of an account may be a secret, such as a token: a digest tells accounts apart. */
function calls({ name, callBudgets }: Controller, { clock, runsElsewhere }: BudgetsSource): readonly ApiObject[] {
  if (callBudgets === undefined) return []
  const head = { controller: name, bounds: 'Calls' }
  const seen = callBudgets()
  const message = runsElsewhere
    ? 'known to the functions that call; accounts with a name are counted in the table'
    : 'no run of this process has called yet'
  if (seen.length === 0) return [budget(`${name}.calls`, { ...head, message })]
  const nowMs = clock.nowMs()
  return seen.map(({ order, budget: used }) => {
    const account = used.counted && digest(used.counted.account)
    const { closedUntilMs, ...reading } = used.read?.(nowMs) ?? { perSecond: used.perSecond(nowMs) }
    return budget(`${name}.calls-${account ?? order}`, {
      ...head,
      ...(account === undefined ? {} : { account }),
      ...reading,
      ...(closedUntilMs === undefined ? {} : { closedUntil: microTimestamp(closedUntilMs) }),
    })
  })
}

function budget(name: string, status: JsonObject): ApiObject {
  return computedObject(budgetKind, { namespace: '', name }, status)
}

function rateOf({ perSecond, burst }: Rate): JsonObject {
  return { perSecond, burst }
}
