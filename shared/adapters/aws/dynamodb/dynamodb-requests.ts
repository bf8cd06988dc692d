import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { hasCode, OperatingError } from '../../../model/errors.ts'
import { steadyMsOf, type Clock } from '../../../ports/clock.ts'
import type { Random } from '../../../ports/random.ts'
import { requestFailure, wasRepeated, type RequestFailure } from './dynamodb-failures.ts'

/** The table that `tableDefinition` describes, and how it is reached. */
export interface DynamodbOptions {
  /** From `createDynamodbClient`. */
  readonly client: DynamoDBClient
  readonly table: string
  readonly clock: Clock
  /** Of the pauses between tries. */
  readonly random: Random
  /** How long a request is tried again when it is throttled or gets no answer. Default 5 s. */
  readonly patienceMs?: number
}

/** Requests that are tried again until they succeed, are refused, or the patience ends. */
export interface DynamodbRequests {
  /** Throws THROTTLED, UNAVAILABLE. What asks for the same twice does no harm. */
  repeat<T>(what: string, attempt: () => Promise<T>): Promise<T>

  /**
   * For a write that must be done once. An attempt is told whether an earlier one may have been done. When the patience
   * ends and one may have been, `lookBack` says what became of it; throws WRITE_UNKNOWN if that is not known either.
   */
  write<T>(what: string, attempt: (isUncertain: boolean) => Promise<T>, lookBack: LookBack<T>): Promise<T>
}

/** What the write did, if it can be told from what is there. */
export type LookBack<T> = () => Promise<T | undefined>

const defaultPatienceMs = 5_000
const pauseMsFirst = 50
const pauseMsMax = 1_000

export function createDynamodbRequests({
  clock,
  random,
  patienceMs = defaultPatienceMs,
}: DynamodbOptions): DynamodbRequests {
  async function repeat<T>(
    what: string,
    attempt: (isUncertain: boolean) => Promise<T>,
    timeUp: (failure: RequestFailure, isUncertain: boolean, cause: unknown) => Promise<T>,
  ): Promise<T> {
    const endMs = steadyMsOf(clock) + patienceMs
    let isUncertain = false
    for (let failures = 0; ; failures++) {
      try {
        return await attempt(isUncertain)
      } catch (error) {
        const failure = requestFailure(error)
        // An attempt may make other requests, too. Their failure does not tell what became of the earlier write.
        if (isUncertain && hasCode(error, 'THROTTLED', 'UNAVAILABLE')) return timeUp('unknown', isUncertain, error)
        if (failure === undefined) throw error
        isUncertain ||= failure === 'unknown' || wasRepeated(error)
        const pauseMs = random.next() * Math.min(pauseMsFirst * 2 ** failures, pauseMsMax)
        if (failure === 'refused' || steadyMsOf(clock) + pauseMs > endMs) return timeUp(failure, isUncertain, error)
        await clock.sleep(pauseMs)
      }
    }
  }

  return {
    repeat: (what, attempt) =>
      repeat(what, attempt, (failure, _, cause) => Promise.reject(requestError(what, failure, cause))),

    write: (what, attempt, lookBack) =>
      repeat(what, attempt, async (failure, isUncertain, cause) => {
        if (!isUncertain) throw requestError(what, failure, cause)
        const found = await lookBack().catch((error: unknown) => Promise.reject(unknownFate(what, error)))
        if (found === undefined) throw unknownFate(what, cause)
        return found
      }),
  }
}

/** WRITE_UNKNOWN: it may have been done, or may yet be. */
export function unknownFate(what: string, cause: unknown): OperatingError {
  return new OperatingError('WRITE_UNKNOWN', `could not learn whether to ${what} was done`, { cause })
}

function requestError(what: string, failure: RequestFailure, cause: unknown): OperatingError {
  const message = `cannot ${what}: ${(cause as Error).message}`
  return failure === 'throttled'
    ? new OperatingError('THROTTLED', message, { cause, details: { retryAfterSeconds: 1 } })
    : new OperatingError('UNAVAILABLE', message, { cause })
}
