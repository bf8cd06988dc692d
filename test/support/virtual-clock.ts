import { createHeap } from '../../shared/adapters/local/heap.ts'
import type { Clock } from '../../shared/ports/clock.ts'

/** Time that stands still until it is told to pass. */
export interface VirtualClock extends Clock {
  /**
   * Lets `ms` pass: ends every sleep that is due in this time, in order of due times and then of beginnings, and lets what
   * each sets off come to rest before the next one.
   */
  advance(ms: number): Promise<void>
  /** When the next sleep ends. */
  nextWakeMs(): number | undefined
}

export interface VirtualClockOptions {
  readonly startMs?: number
  /** Lets everything that is under way come to rest; by default one turn of the event loop, with all its microtasks. */
  readonly settle?: () => Promise<void>
}

interface Sleep {
  readonly dueMs: number
  readonly sequence: number
  readonly end: () => void
  isOver: boolean
}

export function createVirtualClock({
  startMs = Date.UTC(2026, 10, 21),
  settle = turn,
}: VirtualClockOptions = {}): VirtualClock {
  const sleeps = createHeap<Sleep>((a, b) => a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.sequence < b.sequence))
  let nowMs = startMs
  let sequence = 0

  const sleep: Clock['sleep'] = (ms, signal) => {
    if (ms <= 0 || signal?.aborted === true) return Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    const end = (): void => {
      entry.isOver = true
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const entry: Sleep = { dueMs: nowMs + ms, sequence: sequence++, end, isOver: false }
    signal?.addEventListener('abort', end)
    sleeps.push(entry)
    return promise
  }

  const next = (): Sleep | undefined => {
    while (sleeps.peek()?.isOver === true) sleeps.pop()
    return sleeps.peek()
  }

  const advance = async (ms: number): Promise<void> => {
    const untilMs = nowMs + ms
    await settle()
    for (let entry = next(); entry !== undefined && entry.dueMs <= untilMs; entry = next()) {
      nowMs = entry.dueMs
      entry.end()
      await settle()
    }
    nowMs = untilMs
  }

  return { nowMs: () => nowMs, sleep, advance, nextWakeMs: () => next()?.dueMs }
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
