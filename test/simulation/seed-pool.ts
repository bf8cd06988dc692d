import { Worker } from 'node:worker_threads'
import { nothingYet, together, type SeedsOptions, type Tally } from './run-seed.ts'

export interface PoolOptions extends SeedsOptions {
  readonly from: number
  /** The last seed, included. */
  readonly to: number
  /** How many threads; a seed runs in one of them. */
  readonly threads: number
  /** Whether it is enough: no further seed begins then. */
  readonly isOver?: () => boolean
  /** Told of each slice that has ended. */
  readonly onSlice?: (slice: Tally, all: Tally) => void
}

/** A slice of seeds, as a thread is given it. */
export interface Slice extends SeedsOptions {
  readonly from: number
  readonly to: number
}

const sliceSize = 20

/** A slice takes seconds of processor time, however busy the machine is; one that takes so much does not end. */
const sliceCpuMsMax = 120_000
/** Nor does one that takes next to nothing between two looks: it waits for what does not come. */
const idleCpuMs = 20
const lookMs = 60_000

/**
 * Runs a range of seeds over several threads. Which thread runs a seed changes nothing in it. A thread that breaks
 * down, or does not end, costs its seed only: what was to be run with it is run again, seed by seed.
 */
export async function runPool(options: PoolOptions): Promise<Tally> {
  const { engine, from, to, threads, isFirstOnly = false, isOnce = false, part, onSlice } = options
  const isEnough = options.isOver ?? ((): boolean => false)
  const how: SeedsOptions = { engine, isFirstOnly, isOnce, part }
  let next = from
  let all = nothingYet
  const isOver = (): boolean => next > to || isEnough() || (isFirstOnly && all.broken.length > 0)
  const note = (tally: Tally): void => {
    all = together(all, tally)
    onSlice?.(tally, all)
  }

  async function serve(): Promise<void> {
    const thread = createThread()
    while (!isOver()) {
      const slice: Slice = { ...how, from: next, to: Math.min(to, next + sliceSize - 1) }
      next = slice.to + 1
      await thread.run(slice).then(note, async () => oneByOne(thread, slice))
    }
    await thread.end()
  }

  async function oneByOne(thread: Thread, { from: first, to: last }: Slice): Promise<void> {
    for (let seed = first; seed <= last; seed++) {
      const slice = { ...how, from: seed, to: seed }
      note(await thread.run(slice).catch((error: unknown) => brokenDown(seed, error)))
    }
  }

  await Promise.all(Array.from({ length: threads }, serve))
  return { ...all, broken: [...all.broken].sort((a, b) => a.seed - b.seed) }
}

function brokenDown(seed: number, error: unknown): Tally {
  return {
    ...nothingYet,
    seeds: 1,
    broken: [{ seed, violations: [`simulation: its thread broke down: ${String(error)}`] }],
  }
}

interface Thread {
  /** Rejects if the thread breaks down; the next slice has a new one. */
  run(slice: Slice): Promise<Tally>
  end(): Promise<unknown>
}

function createThread(): Thread {
  let worker: Worker | undefined
  const end = async (): Promise<unknown> => {
    const last = worker
    worker = undefined
    return last?.terminate()
  }
  return {
    run: async (slice) => {
      worker ??= new Worker(new URL('seed-worker.ts', import.meta.url))
      try {
        return await answerTo(worker, slice)
      } catch (error) {
        await end()
        throw error
      }
    },
    end,
  }
}

function answerTo(worker: Worker, slice: Slice): Promise<Tally> {
  const { promise, resolve, reject } = Promise.withResolvers<Tally>()
  const exited = (): void => reject(new Error('the thread has ended'))
  const looking = watchProcessor(worker, () => reject(new Error('the thread does not end')))
  worker.once('error', reject).once('exit', exited).once('message', resolve)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
  worker.postMessage(slice)
  return promise.finally(() => {
    clearInterval(looking)
    worker.off('error', reject).off('exit', exited).off('message', resolve)
  })
}

/** Calls back when the thread uses processor time as no slice does, by the thread's own count (Node 24.6). */
function watchProcessor(worker: Worker, onStuck: () => void): NodeJS.Timeout {
  const usedMs = async (): Promise<number> => {
    const { user, system } = await worker.cpuUsage()
    return (user + system) / 1_000
  }
  let firstMs: number | undefined
  let lastMs = 0
  const look = async (): Promise<void> => {
    const nowMs = await usedMs()
    firstMs ??= nowMs
    if (nowMs - firstMs > sliceCpuMsMax || nowMs - lastMs < idleCpuMs) onStuck()
    lastMs = nowMs
  }
  // A thread that has ended says so by its own event.
  return setInterval(() => void look().catch(() => {}), lookMs)
}
