import { OperatingError } from '../../model/errors.ts'
import type { Context } from '../context.ts'
import type { BudgetLane, RateBudget } from './rate-budget.ts'

type InRun = Pick<Context, 'now' | 'outside'>

/** Where nobody can say whether the account is closed, it is not called. */
const unknownMs = 1_000

/**
 * 0: call now. Else how many milliseconds to wait. This process is asked first: it knows how the far side has answered
 * it, and what it refuses costs no request. Then all processes count together, where there are several.
 */
export async function takeShared(budget: RateBudget, lane: BudgetLane, { now, outside }: InRun): Promise<number> {
  const ownWaitMs = budget.take(lane, now())
  const { counted } = budget
  if (ownWaitMs > 0 || counted === undefined || outside.allowances === undefined) return ownWaitMs
  try {
    const waitMs = await outside.allowances.take(counted.account, counted.rateOf(lane))
    return waitMs === 0 ? 0 : counted.spread(lane, waitMs, now())
  } catch (error) {
    if (error instanceof OperatingError) return counted.spread(lane, unknownMs, now())
    throw error
  }
}

/** The far side has refused a call for its rate: no process calls the account before `untilMs`. */
export async function noteSharedLimit(budget: RateBudget, untilMs: number, { now, outside }: InRun): Promise<void> {
  budget.noteLimit(untilMs, now())
  const { counted } = budget
  if (counted === undefined) return
  try {
    await outside.allowances?.close(counted.account, counted.rateOf('user'), untilMs)
  } catch (error) {
    // The others learn it from their own first refusal.
    if (!(error instanceof OperatingError)) throw error
  }
}
