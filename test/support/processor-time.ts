/**
 * How long some work holds this thread: milliseconds of processor time, as on two quiet cores of 2.5 GHz. The time of
 * other threads does not count, because other test files run there. A time of more than a moment is divided by how many
 * times as long a fixed piece of work takes now.
 */
export function processorMs(work: () => void): number {
  const startedMs = threadTimeMs()
  work()
  return scaled(threadTimeMs() - startedMs)
}

/** The least of three times, if the first is more than a moment: what else runs on the machine may hold one up. */
export function leastProcessorMs(work: () => void): number {
  let least = processorMs(work)
  for (let more = 0; more < 2 && least >= momentMs; more++) least = Math.min(least, processorMs(work))
  return least
}

/** As `processorMs`, for work that also waits. The time counts all that the thread does until the work has ended. */
export async function processorMsOf(work: () => Promise<unknown>): Promise<number> {
  const startedMs = threadTimeMs()
  await work()
  return scaled(threadTimeMs() - startedMs)
}

/** What this thread has taken so far. */
export function threadTimeMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** How many times as long the fixed piece of work takes; never less than once. */
export function slowness(): number {
  const startedMs = threadTimeMs()
  for (let i = 0; i < 3; i++) JSON.stringify(JSON.parse(fixedText))
  return Math.max(1, (threadTimeMs() - startedMs) / fixedMs)
}

const fixedText = JSON.stringify(Array.from({ length: 20_000 }, (_, i) => ({ a: i, b: `text ${i}` })))
const fixedMs = 29

/** A moment is below every limit of the tests, on any machine. */
const momentMs = 100

function scaled(ms: number): number {
  return ms < momentMs ? ms : ms / slowness()
}
