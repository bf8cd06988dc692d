import type { ConditionalCheckFailedException, ThrottlingReason } from '@aws-sdk/client-dynamodb'
import { OperatingError } from '../../../model/errors.ts'
import { isThrottle } from '../client/service-failure.ts'

/**
 * What a failed request means: `throttled` and `notSent` did nothing, `unknown` may have done it, `refused` will not be
 * done however often it is asked.
 */
export type RequestFailure = 'throttled' | 'notSent' | 'unknown' | 'refused'

/** The SDK's view of a failure: `name` is the error code of the service, or of Node's network. */
interface SdkError extends Error {
  readonly code?: string
  readonly $fault?: 'client' | 'server'
  readonly $metadata?: { readonly attempts?: number }
}

/**
 * `undefined` for what is no failed request: a condition that does not hold, an input we should not have sent, a bug.
 */
export function requestFailure(error: unknown): RequestFailure | undefined {
  if (!(error instanceof Error) || error instanceof OperatingError) return undefined
  const { name, code = '', $fault, $metadata } = error as SdkError
  if (isThrottle(name) || alsoThrottles.has(name)) return 'throttled'
  if (refusals.has(name)) return 'refused'
  if (notTaken.has(name) || unreachable.has(code)) return 'notSent'
  // Whatever else happened once the SDK had begun to send has its metadata: a timeout, a reset, an answer cut short.
  return $metadata !== undefined && $fault !== 'client' ? 'unknown' : undefined
}

export function isConditionFailure(error: unknown): error is ConditionalCheckFailedException {
  return error instanceof Error && error.name === 'ConditionalCheckFailedException'
}

/** Whether the SDK sent the request more than once, so that an earlier time may have done it. */
export function wasRepeated(error: unknown): boolean {
  return ((error as Partial<SdkError>).$metadata?.attempts ?? 1) > 1
}

/** Whether one partition of the index `feed` takes no more writes, which holds back the writes of the table. */
export function isFeedThrottle(error: unknown): boolean {
  const { throttlingReasons = [], ThrottlingReasons = throttlingReasons } = error as Throttled
  return ThrottlingReasons.some(
    ({ reason = '', resource = '' }) => reason === 'IndexWriteKeyRangeThroughputExceeded' && resource.endsWith('/feed'),
  )
}

/** The SDK has both spellings. */
interface Throttled {
  readonly throttlingReasons?: readonly ThrottlingReason[]
  readonly ThrottlingReasons?: readonly ThrottlingReason[]
}

/** The second: a table that is strongly consistent over several Regions gives up one of two writes that meet. */
const alsoThrottles = new Set(['ProvisionedThroughputExceededException', 'ReplicatedWriteConflictException'])

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html */
const refusals = new Set([
  'AccessDeniedException',
  'ExpiredTokenException',
  'IncompleteSignatureException',
  'MissingAuthenticationTokenException',
  'ResourceNotFoundException',
  'UnrecognizedClientException',
])

/** Node's codes of connections that never were. */
const unreachable = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

/** The others are told to a clock that is wrong: by the answer the SDK sets it right. */
const notTaken = new Set([
  'CredentialsProviderError',
  'InvalidSignatureException',
  'RequestExpired',
  'RequestTimeTooSkewed',
])
