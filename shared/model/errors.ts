import type { FieldError } from './schema/field-error.ts'

/**
 * Every expected failure has a code; the code says what the HTTP client is told and what the engine does next:
 * `retry` with backoff, `stop` until something changes, or `drop` because there is nothing left to do.
 */
export type Disposition = 'retry' | 'stop' | 'drop'

interface ErrorEntry {
  readonly status: number
  readonly reason: string
  readonly disposition: Disposition
}

/** The catalogue: codes are never renamed or reused. `status` and `reason` are those of Kubernetes' `metav1.Status`. */
export const errorCatalogue = {
  BAD_REQUEST: { status: 400, reason: 'BadRequest', disposition: 'stop' },
  /** An object of other types or fields than its kind has. */
  UNDECODABLE: { status: 400, reason: 'BadRequest', disposition: 'stop' },
  UNAUTHORIZED: { status: 401, reason: 'Unauthorized', disposition: 'stop' },
  FORBIDDEN: { status: 403, reason: 'Forbidden', disposition: 'stop' },
  NOT_FOUND: { status: 404, reason: 'NotFound', disposition: 'drop' },
  METHOD_NOT_ALLOWED: { status: 405, reason: 'MethodNotAllowed', disposition: 'stop' },
  NOT_ACCEPTABLE: { status: 406, reason: 'NotAcceptable', disposition: 'stop' },
  ALREADY_EXISTS: { status: 409, reason: 'AlreadyExists', disposition: 'stop' },
  VERSION_CONFLICT: { status: 409, reason: 'Conflict', disposition: 'retry' },
  APPLY_CONFLICT: { status: 409, reason: 'Conflict', disposition: 'stop' },
  EXPIRED: { status: 410, reason: 'Expired', disposition: 'retry' },
  TOO_LARGE: { status: 413, reason: 'RequestEntityTooLarge', disposition: 'stop' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, reason: 'UnsupportedMediaType', disposition: 'stop' },
  INVALID: { status: 422, reason: 'Invalid', disposition: 'stop' },
  THROTTLED: { status: 429, reason: 'TooManyRequests', disposition: 'retry' },
  DAMAGED: { status: 500, reason: 'InternalError', disposition: 'retry' },
  CONVERSION_FAILED: { status: 500, reason: 'InternalError', disposition: 'stop' },
  HOOK_FAILED: { status: 500, reason: 'InternalError', disposition: 'retry' },
  INTERNAL: { status: 500, reason: 'InternalError', disposition: 'retry' },
  WRITE_UNKNOWN: { status: 500, reason: 'InternalError', disposition: 'retry' },
  UNAVAILABLE: { status: 503, reason: 'ServiceUnavailable', disposition: 'retry' },
  VERSION_TOO_NEW: { status: 504, reason: 'Timeout', disposition: 'retry' },
  DEADLINE_EXCEEDED: { status: 504, reason: 'Timeout', disposition: 'retry' },
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof errorCatalogue

/** What a client can be told beyond the message: which object, which fields, when to come back. */
export interface ErrorDetails {
  readonly name?: string
  readonly group?: string
  /** The plural for 404 and 409, the kind for 422, as kubectl prints them. */
  readonly kind?: string
  readonly uid?: string
  readonly causes?: readonly (
    | FieldError
    | { readonly reason: string; readonly message: string; readonly field?: string }
  )[]
  readonly retryAfterSeconds?: number
  /** What the client is told in place of the status and the reason of the code. */
  readonly answer?: { readonly status: number; readonly reason: string }
}

/** An expected failure: something outside the program went wrong, and the code says what happens next. */
export class OperatingError extends Error {
  override readonly name = 'OperatingError'
  readonly code: ErrorCode
  readonly details: ErrorDetails

  constructor(code: ErrorCode, message: string, options?: ErrorOptions & { readonly details?: ErrorDetails }) {
    super(message, options)
    this.code = code
    this.details = options?.details ?? {}
  }
}

/** Whether the error is an expected failure with one of the given codes. */
export function hasCode(error: unknown, ...codes: readonly ErrorCode[]): error is OperatingError {
  return error instanceof OperatingError && codes.includes(error.code)
}

/** Whether it passes by itself, and what was asked for has no part in it: anything else would fare the same. */
export function isAway(error: unknown): boolean {
  return hasCode(error, 'THROTTLED', 'UNAVAILABLE', 'WRITE_UNKNOWN')
}

/** What is asked for; undefined where there is none. */
export async function absentIfNotFound<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (hasCode(error, 'NOT_FOUND')) return undefined
    throw error
  }
}

/** What is stored of an object cannot be read: it is told from others by what is left of it. */
export class DamagedObjectError extends OperatingError {
  readonly remains: { readonly uid: string; readonly resourceVersion: string }

  constructor(message: string, remains: DamagedObjectError['remains']) {
    super('DAMAGED', message)
    this.remains = remains
  }
}

/**
 * What the user's program says of kinds and reconcilers cannot work, and the message says what to mend: no bug of ours,
 * and its stack tells nothing more. Part of the public contract only as the TypeError that it is.
 */
export class DefinitionError extends TypeError {
  override readonly name = 'DefinitionError'
}

/** A broken belief of ours: never caught below the process edge, never retried in place. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError'
}
