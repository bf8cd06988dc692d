import type { Clock } from '../../../ports/clock.ts'
import type { KeyGroups } from './key-groups.ts'

/**
 * The time of a queue. A machine that slept, or whose clock was put right, must not end a turn whose run goes on; nor
 * must a process that stood still, whose runs stood still with it.
 */
export class QueueTime {
  readonly #clock: Clock
  readonly #groups: KeyGroups
  /** How far the clock was ahead of the steady one when it was last looked at. */
  #aheadMs: number
  /** By then this process looks at the time again, if it does not stand still; Infinity while no key is taken. */
  #beatDueMs = Infinity

  constructor(clock: Clock, groups: KeyGroups) {
    this.#clock = clock
    this.#groups = groups
    this.#aheadMs = aheadMs(clock)
  }

  now(): number {
    const jumpedMs = aheadMs(this.#clock) - this.#aheadMs
    if (Math.abs(jumpedMs) > driftMsMax) {
      this.#aheadMs += jumpedMs
      this.#beatDueMs += jumpedMs
      this.#groups.clockJumped(jumpedMs)
    }
    const nowMs = this.#clock.nowMs()
    if (nowMs - this.#beatDueMs > driftMsMax) {
      this.#groups.clockJumped(nowMs - this.#beatDueMs)
      this.#beatDueMs = nowMs + beatMs
    }
    return nowMs
  }

  /** Looks at the time again and again while a key is taken. */
  watch(): void {
    if (this.#beatDueMs === Infinity) void this.#beat()
  }

  async #beat(): Promise<void> {
    while (this.#groups.isAnyTaken()) {
      this.#beatDueMs = this.now() + beatMs
      await this.#clock.sleep(beatMs)
    }
    this.#beatDueMs = Infinity
  }
}

function aheadMs(clock: Clock): number {
  return clock.steadyMs === undefined ? 0 : clock.nowMs() - clock.steadyMs()
}

/** Less is no jump. */
const driftMsMax = 1_000
/** While a key is taken, the time is looked at so often. */
const beatMs = 5_000
