import { metrics } from '../../model/metrics.ts'
import type { Telemetry } from '../../ports/telemetry.ts'

/** What the process takes of the machine. */
export function readProcess(telemetry: Telemetry): void {
  const startSeconds = performance.timeOrigin / 1_000
  telemetry.read(metrics.processCpuSeconds, {}, cpuSeconds)
  telemetry.read(metrics.processResidentBytes, {}, () => process.memoryUsage.rss())
  telemetry.read(metrics.processStartSeconds, {}, () => startSeconds)
  telemetry.read(metrics.heapUsedBytes, {}, () => process.memoryUsage().heapUsed)
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}
