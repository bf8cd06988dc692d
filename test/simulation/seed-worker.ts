import { parentPort } from 'node:worker_threads'
import { runSeeds } from './run-seed.ts'
import type { Slice } from './seed-pool.ts'

// Errors are the simulation's daily bread, and nobody reads where they were made.
Error.stackTraceLimit = 0

/** A thread of the pool: runs slices of seeds as they are given to it. */
async function serve({ from, to, ...options }: Slice): Promise<void> {
  const seeds = Array.from({ length: to - from + 1 }, (_, i) => from + i)
  const tally = await runSeeds(seeds, options)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
  parentPort?.postMessage(tally)
}

parentPort?.on('message', (slice: Slice) => void serve(slice))
