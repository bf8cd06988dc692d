/**
 * The changes that runs have met and not brought to an end, for the age of the oldest. Kept only while they are so: it
 * grows with the objects that fail, up to a limit, and not with the objects there are.
 */
export interface Unconverged {
  /** A run of this object met a change of this age. */
  note(uid: string, change: Met): void
  /** The next run of this object has longer to come. */
  waits(uid: string, untilMs: number): void
  /** The change has been observed. */
  noteObserved(uid: string): void
  /** Milliseconds since the oldest change that is not observed; 0 if there is none. */
  oldestMs(nowMs: number): number
  /** Others may bring to an end what runs here have met: only what they meet from now on is known. */
  forget(): void
}

export interface Met {
  /** When the change was accepted. */
  readonly sinceMs: number
  /** When the next run must have come. After that the object is gone, or paused, and no change of it waits. */
  readonly untilMs: number
}

/** Those that fail first stay, and they are the oldest. */
const changesMax = 10_000

export function createUnconverged(): Unconverged {
  const changes = new Map<string, Met>()
  return {
    note: (uid, change) => {
      if (changes.size < changesMax || changes.has(uid)) changes.set(uid, change)
    },
    waits: (uid, untilMs) => {
      const change = changes.get(uid)
      if (change !== undefined) changes.set(uid, { ...change, untilMs: Math.max(untilMs, change.untilMs) })
    },
    noteObserved: (uid) => void changes.delete(uid),
    oldestMs: (nowMs) => {
      let sinceMs = nowMs
      for (const [uid, change] of changes) {
        if (change.untilMs < nowMs) changes.delete(uid)
        else sinceMs = Math.min(sinceMs, change.sinceMs)
      }
      return nowMs - sinceMs
    },
    forget: () => changes.clear(),
  }
}
