import { durationMs, type Duration } from '../model/duration.ts'
import type { VirtualClock } from './virtual-clock.ts'

/** Virtual time, which passes by calls only. */
export interface TestTime {
  /** Waits until nothing can happen without time passing. */
  settle(): Promise<void>
  /** Lets time pass: everything due on the way happens at its own time. */
  advance(by: Duration): Promise<void>
  /**
   * Lets time pass until `check` stops throwing, at most `within` (default 10 m) of virtual time; then throws what it
   * threw.
   */
  eventually<Result>(check: () => Result | Promise<Result>, within?: Duration): Promise<Result>
  nowMs(): number
}

/** What goes on beside the clock. */
export interface Activity {
  /** Calls of ports so far. */
  calls(): number
  /** Calls and runs that have not ended. */
  countRunning(): number
  /** Calls of them that wait for virtual time. */
  countDelayed(): number
  /** Something is on its way that no call tells of. */
  isBusy(): boolean
  /** Resolves once the process runs. */
  awaitRestart(): Promise<void>
}

const { setImmediate: nextTurn } = globalThis

/** Throws an Error where the timers are those of a test: the store and the queues would wait for them for ever. */
export function requireRealTimers(): void {
  if (globalThis.setImmediate !== nextTurn)
    throw new Error('createTestEnv has a clock of its own, and needs the real timers: leave useFakeTimers out')
}

export function createTestTime(clock: VirtualClock, activity: Activity): TestTime {
  /** So many that run were waited for in vain: only virtual time can end them. */
  let stuck = 0

  const settle = async (): Promise<void> => {
    requireRealTimers()
    let quietTurns = 0
    let movedMs = performance.now()
    let stillTurns = 0
    for (let seen = -1; quietTurns < quietTurnsEnough;) {
      // What does not move is waited for by the clock of the machine, and takes no processor time.
      await new Promise((resolve) => (stillTurns > stillTurnsEnough ? setTimeout(resolve, 1) : setImmediate(resolve)))
      await activity.awaitRestart()
      const now = activity.calls()
      const isMoving = now !== seen || activity.isBusy()
      if (isMoving) movedMs = performance.now()
      const running = activity.countRunning()
      stuck = Math.min(stuck, running)
      // A call that is held up, and perhaps the run that made it.
      const waiting = stuck + 2 * activity.countDelayed()
      const patienceMs = running > waiting ? realPatienceMs : stuckPatienceMs
      const isQuiet = !isMoving && (running === 0 || performance.now() - movedMs > patienceMs)
      quietTurns = isQuiet ? quietTurns + 1 : 0
      stillTurns = isMoving || isQuiet ? 0 : stillTurns + 1
      seen = now
    }
    stuck = activity.countRunning()
  }

  const advanceTo = async (untilMs: number): Promise<void> => {
    await settle()
    for (let next = clock.nextDueMs(); next !== undefined && next <= untilMs; next = clock.nextDueMs()) {
      clock.moveTo(next)
      await settle()
    }
    clock.moveTo(untilMs)
    await settle()
  }

  return {
    settle,
    advance: (by) => advanceTo(clock.nowMs() + durationMs(by)),
    eventually: async (check, within = '10m') => {
      const untilMs = clock.nowMs() + durationMs(within)
      for (;;) {
        await settle()
        try {
          return await check()
        } catch (error) {
          const next = clock.nextDueMs()
          if (next === undefined || next > untilMs) throw error
          clock.moveTo(next)
        }
      }
    },
    nowMs: () => clock.nowMs(),
  }
}

/** As many turns of the event loop as a commit and what follows from it take, and some. */
const quietTurnsEnough = 4

/** After so many turns without a call, what runs waits for the machine: a timer, a program, a server. */
const stillTurnsEnough = 20
/**
 * How long (in real time) anything may be busy without a call of a port before it counts as waiting for virtual time:
 * what has just begun, which may call a server or a program, and what was waited for already.
 */
const realPatienceMs = 1_000
const stuckPatienceMs = 25
