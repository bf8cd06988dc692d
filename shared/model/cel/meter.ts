/** What expressions may still cost. A step is worth about thirty nanoseconds. */
export class Meter {
  left: number

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
