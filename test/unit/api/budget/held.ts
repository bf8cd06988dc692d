import { request, type Harness, type Sent } from '../harness.ts'

export interface Hostile {
  /** Method and path. */
  readonly line: string
  readonly sent: Sent
}

export const heldMsMax = 100

/**
 * How long a request holds the process, in milliseconds of processor time on two quiet cores of 2.5 GHz: the best of
 * five, all but the first beside a fixed piece of work that tells how fast this machine is at that moment.
 */
export function heldMs(row: Hostile, { api }: Pick<Harness, 'api'>): Promise<number> {
  return bestOfFive(row, api, (wholeMs) => wholeMs)
}

async function bestOfFive(
  { line, sent }: Hostile,
  api: Harness['api'],
  toMs: (wholeMs: number) => number,
): Promise<number> {
  let best = Infinity
  for (let i = 0; i < 5 && best > heldMsMax; i++) {
    const asked = request(line, sent)
    // The first time counts as it is: mostly it is short enough on any machine, and nothing else needs to be known.
    const before = i === 0 ? 1 : slowness()
    const ms = toMs(await processorMs(() => api(asked)))
    best = Math.min(best, i === 0 ? ms : ms / Math.max(before, slowness()))
  }
  return best
}

/**
 * How long the longest slice of a request holds the process, as `heldMs` has it: between two looks at the clock, one
 * for each turn of the event loop. While somebody else is asked, the process does other things.
 */
export async function longestSliceMs(row: Hostile, harness: Pick<Harness, 'api'>): Promise<number> {
  let longest = 0
  const api: Harness['api'] = async (asked) => {
    longest = 0
    let isDone = false
    let before = process.threadCpuUsage()
    const look = (): void => {
      const { user, system } = process.threadCpuUsage(before)
      longest = Math.max(longest, (user + system) / 1_000)
      before = process.threadCpuUsage()
      if (!isDone) setImmediate(look)
    }
    setImmediate(look)
    try {
      return await harness.api(asked)
    } finally {
      isDone = true
      look()
    }
  }
  return bestOfFive(row, api, () => longest)
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
