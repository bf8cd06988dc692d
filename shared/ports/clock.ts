/** The only source of time. Reading never advances it. */
export interface Clock {
  nowMs(): number
  /**
   * Time that only passes, from any beginning, whatever becomes of the machine's clock. Left out where that never
   * jumps.
   */
  steadyMs?(): number
  /** Resolves after `ms`, or at once when the signal aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Resolves when all else that waits for the process has had its turn. Left out where nothing waits. */
  nextTurn?(): Promise<void>
}

/** What durations are measured by: a clock that is put right in the middle makes none longer or shorter. */
export function steadyMsOf(clock: Pick<Clock, 'nowMs' | 'steadyMs'>): number {
  return clock.steadyMs?.() ?? clock.nowMs()
}
