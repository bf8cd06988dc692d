/**
 * The changes that runs have met and not brought to an end, for the age of the oldest. Kept only while they are so: it grows
 * with the objects that fail, up to a limit, and not with the objects there are.
 */
export interface Unconverged {
  /** A run of this key met a change of this age. */
  met(key: string, change: Met): void
  /** The next run of this key has longer to come. */
  waits(key: string, untilMs: number): void
  /** The change has been observed. */
  observed(key: string): void
  /** Milliseconds since the oldest change that is not observed; 0 if there is none. */
  oldestMs(nowMs: number): number
}

export interface Met {
  /** When the change was accepted. */
  readonly sinceMs: number
  /** When the next run must have come. After that the object is gone, or paused, and no change of it waits. */
  readonly untilMs: number
}

/** Those that fail first stay, and they are the oldest. */
const keysMax = 10_000

export function createUnconverged(): Unconverged {
  const changes = new Map<string, Met>()
  return {
    met: (key, change) => {
      if (changes.size < keysMax || changes.has(key)) changes.set(key, change)
    },
    waits: (key, untilMs) => {
      const change = changes.get(key)
      if (change !== undefined) changes.set(key, { ...change, untilMs: Math.max(untilMs, change.untilMs) })
    },
    observed: (key) => void changes.delete(key),
    oldestMs: (nowMs) => {
      let sinceMs = nowMs
      for (const [key, change] of changes) {
        if (change.untilMs < nowMs) changes.delete(key)
        else sinceMs = Math.min(sinceMs, change.sinceMs)
      }
      return nowMs - sinceMs
    },
  }
}
