import { Worker } from 'node:worker_threads'
import { nothingYet, together, type Tally } from './run-seed.ts'

export interface PoolOptions {
  readonly from: number
  /** The last seed, included. */
  readonly to: number
  /** How many threads; a seed runs in one of them. */
  readonly threads: number
  /** Stop at the first broken seed. */
  readonly isFirstOnly?: boolean
  /** No seed begins after this time. */
  readonly untilMs?: number
  /** Told of each slice that has ended. */
  readonly onSlice?: (slice: Tally, all: Tally) => void
}

/** A slice of seeds, as a thread is given it. */
export interface Slice {
  readonly from: number
  readonly to: number
  readonly isFirstOnly: boolean
}

const sliceSize = 20

/** Runs a range of seeds over several threads. Which thread runs a seed changes nothing in it. */
export async function runPool(options: PoolOptions): Promise<Tally> {
  const { from, to, threads, isFirstOnly = false, untilMs = Infinity, onSlice } = options
  let next = from
  let all = nothingYet
  const isOver = (): boolean => next > to || Date.now() >= untilMs || (isFirstOnly && all.broken.length > 0)

  async function serve(): Promise<void> {
    const worker = new Worker(new URL('seed-worker.ts', import.meta.url))
    try {
      while (!isOver()) {
        const slice: Slice = { from: next, to: Math.min(to, next + sliceSize - 1), isFirstOnly }
        next = slice.to + 1
        const tally = await answerTo(worker, slice)
        all = together(all, tally)
        onSlice?.(tally, all)
      }
    } finally {
      await worker.terminate()
    }
  }

  await Promise.all(Array.from({ length: threads }, serve))
  return { ...all, broken: [...all.broken].sort((a, b) => a.seed - b.seed) }
}

function answerTo(worker: Worker, slice: Slice): Promise<Tally> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject)
    worker.once('message', (tally: Tally) => {
      worker.off('error', reject)
      resolve(tally)
    })
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
    worker.postMessage(slice)
  })
}
