import { asJson, conditionOf, conditionsOf, patchConditions, type ConditionPatch } from '../../model/conditions.ts'
import { absentIfNotFound, DefinitionError } from '../../model/errors.ts'
import { isSubdomain } from '../../model/metadata.ts'
import type { ApiObject } from '../../model/object.ts'
import type { Context } from '../context.ts'
import type { Controller } from '../controller.ts'
import type { Kind } from '../kind.ts'
import { modify } from '../modify.ts'
import { reportOf, withReport, type Outcome } from '../outcome.ts'
import { Canary, versionPattern } from './canary-kind.ts'
import { isInShare } from './decide-canary.ts'

/** On an object that has begun to run a version on trial: the version is its reason. Unknown until a run has ended. */
export const canaryCondition = 'Canary'

type Runs = Pick<Controller, 'reconcile' | 'cleanup'>

/** New code beside the old one. */
export interface CanaryRuns extends Runs {
  readonly version: string
}

/** The reconciler whose code is on trial. */
export interface Tried {
  readonly name: string
  readonly kind: Kind
}

/**
 * Runs the new code for the objects in the share that the Canary of this reconciler's name says, and the old code for
 * all others. The condition says which code made an object what it is, so that it is cleaned up by the same.
 */
export function withCanary({ name, kind }: Tried, stable: Runs, { version, ...trial }: CanaryRuns): Runs {
  if (!versionPattern.test(version))
    throw new DefinitionError(`${name}: the canary's version must be letters, digits and _, not "${version}"`)
  if (!isSubdomain(name))
    throw new DefinitionError(`${name}: no Canary can have this name: write it in small letters, digits, - and .`)
  const { cleanup: stableCleanup } = stable
  const { cleanup = stableCleanup } = trial
  return {
    reconcile: async (object, ctx) => {
      if (await isOnTrial(object, ctx, { name, version })) {
        await markBegun(object, ctx, { kind, version })
        return marked(() => trial.reconcile(object, ctx), version)
      }
      const isMarked = conditionOf(object, canaryCondition) !== undefined
      return isMarked ? unmarked(() => stable.reconcile(object, ctx)) : stable.reconcile(object, ctx)
    },
    ...(stableCleanup !== undefined && {
      cleanup: async (object, ctx) => {
        const isOfTrial = conditionOf(object, canaryCondition)?.reason === version
        return (isOfTrial ? (cleanup ?? stableCleanup) : stableCleanup)(object, ctx)
      },
    }),
  }
}

interface Named {
  readonly name: string
  readonly version: string
}

async function isOnTrial({ metadata }: ApiObject, ctx: Context, { name, version }: Named): Promise<boolean> {
  // Where the kind is not served, there is no Canary: on AWS its definition comes with the first tick.
  const { spec, status } = (await absentIfNotFound(ctx.get(Canary, { name, namespace: '' }))) ?? {}
  if (spec?.version !== version || status?.version !== version) return false
  return isInShare(metadata.uid, status.share ?? 0)
}

/**
 * Durable before the new code begins: that may run out of its time or end its process, which tells of nothing. What it
 * made by then is its own to clean up, and that it is not ready counts.
 */
async function markBegun(
  object: ApiObject,
  ctx: Context,
  { kind, version }: { readonly kind: Kind; readonly version: string },
): Promise<void> {
  if (conditionOf(object, canaryCondition)?.reason === version) return
  const { name, namespace = '', generation } = object.metadata
  const begun: ConditionPatch = { status: 'Unknown', reason: version, message: `version ${version} runs` }
  await modify(ctx, {
    kind,
    at: { name, namespace },
    subresource: 'status',
    change: (live) => {
      const at = { nowMs: ctx.now(), generation }
      return { status: { conditions: asJson(patchConditions(conditionsOf(live), { [canaryCondition]: begun }, at)) } }
    },
  })
}

function marked(run: () => Promise<Outcome>, version: string): Promise<Outcome> {
  const mark = (status: 'True' | 'False', message: string) => ({ status, reason: version, message })
  return saying(run, mark('True', `version ${version} ran`), mark('False', `version ${version} failed`))
}

function unmarked(run: () => Promise<Outcome>): Promise<Outcome> {
  return saying(run, null, null)
}

async function saying(
  run: () => Promise<Outcome>,
  well: ConditionPatch | null,
  ill: ConditionPatch | null,
): Promise<Outcome> {
  try {
    const outcome = await run()
    // Of what is no outcome, such as nothing, the engine says so.
    if (typeof outcome !== 'object' || outcome === null) return outcome
    return { ...outcome, conditions: { ...outcome.conditions, [canaryCondition]: well } }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const report = reportOf(error)
    throw withReport(error, { ...report, conditions: { ...report?.conditions, [canaryCondition]: ill } })
  }
}
