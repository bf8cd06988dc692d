import { stop, withReport, type ConditionPatch, type Outcome } from '../../../shared/index.ts'
import { PostgresFailure } from './failure.ts'

/**
 * Runs a reconcile; what PostgreSQL refuses for good, or what belongs to somebody else, stops it, all else is tried
 * again.
 */
export async function asOutcome<Status>(run: () => Promise<Outcome<Status>>): Promise<Outcome<Status>> {
  try {
    return await run()
  } catch (error) {
    throw isFinal(error) ? stopFor(error) : error
  }
}

/**
 * The same for a part of a reconcile whose failure is told with conditions: those of before would say what was, beside
 * an object that says why it is not ready.
 */
export async function tellFailure<Result>(
  run: () => Promise<Result>,
  conditionsOf: (failure: PostgresFailure) => Readonly<Record<string, ConditionPatch>>,
): Promise<Result> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof PostgresFailure)) throw error
    throw withReport(isFinal(error) ? stopFor(error) : error, { conditions: conditionsOf(error) })
  }
}

function isFinal(error: unknown): error is PostgresFailure {
  return error instanceof PostgresFailure && error.kind !== 'retryable'
}

function stopFor(failure: PostgresFailure): Error {
  return stop(failure.reason, failure.message, { cause: failure })
}
