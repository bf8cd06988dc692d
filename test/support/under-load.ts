import { readFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'

/**
 * A limit in real time for what takes at most so long on a machine of its own: twice that, and as many times longer as
 * there are programs for each processor. Ask for it when the work is done, so that it knows of the load there was.
 */
export function underLoad(ms: number): number {
  const programs = Math.max(loadavg()[0] ?? 0, programsNow())
  return 2 * ms * Math.max(1, programs / availableParallelism())
}

/**
 * For a queue of which a test waits for a redelivery, in seconds: no shorter than a run takes, or runs that go well
 * come twice.
 */
export function visibilityUnderLoad(): number {
  return Math.ceil(underLoad(500) / 1_000)
}

/** How many programs run or could run at this moment. The load average takes a minute to tell. */
function programsNow(): number {
  try {
    return Number(/(\d+)\//.exec(readFileSync('/proc/loadavg', 'utf8'))?.[1])
  } catch {
    return 0
  }
}
