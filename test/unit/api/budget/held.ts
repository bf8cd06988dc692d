import { request, type Harness, type Sent } from '../harness.ts'

export interface Hostile {
  /** Method and path. */
  readonly line: string
  readonly sent: Sent
}

export const heldMsMax = 100

/**
 * How long a request holds the process, in milliseconds of processor time on two quiet cores of 2.5 GHz: the best of
 * five, each beside a fixed piece of work that tells how fast this machine is at that moment.
 */
export async function heldMs({ line, sent }: Hostile, { api }: Pick<Harness, 'api'>): Promise<number> {
  let best = Infinity
  for (let i = 0; i < 5 && best > heldMsMax; i++) {
    const asked = request(line, sent)
    const before = slowness()
    const ms = await processorMs(() => api(asked))
    best = Math.min(best, ms / Math.max(before, slowness()))
  }
  return best
}

/** How many times as long the fixed piece of work takes; never less than once. */
function slowness(): number {
  const started = process.threadCpuUsage()
  for (let i = 0; i < 3; i++) JSON.stringify(JSON.parse(fixedText))
  const { user, system } = process.threadCpuUsage(started)
  return Math.max(1, (user + system) / 1_000 / fixedMs)
}

const fixedText = JSON.stringify(Array.from({ length: 20_000 }, (_, i) => ({ a: i, b: `text ${i}` })))
const fixedMs = 29

/** Of this thread alone: other test files run in other threads of the process. */
async function processorMs(work: () => Promise<unknown>): Promise<number> {
  const started = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(started)
  return (user + system) / 1_000
}
