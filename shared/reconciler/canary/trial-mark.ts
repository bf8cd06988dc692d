import { conditionOf, type Conditioned, type ConditionPatch, type ConditionStatus } from '../../model/conditions.ts'

/**
 * On an object that has begun to run new code on trial: the version is its reason, and its message names the trial.
 * Unknown until a run has ended.
 */
export const canaryCondition = 'Canary'

/** Of a version, by when it began: another time other code may be tried by the name of the same version. */
export interface Trial {
  readonly version: string
  readonly startedAt: string
}

const words: Readonly<Record<ConditionStatus, string>> = { Unknown: 'runs', True: 'ran', False: 'failed' }

export function trialMarkOf(trial: Trial, status: ConditionStatus): ConditionPatch {
  const { version } = trial
  return { status, reason: version, message: `version ${version} ${words[status]}${inTrial(trial)}` }
}

/** Whether the code of this very trial has begun to run the object. */
export function isMarkedBy(trial: Trial, object: Conditioned): boolean {
  const mark = conditionOf(object, canaryCondition)
  return mark?.reason === trial.version && mark.message.endsWith(inTrial(trial))
}

function inTrial({ startedAt }: Trial): string {
  return ` in the trial of ${startedAt}`
}
