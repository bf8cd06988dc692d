import { OperatingError, type ErrorCode } from '../../../model/errors.ts'

/**
 * What an AWS client threw while doing `attempt`, as an operating error: no name of an AWS error is known above the
 * adapters. The client has tried again by then, where that could help. `code`: how a failure is called that says
 * nothing more.
 */
export function serviceFailure(error: unknown, attempt: string, code: ErrorCode = 'UNAVAILABLE'): OperatingError {
  const message = `cannot ${attempt}: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`
  return new OperatingError(codeOf(error) ?? code, message, { cause: error })
}

/** The parts of the clients' errors that tell them apart; Smithy's `ServiceException` has them all. */
interface ClientError {
  readonly name: string
  readonly $fault?: 'client' | 'server'
  readonly $metadata?: { readonly httpStatusCode?: number }
}

/** `undefined`: the network, or the far side's own trouble. */
function codeOf(error: unknown): ErrorCode | undefined {
  if (!(error instanceof Error)) return undefined
  const { name, $fault: fault, $metadata: metadata } = error as Error & ClientError
  if (isThrottle(name) || metadata?.httpStatusCode === 429) return 'THROTTLED'
  return fault === 'client' && !isRefusedToAll(name) ? 'INTERNAL' : undefined
}

/**
 * Whether whatever is asked would be refused, and it is not this request: a right, a key or a queue that is not there
 * yet or any more.
 * Source: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/CommonErrors.html
 */
function isRefusedToAll(name: string): boolean {
  return /AccessDenied|ExpiredToken|InvalidClientTokenId|UnrecognizedClient|QueueDoesNotExist|NonExistentQueue|^KMS/i.test(
    name,
  )
}

/** Whether the name of an error, or of what was wrong with one entry of a batch, means: more slowly. */
export function isThrottle(name: string): boolean {
  return /Throttl|TooManyRequests|RequestLimitExceeded|LimitExceeded|OverLimit|SlowDown/i.test(name)
}
