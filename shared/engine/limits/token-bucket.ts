export interface TokenBucketOptions {
  /** How many tokens there are at most, and at the beginning. */
  readonly burst: number
  readonly perSecond: number
}

/** A token bucket over time that its callers bring. */
export interface TokenBucket {
  /** Takes a token if there is one. */
  take(nowMs: number): boolean
  /** Takes a token that may be yet to come; how long until it does. */
  reserve(nowMs: number): number
  /** How long until there is one. */
  waitMs(nowMs: number): number
  /** Whole tokens there are. */
  tokens(nowMs: number): number
}

export function createTokenBucket({ burst, perSecond }: TokenBucketOptions): TokenBucket {
  const perMs = perSecond / 1_000
  let level = burst
  let atMs = -Infinity

  const fill = (nowMs: number): number => {
    // A clock that was put back fills it from there on.
    if (nowMs > atMs) level = Math.min(burst, level + (atMs === -Infinity ? 0 : (nowMs - atMs) * perMs))
    atMs = nowMs
    return level
  }
  const waitMs = (nowMs: number): number => Math.max(0, Math.ceil((1 - fill(nowMs)) / perMs))
  /** Rounding in the tokens' disfavour: a wait that was told is always long enough. */
  const epsilon = 1e-9

  return {
    take: (nowMs) => {
      if (fill(nowMs) < 1 - epsilon) return false
      level--
      return true
    },
    reserve: (nowMs) => {
      const wait = waitMs(nowMs)
      level--
      return wait
    },
    waitMs,
    tokens: (nowMs) => Math.floor(fill(nowMs) + epsilon),
  }
}
