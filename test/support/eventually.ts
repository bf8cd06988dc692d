import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Tries until it does not throw, for so long at most; then throws what was thrown last. For what other processes do in
 * their own time.
 */
export async function eventually<Result>(attempt: () => Promise<Result>, withinMs = 120_000): Promise<Result> {
  const endMs = performance.now() + withinMs
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (performance.now() > endMs) throw error
      await sleep(100)
    }
  }
}
