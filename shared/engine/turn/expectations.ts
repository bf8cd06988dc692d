import type { Deadlines } from '../../model/engine-state.ts'

/** The latest time that can be written down. */
const timeMsMax = 8.64e15

/** What a run expects. A time that JSON does not hold would be no time to the runs after it. */
export class Expectations extends Map<string, number> {
  constructor(stored: Deadlines) {
    super()
    for (const [name, untilMs] of Object.entries(stored)) super.set(name, untilMs)
  }

  /** Throws a TypeError if that is no time. */
  override set(name: string, untilMs: number): this {
    if (typeof untilMs === 'number' && untilMs >= 0 && untilMs <= timeMsMax) return super.set(name, untilMs)
    throw new TypeError(
      `expectations: ${name} is expected until ${String(untilMs)}; give milliseconds since the epoch, as ctx.now() + 60_000`,
    )
  }
}
