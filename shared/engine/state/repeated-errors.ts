import { failureOf } from '../../model/engine-state.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import type { Verdict } from '../../reconciler/verdict.ts'

/**
 * So many failures in a row with one message are a matter for people: often they mean "not ready yet", which is no
 * error.
 */
export const repeatedErrorsMin = 5

/** Whether the run failed as so many before it. `stored` is the object as the run began with it. */
export function isRepeatedError({ engine }: StoredObject, verdict: Verdict): boolean {
  const { error, sameErrors = 1 } = failureOf(engine) ?? {}
  return verdict.kind === 'failed' && verdict.message === error && sameErrors + 1 >= repeatedErrorsMin
}
