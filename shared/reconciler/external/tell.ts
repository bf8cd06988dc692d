import type { ConditionPatch } from '../../model/conditions.ts'
import { humanDuration } from '../../model/human-duration.ts'
import type { JsonObject } from '../../model/json.ts'
import { again, combineReports, done, reportOf, stop, waiting, withReport, type Outcome } from '../outcome.ts'
import { verdictOf } from '../verdict.ts'
import type { Context } from '../context.ts'
import type { CallFailed, RateLimited } from './calls.ts'
import type { End } from './decide.ts'
import type { Found } from './requirements.ts'
import { isWaitedFor, reconcileRequestOf, type ExternalSpec, type ExternalRun } from './run.ts'
import { remember } from './steps.ts'
import { reportedPart } from '../../model/status-fields.ts'

/** What a run says when it is over: status and conditions are made from memory, so that equal states read equal. */

/** Triggers before that do not make it look again. */
export function waitsFor<Client>(
  run: ExternalRun<Client>,
  { untilMs, reason, message }: End & { readonly do: 'wait' },
): Outcome {
  // JSON has no infinity; whoever waits for ever is woken by a change.
  if (untilMs !== Infinity) remember(run, { ...run.memory, wait: { digest: run.digest, untilMs, reason, message } })
  const ready = waiting(reason, message)
  return done({ ready, ...stateOf(run, ready), ...resyncAt(run, untilMs) })
}

/** From memory alone, so that it is the same whether or not anything was called. */
export function asDeclared<Client>(run: ExternalRun<Client>, untilMs: number): Outcome {
  const { memory, spec, found, policy } = run
  const { differs = [], locked = [] } = memory
  const synced: ConditionPatch =
    differs.length === 0
      ? { status: 'True', reason: policy.observesOnly ? 'Observed' : 'Synced' }
      : {
          status: 'False',
          reason: 'Differs',
          message: `differs from what is declared; not updated: ${differs.join(', ')}`,
        }
  const immutable: ConditionPatch = {
    status: 'False',
    reason: 'Differs',
    message: `cannot change after creation; not updated: ${locked.join(', ')}`,
  }
  return done({
    status: statusOf(run),
    conditions: {
      ...found.conditions,
      [spec.condition]: synced,
      Adopted: adoptionPatch(run),
      ImmutableFields: locked.length === 0 ? null : immutable,
    },
    ...resyncAt(run, untilMs),
  })
}

const adoptedReasons = { match: 'Matched', override: 'Overridden', takeover: 'TakenOver' } as const

function adoptionPatch<Client>({ memory, policy: { adoption } }: ExternalRun<Client>): ConditionPatch | null {
  const { id, adopted, adoptedAs, lostId } = memory
  const isKnown = adoption === undefined || [id, adoptedAs, lostId].includes(adoption.id)
  // What was adopted by a version before this one is not known by what the annotation said.
  if (!isKnown && (adopted === undefined || adoptedAs !== undefined))
    return { status: 'False', reason: 'AnotherEntity', message: `it is ${id} already: ${adoption.id} is not adopted` }
  return adopted === undefined ? null : { status: 'True', reason: adoptedReasons[adopted] }
}

function resyncAt<Client>({ ctx, memory: { syncedAtMs } }: ExternalRun<Client>, untilMs: number) {
  return {
    ...(untilMs === Infinity ? {} : { resyncAfter: Math.max(0, untilMs - ctx.now()) }),
    ...(syncedAtMs !== undefined && { syncedAtMs }),
  }
}

function statusOf<Client>(run: ExternalRun<Client>): JsonObject {
  const { memory, periodMs } = run
  const { id, isShownInStatus } = memory
  return {
    ...(isShownInStatus ? (run.shown ?? reportedPart(run.object.status ?? {})) : memory.shown),
    ...(id !== undefined && { id }),
    ...(periodMs === 0 ? {} : { syncPeriod: humanDuration(periodMs) }),
  }
}

export function notReadyPatch({
  reason,
  message,
}: {
  readonly reason: string
  readonly message: string
}): ConditionPatch {
  return { status: 'False', reason, message }
}

