import type { SweepOptions } from '../../engine/wake/sweep.ts'

/**
 * Puts background work into the queues at the rate of its controller: so many keys each second from now on. The line of
 * a rate limit knows no lanes: a key that is to wait asks when its time has come, and a user's change meanwhile has
 * asked before it.
 */
export function pace(
  queueOf: SweepOptions['queueOf'],
  { perSecond, nowMs }: { readonly perSecond: number; readonly nowMs: number },
): SweepOptions['queueOf'] {
  let sent = 0
  const next = (): number => nowMs + Math.min(spreadMsMax, 1_000 * Math.floor(sent++ / perSecond))
  return (controller) => {
    const queue = queueOf(controller)
    return { ...queue, send: (wakeUps) => queue.send(wakeUps.map((one) => ({ ...one, notBeforeMs: next() }))) }
  }
}

/** What is further ahead than a minute is not held but let go, and clocks may differ. */
const spreadMsMax = 50_000
