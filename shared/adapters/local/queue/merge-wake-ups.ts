import type { Origin, WakeUp } from '../../../ports/work-queue.ts'

/** Reasons are for people, who read the first few. */
const reasonLengthMax = 300

/**
 * One wake-up that stands for two of the same key: the stronger origin, the more urgent lane, the later change, the
 * earlier time, both reasons.
 */
export function mergeWakeUps(earlier: WakeUp, later: WakeUp): WakeUp {
  const resourceVersion = laterVersion(earlier.resourceVersion, later.resourceVersion)
  const notBeforeMs = earlierTime(earlier.notBeforeMs, later.notBeforeMs)
  const timerAtMs = earlierTime(earlier.timerAtMs, later.timerAtMs)
  return {
    key: earlier.key,
    origin: strongerOrigin(earlier.origin, later.origin),
    dedupId: later.dedupId,
    lane: earlier.lane === 'urgent' ? 'urgent' : later.lane,
    reason: bothReasons(earlier.reason, later.reason),
    ...(resourceVersion !== undefined && { resourceVersion }),
    ...(notBeforeMs !== undefined && { notBeforeMs }),
    ...(timerAtMs !== undefined && { timerAtMs }),
  }
}

function strongerOrigin(a: Origin, b: Origin): Origin {
  if (a === 'timer') return b
  return b === 'change' ? b : a
}

function laterVersion(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return BigInt(a) >= BigInt(b) ? a : b
}

/** Without a time means now. */
function earlierTime(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : Math.min(a, b)
}

function bothReasons(a: string, b: string): string {
  if (a === b || a.length + b.length > reasonLengthMax || a.split('; ').includes(b)) return a
  return `${a}; ${b}`
}