/** What was as declared a period ago is not broken because nobody may look at it now. */
export function concludeLimited<Client>(run: ExternalRun<Client>, { afterMs, message }: RateLimited): Outcome {
  const status = statusOf(run)
  if (!isWaitedFor(run)) return again(afterMs, { status })
  return again(afterMs, {
    status,
    ready: waiting('RateLimited', message),
    conditions: { ...run.found.conditions, [run.spec.condition]: notReadyPatch({ reason: 'RateLimited', message }) },
  })
}

/** What the author has put to the error goes ahead. */
export function concludeFailure<Client>(run: ExternalRun<Client>, error: CallFailed): Error {
  const { reason, message } = error
  const isOver = error.class === 'terminal' || error.class === 'conflict'
  const concluded = isOver
    ? concludeStop(run, { reason, message })
    : withReport(error, { ...stateOf(run, error), ...within(run.periodMs) })
  const reports = [reportOf(concluded), reportOf(error.cause)].filter((report) => report !== undefined)
  return withReport(concluded, combineReports(reports))
}

/**
 * A failure that is no answer of the far side, such as outputs that are lost: people see it where they look for syncs,
 * and which entity it is about.
 */
export function concludeOther<Client>(run: ExternalRun<Client>, error: unknown): unknown {
  if (!(error instanceof Error) || reportOf(error) !== undefined) return error
  const verdict = verdictOf(error, (text) => run.ctx.outside.conceal(text))
  const isFailure = verdict.kind === 'stopped' || (verdict.kind === 'failed' && !verdict.quiet)
  return isFailure ? withReport(error, stateOf(run, verdict)) : error
}

/** Stops until something changes or the period is over; triggers before that do not make it ask again. */
export function concludeStop<Client>(
  run: ExternalRun<Client>,
  { reason, message: given }: { readonly reason: string; readonly message: string },
): Error {
  const { memory, digest, ctx, periodMs } = run
  const message = beginningOf(given, ctx)
  const { refusal } = memory
  const isSame = refusal?.digest === digest && (periodMs === 0 || ctx.now() < refusal.atMs + periodMs)
  const atMs = isSame ? refusal.atMs : ctx.now()
  const request = reconcileRequestOf(run.object)
  remember(run, {
    ...memory,
    refusal: { digest, atMs, reason, message },
    ...(request !== undefined && { request }),
  })
  const leftMs = atMs + periodMs - ctx.now()
  return withReport(stop(reason, message), { ...stateOf(run, { reason, message }), ...within(leftMs) })
}

/** What is noted with the object has little room, and a far side may answer with a page. Words are not cut in two. */
const refusalLengthMax = 1_000

function beginningOf(text: string, { outside }: Context): string {
  const told = text.length <= refusalLengthMax ? text : outside.conceal(text)
  if (told.length <= refusalLengthMax) return told
  const start = told.slice(0, refusalLengthMax)
  return `${start.replace(/\S+$/, '').trimEnd() || start}…`
}

function stateOf<Client>(run: ExternalRun<Client>, failure: { readonly reason: string; readonly message: string }) {
  const conditions = { ...run.found.conditions, [run.spec.condition]: notReadyPatch(failure) }
  return { status: statusOf(run), conditions }
}

export function within(ms: number): { readonly retryWithin?: number } {
  return ms <= 0 ? {} : { retryWithin: ms }
}

/**
 * Nothing is called while a reference is not valid. Its change wakes the object; the period is for what nobody tells.
 */
export function concludeUnresolved<Client>(spec: ExternalSpec<Client>, found: Found, periodMs: number): Outcome {
  return done({ ...notResolved(spec, found), ...(periodMs === 0 ? {} : { resyncAfter: periodMs }) })
}

export function notResolved<Client>({ condition }: ExternalSpec<Client>, { invalid, conditions }: Found) {
  const ready = waiting(invalid[0]?.reason ?? 'NotFound', invalid.map(({ message }) => message).join('; '))
  return { ready, conditions: { ...conditions, [condition]: notReadyPatch(ready) } }
}
