import { DefinitionError } from '../../model/errors.ts'
import type { Rate } from '../../model/reservations.ts'

/**
 * What an account may call per second, shared by all objects and kinds that use it. It adapts: rate and burst are
 * halved when the far side says 429, and grow back within a minute; and nobody calls before the moment that the far
 * side named. A share of it is kept for what people wait for: resyncs never take the last calls.
 *
 * Those who are told to wait are told different times, so that they do not come back all at once. It is kept in memory.
 * Where an account is called by several processes, they share what is `counted` as well.
 */
export interface RateBudget {
  /** 0: call now. Else how many milliseconds to wait; nothing is reserved meanwhile. */
  take(lane: BudgetLane, nowMs: number): number
  /** The far side has refused a call for its rate: none before `untilMs`. */
  noteLimit(untilMs: number, nowMs: number): void
  /** The rate it allows now. */
  perSecond(nowMs: number): number
  /** How it stands in this process, for people. */
  read?(nowMs: number): BudgetReading
  /** What all processes of the account count together; absent if the account has no name. */
  readonly counted?: CountedBudget
}

export interface BudgetReading {
  /** What the far side allows now. */
  readonly perSecond: number
  readonly burst: number
  /** Calls that could be made at once. */
  readonly left: number
  /** The far side has asked for no calls before this time, if that is ahead. */
  readonly closedUntilMs?: number
}

export interface CountedBudget {
  /** Tells accounts apart. */
  readonly account: string
  /** What calls of a lane may take of it. */
  rateOf(lane: BudgetLane): Rate
  /** A time of its own for whoever has to wait at least so long. */
  spread(lane: BudgetLane, waitMs: number, nowMs: number): number
}

/** `user`: an edit or a deletion that somebody waits for. `sync`: nothing has changed. */
export type BudgetLane = 'user' | 'sync'

export interface RateBudgetOptions {
  readonly perSecond: number
  readonly burst: number
  /** The part of the burst that resyncs leave for edits and deletions. Default a fifth. */
  readonly userShare?: number
}

const recoverMs = 60_000
/** Calls on their way together are refused together: that counts once. */
const halveEveryMs = 1_000
const slowest = 1 / 32

/** Throws a TypeError for a budget by which nothing could ever be called, or which is none. */
export function createRateBudget(options: RateBudgetOptions, account?: string): RateBudget {
  const { perSecond, burst, userShare = 0.2 } = options
  const isRate = perSecond > 0 && burst >= 1 && perSecond < Infinity && burst < Infinity
  if (!isRate || !(userShare >= 0 && userShare < 1))
    throw new DefinitionError(
      'a rate budget needs a rate above 0 and a burst of at least 1, both finite, and a share from 0 to below 1',
    )
  const count = countCalls({ perSecond, burst, userShare })
  const time = new PassingTime()
  const rateOf = (lane: BudgetLane): Rate => ({
    perSecond,
    burst: lane === 'user' ? burst : Math.max(1, burst * (1 - userShare)),
  })
  return {
    take: (lane, nowMs) => count.take(lane, time.follow(nowMs)),
    noteLimit: (untilMs, nowMs) => {
      const atMs = time.follow(nowMs)
      count.noteLimit(time.at(untilMs), atMs)
    },
    perSecond: (nowMs) => count.perSecond(time.at(nowMs)),
    read: (nowMs) => {
      const { closedForMs, ...reading } = count.read(time.follow(nowMs))
      return closedForMs > 0 ? { ...reading, closedUntilMs: nowMs + closedForMs } : reading
    },
    ...(account !== undefined && {
      counted: {
        account,
        rateOf,
        spread: (lane: BudgetLane, waitMs: number, nowMs: number) => count.spread(lane, waitMs, time.follow(nowMs)),
      },
    }),
  }
}

/** Time that only passes, by a clock that may be put back: what was a second ahead still is. */
class PassingTime {
  #seenMs = -Infinity
  #backMs = 0

  /** What that time is now. */
  follow(nowMs: number): number {
    this.#backMs += Math.max(0, this.#seenMs - nowMs)
    this.#seenMs = nowMs
    return this.at(nowMs)
  }

  /** What it is then, by the clock as it was last read. */
  at(ms: number): number {
    return ms + this.#backMs
  }
}

/** The calls of one account, in time that only passes. */
interface CallCount extends Pick<RateBudget, 'take' | 'noteLimit' | 'perSecond'>, Pick<CountedBudget, 'spread'> {
  read(nowMs: number): Omit<BudgetReading, 'closedUntilMs'> & { readonly closedForMs: number }
}

function countCalls({ perSecond: full, burst, userShare }: Required<RateBudgetOptions>): CallCount {
  const nextSlotMs = { user: -Infinity, sync: -Infinity }
  let level = burst
  let filledMs = -Infinity
  let rate = full
  let limitedMs = -Infinity
  let untilMs = -Infinity

  const rateAt = (nowMs: number): number => Math.min(full, rate + (full * Math.max(0, nowMs - limitedMs)) / recoverMs)

  /** A burst that suits the rate: after a 429 nobody comes with the whole of it. */
  const burstAt = (nowMs: number): number => Math.max(1, (burst * rateAt(nowMs)) / full)

  const reserveAt = (nowMs: number): number => Math.min(burstAt(nowMs) - 1, burstAt(nowMs) * userShare)

  const fill = (nowMs: number): void => {
    if (filledMs !== -Infinity && nowMs > filledMs)
      level = Math.min(burstAt(nowMs), level + (rateAt(nowMs) * (nowMs - filledMs)) / 1_000)
    filledMs = Math.max(filledMs, nowMs)
  }

  /** When a call may be made that cannot be made now; each asker is given a time of its own. */
  const spread = (lane: BudgetLane, waitMs: number, nowMs: number): number => {
    const atMs = Math.max(nowMs + waitMs, nextSlotMs[lane])
    nextSlotMs[lane] = atMs + 1_000 / rateAt(nowMs)
    return Math.max(1, Math.ceil(atMs - nowMs))
  }

  return {
    take: (lane, nowMs) => {
      fill(nowMs)
      const missing = Math.max(0, 1 + (lane === 'sync' ? reserveAt(nowMs) : 0) - level)
      if (nowMs < untilMs || missing > epsilon)
        return spread(lane, Math.max(untilMs - nowMs, 0) + (missing * 1_000) / rateAt(nowMs), nowMs)
      level--
      return 0
    },
    noteLimit: (until, nowMs) => {
      fill(nowMs)
      untilMs = Math.max(untilMs, until)
      level = 0
      if (nowMs - limitedMs < halveEveryMs) return
      rate = Math.max(full * slowest, rateAt(nowMs) / 2)
      limitedMs = nowMs
    },
    perSecond: rateAt,
    read: (nowMs) => {
      fill(nowMs)
      const left = Math.floor(level + epsilon)
      return { perSecond: rateAt(nowMs), burst: burstAt(nowMs), left, closedForMs: Math.max(0, untilMs - nowMs) }
    },
    spread,
  }
}

const epsilon = 1e-9

/** One budget per account, by whatever name the account has; made when it is first asked for. */
export function createRateBudgets(options: RateBudgetOptions): (account: string) => RateBudget {
  const budgets = new Map<string, RateBudget>()
  return (account) => {
    const budget = budgets.get(account) ?? createRateBudget(options, account)
    // The one used last stands last; tokens that were rotated away make room.
    budgets.delete(account)
    budgets.set(account, budget)
    const [oldest] = budgets.keys()
    if (budgets.size > accountsMax && oldest !== undefined) budgets.delete(oldest)
    return budget
  }
}

const accountsMax = 1_000
