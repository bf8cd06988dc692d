import { stop, type Outcome } from '../../../shared/index.ts'
import { PostgresFailure } from './failure.ts'

/**
 * Runs a reconcile; what PostgreSQL refuses for good, or what belongs to somebody else, stops it, all else is tried
 * again.
 */
export async function asOutcome<Status>(run: () => Promise<Outcome<Status>>): Promise<Outcome<Status>> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof PostgresFailure && error.kind !== 'retryable')
      throw stop(error.reason, error.message, { cause: error })
    throw error
  }
}
