import type { Context, OutsideVerb } from '../context.ts'
import { failureClass, retryAfterMsOf, type FailureClass } from './failure-class.ts'
import { thrownText } from '../thrown-text.ts'
import { HttpError } from './http-error.ts'
import type { BudgetLane, RateBudget } from './rate-budget.ts'
import { noteSharedLimit, takeShared } from './shared-budget.ts'

/**
 * Calls of the far side in one run: within the account's budget, counted, and their failures sorted by what happens
 * next.
 */
export interface Calls {
  /**
   * Undefined: what the call was about is not there. Throws RateLimited or CallFailed. `before` is done once the call
   * may be made, and what it throws is thrown. What is `kept` is answered from memory once it was answered: only up to
   * then it is a call of the account.
   */
  make<Answer>(
    verb: OutsideVerb,
    call: () => Promise<Answer>,
    options?: { readonly before?: () => Promise<void>; readonly kept?: true },
  ): Promise<Answer | undefined>
}

/** No call may be made now. Nothing is wrong with the object. */
export class RateLimited extends Error {
  override readonly name = 'RateLimited'
  readonly afterMs: number
  /** The far side has refused the call; otherwise none was made. */
  readonly wasCalled: boolean
  /** It says that it has done nothing of what was asked: 429 is about the request, and 503 about itself. */
  readonly isUndone: boolean

  constructor(afterMs: number, refusal?: unknown) {
    super("the account's rate limit is reached; the calls continue by themselves")
    this.afterMs = afterMs
    this.wasCalled = refusal !== undefined
    this.isUndone = refusal instanceof HttpError && refusal.status === 429
  }
}

/** A call that was refused, or whose answer was lost. `reason` is for conditions. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed'
  readonly reason: string
  readonly class: Exclude<FailureClass, 'rateLimited'>

  constructor(verb: OutsideVerb, how: Exclude<FailureClass, 'rateLimited'>, cause: unknown) {
    super(plain(cause), { cause })
    this.reason = `${names[verb]}${how === 'terminal' || how === 'conflict' ? 'Refused' : 'Failed'}`
    this.class = how
  }
}

const names = { get: 'Observe', find: 'Observe', create: 'Create', update: 'Update', delete: 'Delete' } as const

export interface CallsOptions {
  readonly ctx: Pick<Context, 'now' | 'outside'>
  readonly budget: RateBudget | undefined
  /** Whether somebody waits for it, as far as is known when a call is made. */
  readonly lane: () => BudgetLane
}

/** The budgets of accounts that have answered what is kept. */
const known = new WeakSet<RateBudget>()

export function createCalls({ ctx, budget, lane }: CallsOptions): Calls {
  return {
    make: async (verb, call, { before, kept = false } = {}) => {
      const isCall = !kept || (budget !== undefined && !known.has(budget))
      const waitMs = isCall && budget !== undefined ? await takeShared(budget, lane(), ctx) : 0
      if (waitMs > 0) throw new RateLimited(waitMs)
      await before?.()
      try {
        const answer = await call()
        if (isCall) ctx.outside.recordCall(verb, 'success')
        if (kept && budget !== undefined) known.add(budget)
        return answer
      } catch (error) {
        const how = failureClass(error)
        const isAbsent = how === 'absent' && verb !== 'create'
        ctx.outside.recordCall(verb, isAbsent ? 'success' : 'error')
        if (isAbsent) return
        if (how !== 'rateLimited') throw new CallFailed(verb, how, error)
        const afterMs = retryAfterMsOf(error)
        if (budget !== undefined) await noteSharedLimit(budget, ctx.now() + afterMs, ctx)
        throw new RateLimited(afterMs, error)
      }
    },
  }
}

/** `fetch failed` says nothing; its cause does. */
function plain(error: unknown): string {
  const text = thrownText(error)
  const code = error instanceof Error && (error.cause as { readonly code?: unknown } | undefined)?.code
  return typeof code === 'string' && !text.endsWith(`: ${code}`) ? `${text}: ${code}` : text
}
