import { slowness, threadTimeMs } from '../../../support/processor-time.ts'
import type { Harness } from '../harness.ts'
import { request, type Sent } from '../sent-request.ts'

export interface Hostile {
  /** Method and path. */
  readonly line: string
  readonly sent: Sent
  /** The status of the answer, where it is known: a request that is refused at once takes no time. */
  readonly status?: number
}

export const heldMsMax = 100

/**
 * How long a request holds the process, in milliseconds of processor time on two quiet cores of 2.5 GHz: the best of
 * ten, all but the first beside a fixed piece of work that tells how fast this machine is at that moment.
 */
export function heldMs(row: Hostile, { api }: Pick<Harness, 'api'>): Promise<number> {
  return bestOfTen(row, api, (wholeMs) => wholeMs)
}

async function bestOfTen(
  { line, sent, status }: Hostile,
  api: Harness['api'],
  toMs: (wholeMs: number) => number,
): Promise<number> {
  let best = Infinity
  for (let i = 0; i < 10 && best > heldMsMax; i++) {
    const asked = request(line, sent)
    // The first time counts as it is: mostly it is short enough on any machine, and nothing else needs to be known.
    const before = i === 0 ? 1 : slowness()
    const startedMs = threadTimeMs()
    const answer = await api(asked)
    const ms = toMs(threadTimeMs() - startedMs)
    if (status !== undefined && answer.status !== status) throw new Error(`${line.slice(0, 200)}: ${answer.status}`)
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
    let beforeMs = threadTimeMs()
    const look = (): void => {
      longest = Math.max(longest, threadTimeMs() - beforeMs)
      beforeMs = threadTimeMs()
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
  return bestOfTen(row, api, () => longest)
}
