import type { Deadlines } from '../../model/engine-state.ts'

/** The latest time that can be written down. */
const timeMsMax = 8.64e15
const countMax = 64
const nameLengthMax = 256

/**
 * What a run expects. A time that JSON does not hold would be no time to the runs after it, and a name that is masked
 * would be another one.
 */
export class Expectations extends Map<string, number> {
  readonly #maskName: (name: string) => string

  constructor(stored: Deadlines, maskName: (name: string) => string) {
    super()
    this.#maskName = maskName
    for (const [name, untilMs] of Object.entries(stored)) super.set(name, untilMs)
  }

  /** Throws a TypeError for what is no time, for one too many, and for a name that is long or holds a secret value. */
  override set(name: string, untilMs: number): this {
    if (this.#maskName(name) !== name)
      throw new TypeError(
        'expectations: a name that holds a value of a Secret would be shown; name it by what is no secret',
      )
    if (name.length > nameLengthMax || (this.size >= countMax && !this.has(name)))
      throw new TypeError(
        `expectations: an object has ${countMax} at most, with names of ${nameLengthMax} characters; name them by what differs`,
      )
    if (typeof untilMs === 'number' && untilMs >= 0 && untilMs <= timeMsMax) return super.set(name, untilMs)
    throw new TypeError(
      `expectations: ${name} is expected until ${String(untilMs)}; give milliseconds since the epoch, as ctx.now() + 60_000`,
    )
  }
}
