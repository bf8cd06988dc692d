import {
  createVirtualClock as createStandingClock,
  type VirtualClock as StandingClock,
} from '../../shared/testing/virtual-clock.ts'

/** A virtual clock that waits for what it sets off. */
export interface VirtualClock extends StandingClock {
  /**
   * Lets `ms` pass: goes from one due sleep to the next, and lets what each sets off have a turn of the event loop,
   * with all its microtasks, before it goes on.
   */
  advance(ms: number): Promise<void>
}

export function createVirtualClock(startMs?: number): VirtualClock {
  const clock = createStandingClock(startMs)

  const advance = async (ms: number): Promise<void> => {
    const untilMs = clock.nowMs() + ms
    await turn()
    for (let dueMs = clock.nextDueMs(); dueMs !== undefined && dueMs <= untilMs; dueMs = clock.nextDueMs()) {
      clock.moveTo(dueMs)
      await turn()
    }
    clock.moveTo(untilMs)
  }

  return { ...clock, advance }
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
