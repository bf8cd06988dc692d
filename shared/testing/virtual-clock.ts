import type { Clock } from '../ports/clock.ts'

/** Time that moves only when it is told to. Reading it never moves it. */
export interface VirtualClock extends Clock {
  /** When the next sleeper is due; `undefined` if nobody sleeps. */
  nextDueMs(): number | undefined
  /** Moves time on to this moment and wakes everybody who is due by then, in the order of their times. Never back. */
  moveTo(ms: number): void
}

interface Sleeper {
  readonly dueMs: number
  readonly wake: () => void
}

export function createVirtualClock(startMs = Date.parse('2026-01-01T00:00:00Z')): VirtualClock {
  let nowMs = startMs
  const sleepers: Sleeper[] = []

  const add = (sleeper: Sleeper): void => {
    const at = sleepers.findLastIndex((other) => other.dueMs <= sleeper.dueMs) + 1
    sleepers.splice(at, 0, sleeper)
  }

  const remove = (sleeper: Sleeper): void => {
    const at = sleepers.indexOf(sleeper)
    if (at >= 0) sleepers.splice(at, 1)
  }

  return {
    nowMs: () => nowMs,
    sleep: (ms, signal) => {
      if (signal?.aborted === true) return Promise.resolve()
      return new Promise((resolve) => {
        const wake = (): void => {
          remove(sleeper)
          signal?.removeEventListener('abort', wake)
          resolve()
        }
        const sleeper = { dueMs: nowMs + Math.max(0, ms), wake }
        add(sleeper)
        signal?.addEventListener('abort', wake, { once: true })
      })
    },
    nextDueMs: () => sleepers[0]?.dueMs,
    moveTo: (ms) => {
      nowMs = Math.max(nowMs, ms)
      for (let next = sleepers[0]; next !== undefined && next.dueMs <= nowMs; next = sleepers[0]) next.wake()
    },
  }
}
