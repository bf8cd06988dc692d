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

export function createTokenBucket(options: TokenBucketOptions): TokenBucket {
  return new Bucket(options)
}

/** Rounding in the tokens' disfavour: a wait that was told is always long enough. */
const epsilon = 1e-9

/** There is one for each object that runs. */
class Bucket implements TokenBucket {
  readonly #burst: number
  readonly #perMs: number
  #level: number
  #atMs = -Infinity

  constructor({ burst, perSecond }: TokenBucketOptions) {
    this.#burst = burst
    this.#perMs = perSecond / 1_000
    this.#level = burst
  }

  take(nowMs: number): boolean {
    if (this.#fill(nowMs) < 1 - epsilon) return false
    this.#level--
    return true
  }

  reserve(nowMs: number): number {
    const wait = this.waitMs(nowMs)
    this.#level--
    return wait
  }

  waitMs(nowMs: number): number {
    return Math.max(0, Math.ceil((1 - this.#fill(nowMs)) / this.#perMs))
  }

  tokens(nowMs: number): number {
    return Math.floor(this.#fill(nowMs) + epsilon)
  }

  #fill(nowMs: number): number {
    // A clock that was put back fills it from there on.
    const passedMs = Math.max(0, nowMs - this.#atMs)
    this.#level = Math.min(this.#burst, this.#level + passedMs * this.#perMs)
    this.#atMs = nowMs
    return this.#level
  }
}
