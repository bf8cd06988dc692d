import type { ConditionPatch } from '../model/conditions.ts'
import { durationMs, tryDurationMs, type Duration } from '../model/duration.ts'
import type { JsonObject } from '../model/json.ts'
import { toldMs } from './given-duration.ts'
import { thrownText } from './thrown-text.ts'

/** What a run says when it ends. One of two, or an error: "done, and also failed" cannot be said. */
export type Outcome<Status = JsonObject> = Done<Status> | Again<Status>

export interface Done<Status = JsonObject> extends Report<Status> {
  readonly kind: 'done'
  readonly resyncAfterMs?: number
  readonly syncedAtMs?: number
}

export interface Again<Status = JsonObject> extends Report<Status> {
  readonly kind: 'again'
  readonly afterMs: number
}

/** What people see of the run, all of it optional. */
export interface Report<Status = JsonObject> {
  /** Replaces the status but for its conditions; what is left out of it goes. Left out as a whole, the status stays. */
  readonly status?: Status
  /** The Ready condition. Left out: True for `done`; for `again` as it was, Unknown if nothing was said yet. */
  readonly ready?: true | NotReady
  /** Further conditions, by type; those not named stay, `null` removes one. */
  readonly conditions?: Readonly<Record<string, ConditionPatch | null>>
}

/** Not ready yet, and nothing is wrong. */
export interface NotReady {
  readonly reason: string
  readonly message: string
}

// `NoInfer`: the status is that of the kind, not what is given for it, so that a field it does not have is an error.

/**
 * The desired state holds. Sleeps until something changes or the resync comes. Failures are forgotten. With
 * `resyncAfter` the next resync is after exactly this long: a durable timer, in the place of the object's own period.
 * `syncedAtMs` is when things outside were last made as declared; it is shown as `status.reconcile.lastSyncTime` and
 * costs no write of the status.
 */
export function done<Status = never>({
  resyncAfter,
  ...report
}: Report<NoInfer<Status>> & { readonly resyncAfter?: Duration; readonly syncedAtMs?: number } = {}): Done<Status> {
  return {
    kind: 'done',
    ...report,
    ...(resyncAfter !== undefined && { resyncAfterMs: toldMs('done: resyncAfter', resyncAfter) }),
  }
}

/**
 * Nothing is wrong; run again after this long at the latest. Durable: a restart does not lose it. One timer per object:
 * the answer of the next run, whatever woke it, replaces this one. Failures are forgotten. Throws BAD_REQUEST for what
 * is no duration, such as a negative one, which stops the object: `again(Math.max(0, untilMs - ctx.now()))`.
 */
export function again<Status = never>(after: Duration, report: Report<NoInfer<Status>> = {}): Again<Status> {
  return { kind: 'again', afterMs: toldMs('again', after), ...report }
}

/** Not ready, by name: `done({ ready: waiting('ClusterNotReady', 'cluster main is not ready') })`. */
export function waiting(reason: string, message: string): NotReady {
  return { reason, message }
}

/**
 * Thrown to end a run without retry: nothing helps until the spec, a reference or the code changes, or the resync
 * comes.
 */
export class StopError extends Error {
  override readonly name = 'StopError'
  readonly reason: string

  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

/**
 * `throw stop('NameTaken', 'database orders belongs to somebody else')`: terminal; the object is Stalled with this
 * reason.
 */
export function stop(reason: string, message: string, options?: ErrorOptions): StopError {
  return new StopError(reason, message, options)
}

/** Thrown to wait exactly as long as the far side asked for; counts as no failure. */
export class RetryAfterError extends Error {
  override readonly name = 'RetryAfterError'
  readonly afterMs: number

  constructor(afterMs: number, message: string, options?: ErrorOptions) {
    super(message, options)
    this.afterMs = afterMs
  }
}

/** `throw retryAfter('15s', error)`: the far side said when to come back (HTTP Retry-After). */
export function retryAfter(after: Duration, cause: unknown): RetryAfterError {
  return new RetryAfterError(toldMs('retryAfter', after), thrownText(cause), { cause })
}

/** What a failure says of the object beyond its message. */
export interface FailureReport extends Pick<Report, 'status' | 'conditions'> {
  /**
   * It is tried again after this long at the latest, though the backoff be longer or there be no retry at all. Only the
   * budget of all retries may make it later.
   */
  readonly retryWithin?: Duration
}

const failureReports = new WeakMap<Error, FailureReport>()

/**
 * The error, with what it says of the object when a run throws it: `throw withReport(error, { conditions })`. What is
 * returned reads as the error does; the error itself says nothing more than before, since runs of other objects may
 * throw it, too. Throws a TypeError, which says what the error says, too, if `retryWithin` is no duration.
 */
export function withReport<Thrown extends Error>(error: Thrown, report: FailureReport): Thrown {
  const { retryWithin = 0 } = report
  if (tryDurationMs(retryWithin) === undefined)
    throw new TypeError(`${thrownText(error)}; retryWithin is no duration: ${retryWithin}`, { cause: error })
  const reported = mirrorError(error)
  failureReports.set(reported, report)
  return reported
}

/** Its getters run on the error, as some look for what is private to that. */
function mirrorError<Thrown extends Error>(error: Thrown): Thrown {
  return new Proxy(error, { get: (target, property) => Reflect.get(target, property, target) as unknown })
}

/** What an error says of the object, if it is one of `withReport`. */
export function reportOf(error: unknown): FailureReport | undefined {
  return failureReports.get(error as Error)
}

/**
 * What several failures of one run say of the object: a later one goes ahead, and the object comes again by the
 * shortest of the times.
 */
export function combineReports(reports: readonly FailureReport[]): FailureReport {
  const timesMs = reports.flatMap(({ retryWithin }) => (retryWithin === undefined ? [] : [durationMs(retryWithin)]))
  return {
    ...reports.reduce(joinReports),
    ...(timesMs.length > 0 && { retryWithin: Math.min(...timesMs) }),
  }
}

function joinReports(one: FailureReport, other: FailureReport): FailureReport {
  return {
    ...one,
    ...(other.status && { status: { ...one.status, ...other.status } }),
    ...(other.conditions && { conditions: { ...one.conditions, ...other.conditions } }),
  }
}
