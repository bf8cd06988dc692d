/** The only source of time. Reading never advances it. */
export interface Clock {
  nowMs(): number
  /** Resolves after `ms`, or at once when the signal aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}
