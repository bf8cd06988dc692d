/**
 * Processor time that this process takes for some work, in milliseconds: the same on a machine that others use, too.
 */
export function processorMs(work: () => void): number {
  const started = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(started)
  return (user + system) / 1_000
}
