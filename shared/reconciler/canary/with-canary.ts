import { conditionOf, type ConditionPatch } from '../../model/conditions.ts'
import { DefinitionError } from '../../model/errors.ts'
import type { ApiObject } from '../../model/object.ts'
import type { Context } from '../context.ts'
import type { Controller } from '../controller.ts'
import { reportOf, withReport, type Outcome } from '../outcome.ts'
import { Canary, versionPattern } from './canary-kind.ts'
import { isInShare } from './decide-canary.ts'

/** On an object that ran a version on trial: its reason is the version. */
export const canaryCondition = 'Canary'

type Runs = Pick<Controller, 'reconcile' | 'cleanup'>

/** New code beside the old one. */
export interface CanaryRuns extends Runs {
  readonly version: string
}

/**
 * Runs the new code for the objects in the share that the Canary of this reconciler's name says, and the old code for
 * all others. The condition says which code made an object what it is, so that it is cleaned up by the same.
 */
export function withCanary(name: string, stable: Runs, { version, ...trial }: CanaryRuns): Runs {
  if (!versionPattern.test(version))
    throw new DefinitionError(`${name}: the canary's version must be letters, digits and _, not "${version}"`)
  const { cleanup: stableCleanup } = stable
  const { cleanup = stableCleanup } = trial
  return {
    reconcile: async (object, ctx) => {
      if (await isOnTrial(object, ctx, { name, version })) return marked(() => trial.reconcile(object, ctx), version)
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
  const { spec, status } = (await ctx.get(Canary, { name, namespace: '' })) ?? {}
  if (spec?.version !== version || status?.version !== version) return false
  return isInShare(metadata.uid, status.share ?? 0)
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
    return { ...outcome, conditions: { ...outcome.conditions, [canaryCondition]: well } }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const report = reportOf(error)
    throw withReport(error, { ...report, conditions: { ...report?.conditions, [canaryCondition]: ill } })
  }
}
