import type { Pattern } from '../schema/pattern.ts'
import type { CelFailure } from './value.ts'

/** What expressions may still cost. A step is worth about thirty nanoseconds. */
export class Meter {
  left: number
  /** By their texts: those that are compiled with their expressions, and those that are paid for. */
  readonly patterns = new Map<string, Pattern | CelFailure>()

  constructor(steps: number) {
    this.left = steps
  }

  /** Throws CostError once there is nothing left. */
  spend(steps: number): void {
    this.left -= steps
    if (this.left < 0) throw new CostError()
  }
}

/** No expression of its kind can catch it. */
export class CostError extends Error {
  constructor() {
    super('takes too many steps')
  }
}
