import type { Checkpoint } from '../ports/checkpoint.ts'
import type { Clock } from '../ports/clock.ts'

/** An answer serves all who ask within this time. */
const keptMs = 1_000
const patienceMs = 2_000

/** Whether writes are taken, which only a write can tell: one a second at most, however many ask. */
export function createReadiness(probe: Checkpoint, clock: Clock): () => Promise<boolean> {
  let asked = { atMs: -Infinity, answer: Promise.resolve(false) }
  return () => {
    const nowMs = clock.nowMs()
    if (Math.abs(nowMs - asked.atMs) >= keptMs) asked = { atMs: nowMs, answer: tryToWrite(probe, clock) }
    return asked.answer
  }
}

async function tryToWrite(probe: Checkpoint, clock: Clock): Promise<boolean> {
  const over = new AbortController()
  const tooLong = clock.sleep(patienceMs, over.signal).then(() => false)
  const written = probe.save(String(clock.nowMs())).then(
    () => true,
    () => false,
  )
  const isReady = await Promise.race([written, tooLong])
  over.abort('over')
  return isReady
}
