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
import { canaryCondition, isMarkedBy, trialMarkOf, type Trial } from './trial-mark.ts'

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
export function withCanary({ name, kind }: Tried, stable: Runs, { version, ...tried }: CanaryRuns): Runs {
  if (!versionPattern.test(version))
    throw new DefinitionError(`${name}: the canary's version must be letters, digits and _, not "${version}"`)
  if (!isSubdomain(name))
    throw new DefinitionError(`${name}: no Canary can have this name: write it in small letters, digits, - and .`)
  const { cleanup: stableCleanup } = stable
  const { cleanup = stableCleanup } = tried
  return {
    reconcile: async (object, ctx) => {
      const trial = await findTrial(object, ctx, { name, version })
      if (trial !== undefined) {
        await markBegun(object, ctx, { kind, trial })
        return saying(() => tried.reconcile(object, ctx), trialMarkOf(trial, 'True'), trialMarkOf(trial, 'False'))
      }
      const isMarked = conditionOf(object, canaryCondition) !== undefined
      return isMarked ? saying(() => stable.reconcile(object, ctx), null, null) : stable.reconcile(object, ctx)
    },
    ...(stableCleanup !== undefined && {
      cleanup: async (object, ctx) => {
        // Of an earlier trial by this name, too: newer code knows what older code makes, and not the other way round.
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

/** The trial that the object is in. */
async function findTrial({ metadata }: ApiObject, ctx: Context, { name, version }: Named): Promise<Trial | undefined> {
  // Where the kind is not served, there is no Canary: on AWS its definition comes with the first tick.
  const { spec, status } = (await absentIfNotFound(ctx.get(Canary, { name, namespace: '' }))) ?? {}
  if (spec?.version !== version || status?.version !== version) return undefined
  const { share = 0, startedAt = '' } = status
  return isInShare(metadata.uid, share) ? { version, startedAt } : undefined
}

/**
 * Durable before the new code begins: that may run out of its time or end its process, which tells of nothing. What it
 * made by then is its own to clean up, and that it is not ready counts.
 */
async function markBegun(
  object: ApiObject,
  ctx: Context,
  { kind, trial }: { readonly kind: Kind; readonly trial: Trial },
): Promise<void> {
  if (isMarkedBy(trial, object)) return
  const { name, namespace = '', generation } = object.metadata
  await modify(ctx, {
    kind,
    at: { name, namespace },
    subresource: 'status',
    change: (live) => {
      const at = { nowMs: ctx.now(), generation }
      // Without the mark of an earlier trial: how long this one has run counts from now.
      const others = conditionsOf(live).filter(({ type }) => type !== canaryCondition)
      const begun = { [canaryCondition]: trialMarkOf(trial, 'Unknown') }
      return { status: { conditions: asJson(patchConditions(others, begun, at)) } }
    },
  })
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
