import type { Clock } from '../../shared/ports/clock.ts'
import { createSeededRandom, type SeededRandom } from '../../shared/testing/seeded-random.ts'

/**
 * The only source of time and chance of a simulation. Everything that takes time waits here, and the earliest goes on
 * next; between two of them all that can run without time passing runs. So one seed is one order of events.
 */
export interface World extends Clock {
  /** A stream of chance of its own, by name: to draw from one leaves all others as they are. */
  readonly random: SeededRandom
  /** Does something later; the answer takes it back. */
  after(ms: number, act: () => void): () => void
  /** Lets time pass until nobody waits, or this moment is reached. */
  runUntil(ms: number): Promise<void>
  /** What asks for the next turn of the event loop, while time passes, is given to this instead. */
  takeTurns(take: (act: () => void) => void): void
  /** A line of the trace; two runs of one seed write the same. */
  note(line: string): void
  readonly trace: readonly string[]
  /** One more fault of this sort happened. */
  fault(sort: string): void
  readonly faults: ReadonlyMap<string, number>
}

export const beginMs = Date.parse('2026-01-01T00:00:00Z')

export function createWorld(seed: number): World {
  const trace: string[] = []
  const faults = new Map<string, number>()
  const timers = createTimers()
  let nowMs = beginMs
  let takeTurn: ((act: () => void) => void) | undefined

  const after = (ms: number, act: () => void): (() => void) => timers.add(nowMs + Math.max(0, ms), act)

  const sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    if (signal?.aborted === true) return Promise.resolve()
    return new Promise((resolve) => {
      if (signal === undefined) return void after(ms, resolve)
      const end = (): void => {
        cancel()
        signal.removeEventListener('abort', end)
        resolve()
      }
      const cancel = after(ms, end)
      signal.addEventListener('abort', end, { once: true })
    })
  }

  return {
    random: createSeededRandom(seed),
    nowMs: () => nowMs,
    sleep,
    after,
    runUntil: (ms) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const giveBack = takeTurn === undefined ? undefined : replaceImmediates(takeTurn)
      // Node empties the queue of microtasks before it takes ticks that were asked for in it: the simulated code does
      // no I/O of its own.
      const goOnWhenIdle = (): void => {
        process.nextTick(goOn)
      }
      const goOn = (): void => {
        try {
          const next = timers.take(ms)
          nowMs = Math.max(nowMs, next?.dueMs ?? ms)
          if (next === undefined) {
            giveBack?.()
            return resolve()
          }
          next.act()
          void settled.then(goOnWhenIdle)
        } catch (error) {
          giveBack?.()
          reject(error)
        }
      }
      void settled.then(goOnWhenIdle)
      return promise
    },
    takeTurns: (take) => {
      takeTurn = take
    },
    note: (line) => void trace.push(`${nowMs - beginMs} ${line}`),
    trace,
    fault: (sort) => void faults.set(sort, (faults.get(sort) ?? 0) + 1),
    faults,
  }
}

/** What waits for it goes on as the next microtask. `queueMicrotask` does the same, and keeps a context for it. */
const settled = Promise.resolve()

/** Nobody else's code runs while time passes: the event loop of Node has no turn then. What it answers ends that. */
function replaceImmediates(take: (act: () => void) => void): () => void {
  const real = globalThis.setImmediate
  const replaced = (act: (...args: unknown[]) => void, ...args: unknown[]): void => take(() => act(...args))
  globalThis.setImmediate = replaced as unknown as typeof setImmediate
  return () => {
    globalThis.setImmediate = real
  }
}

interface Timer {
  readonly dueMs: number
  readonly order: number
  readonly act: () => void
  isOff: boolean
}

/** A binary heap by time, and by order of asking among equals. */
function createTimers() {
  const heap: Timer[] = []
  let asked = 0

  const isBefore = (a: Timer, b: Timer): boolean => a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order)

  const rise = (timer: Timer): void => {
    let at = heap.push(timer) - 1
    while (at > 0) {
      const up = (at - 1) >> 1
      const parent = heap[up] as Timer
      if (isBefore(parent, timer)) break
      heap[at] = parent
      at = up
    }
    heap[at] = timer
  }

  const sink = (timer: Timer): void => {
    let at = 0
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Timer, heap[child] as Timer)) child++
      const least = heap[child] as Timer
      if (isBefore(timer, least)) break
      heap[at] = least
      at = child
    }
    heap[at] = timer
  }

  const pop = (): void => {
    const last = heap.pop() as Timer
    if (heap.length > 0) sink(last)
  }

  return {
    add: (dueMs: number, act: () => void): (() => void) => {
      const timer = { dueMs, order: asked++, act, isOff: false }
      rise(timer)
      return () => {
        timer.isOff = true
      }
    },
    /** The first that is due by then, if there is one. */
    take: (untilMs: number): Timer | undefined => {
      for (let first = heap[0]; first !== undefined && first.dueMs <= untilMs; first = heap[0]) {
        pop()
        if (!first.isOff) return first
      }
      return undefined
    },
  }
}

/** A number from 0 up to this one, without it. */
export function below(random: SeededRandom, limit: number): number {
  return Math.floor(random.next() * limit)
}

export function oneOf<Value>(random: SeededRandom, values: readonly Value[]): Value {
  return values[below(random, values.length)] as Value
}
