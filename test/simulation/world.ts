import type { Clock } from '../../shared/ports/clock.ts'
import { createSeededRandom, type SeededRandom } from '../../shared/testing/seeded-random.ts'

/**
 * The only source of time and chance of a simulation. Everything that takes time sleeps here, and the earliest sleeper goes on
 * next; between two of them all that can run without time passing runs. So one seed is one order of events.
 */
export interface World extends Clock {
  readonly random: SeededRandom
  /** A moment of time, as a call over a network takes it. */
  latency(): Promise<void>
  /** True with this probability. */
  chance(probability: number): boolean
  /** Lets time pass until nobody sleeps, or this moment is reached. */
  runUntil(ms: number): Promise<void>
  /** A line of the trace; two runs of one seed write the same. */
  note(line: string): void
  readonly trace: readonly string[]
}

interface Sleeper {
  readonly dueMs: number
  readonly wake: () => void
}

export interface WorldOptions {
  readonly seed: number
  /** The longest a call takes. */
  readonly latencyMsMax: number
}

export const beginMs = Date.parse('2026-01-01T00:00:00Z')

export function createWorld({ seed, latencyMsMax }: WorldOptions): World {
  const random = createSeededRandom(seed)
  const delays = random.fork('latency')
  const trace: string[] = []
  const sleepers: Sleeper[] = []
  let nowMs = beginMs

  const insert = (sleeper: Sleeper): void => {
    const at = sleepers.findLastIndex((other) => other.dueMs <= sleeper.dueMs) + 1
    sleepers.splice(at, 0, sleeper)
  }

  const sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    if (signal?.aborted === true) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = (): void => {
        const at = sleepers.indexOf(sleeper)
        if (at >= 0) sleepers.splice(at, 1)
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      const sleeper = { dueMs: nowMs + Math.max(0, ms), wake }
      insert(sleeper)
      signal?.addEventListener('abort', wake, { once: true })
    })
  }

  return {
    random,
    nowMs: () => nowMs,
    sleep,
    latency: () => sleep(Math.floor(delays.next() * latencyMsMax)),
    chance: (probability) => random.next() < probability,
    runUntil: async (ms) => {
      await microtasks()
      for (let next = sleepers[0]; next !== undefined && next.dueMs <= ms; next = sleepers[0]) {
        nowMs = Math.max(nowMs, next.dueMs)
        next.wake()
        await microtasks()
      }
      nowMs = Math.max(nowMs, ms)
    },
    note: (line) => void trace.push(`${nowMs - beginMs} ${line}`),
    trace,
  }
}

/** All that needs no time has run once a turn of the event loop comes round: the simulated code does no I/O of its own. */
function microtasks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
