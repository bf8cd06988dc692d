import { metrics } from '../../model/metrics.ts'
import type { Telemetry } from '../../ports/telemetry.ts'

/**
 * The age of the oldest change that no run has met, by controller. Runs tell the ages of the changes that they meet:
 * where none runs, because the function does not start or nothing feeds it, they say nothing. The tick sees such
 * changes in the safety net.
 */
export type TellUnmet = (controller: string, ms: number) => void

/** To be made ahead of the control loops, whose runs would tell the same series in this process. */
export function createTellUnmet(controllers: readonly string[], telemetry: Telemetry): TellUnmet {
  // In one process with the runs, those know.
  if (telemetry.isOneOfMany !== true) return () => {}
  const oldestMs = known.get(telemetry) ?? new Map<string, number>()
  known.set(telemetry, oldestMs)
  for (const controller of controllers)
    telemetry.read(metrics.oldestUnconverged, { controller }, () => {
      const ms = oldestMs.get(controller) ?? 0
      oldestMs.delete(controller)
      return ms / 1_000
    })
  return (controller, ms) => void oldestMs.set(controller, Math.max(ms, oldestMs.get(controller) ?? 0))
}

/** By controller, of each process: several ticks in it, each for its share, tell the same series. */
const known = new WeakMap<Telemetry, Map<string, number>>()
