import type { Clock } from '../../ports/clock.ts'

/** The machine's clock. A sleep keeps the process alive. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  steadyMs: () => performance.now(),
  sleep: async (ms, signal) => {
    for (let leftMs = ms; leftMs > 0; leftMs -= timeoutMsMax) await pause(Math.min(leftMs, timeoutMsMax), signal)
  },
  nextTurn: () =>
    new Promise((resolve) => {
      setImmediate(resolve)
    }),
}

/** A longer timeout of Node's would fire at once. */
const timeoutMsMax = 2 ** 31 - 1

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve()
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end, { once: true })
  })
}
