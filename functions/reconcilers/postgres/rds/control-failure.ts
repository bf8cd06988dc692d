import { retryAfter } from '../../../../shared/index.ts'
import { PostgresFailure, type FailureKind } from '../failure.ts'

/*
 * Failures of the Cloud Control API, by what happens next. They come two ways, thrown by a call or as the end of a
 * request, and by the same names but for an `Exception` at the end. Source: Cloud Control API reference,
 * ProgressEvent.ErrorCode and the errors of each call.
 */

/** They need somebody to change the declaration. */
const terminal = /^(InvalidRequest|NotUpdatable|UnsupportedAction|TypeNotFound|PrivateType)$/
/** The far side wants to be asked later, and nothing is wrong. */
const later = /^(Throttling|ConcurrentOperation|ConcurrentModification|ResourceConflict)$/

/** The name of what a call threw, as ProgressEvents have it. */
export function codeOfError(error: unknown): string {
  return error instanceof Error ? error.name.replace(/Exception$/, '') : 'Unknown'
}

/**
 * What to throw: for a failure that waits, a `retryAfter`; else a PostgresFailure. Access that is denied is tried
 * again, since it is granted elsewhere.
 */
export function controlFailure(code: string, attempt: string, cause: { readonly message?: string }): Error {
  const message = `cannot ${attempt}: ${stable(cause.message ?? code)}`
  if (later.test(code)) return retryAfter('30s', new Error(message, { cause }))
  const kind: FailureKind = terminal.test(code) ? 'terminal' : 'retryable'
  return new PostgresFailure(kind, code, message, { cause })
}

/**
 * Request ids are of no use to people, and make equal failures different: `… (Service: Rds, Status Code: 400, Request
 * ID: …)`.
 */
function stable(message: string): string {
  return message.replaceAll(/\s*\((?:Service|RequestToken|Request ID)[^)]*\)/g, '').slice(0, 500)
}
