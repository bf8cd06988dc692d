/**
 * Remembers texts for five minutes, as SQS does with deduplication ids; at least the last ten thousand of them, and at
 * most twice as many, so that a flood costs no memory. What is forgotten early is let through once more, which is
 * harmless.
 */
export interface RecentIds {
  /** Whether the text is new; it is remembered from now on if so. A clock that is put back makes what it knew old. */
  admit(id: string, nowMs: number): boolean
}

const windowMs = 300_000
const generationMax = 10_000

export function createRecentIds(): RecentIds {
  let current = new Map<string, number>()
  let previous = new Map<string, number>()
  let startedMs = -Infinity

  const turnOver = (nowMs: number): void => {
    previous = current
    current = new Map()
    startedMs = nowMs
  }

  return {
    admit: (id, nowMs) => {
      const seenMs = current.get(id) ?? previous.get(id)
      if (seenMs !== undefined && Math.abs(nowMs - seenMs) < windowMs) return false
      if (current.size >= generationMax || Math.abs(nowMs - startedMs) >= windowMs) turnOver(nowMs)
      current.set(id, nowMs)
      return true
    },
  }
}
