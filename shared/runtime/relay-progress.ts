import { keyText } from '../model/object-key.ts'
import type { WakeUp, WorkQueue } from '../ports/work-queue.ts'
import type { TurnRunner } from '../engine/reconcile-key.ts'

/**
 * How far the relay's work is safe: the resourceVersion up to which every wake-up has been run to its end. The queue is in
 * memory, so after a crash the feed is followed from there again. A turn that ended with a wait is safe, since the wait is
 * in the object. Grows with the keys that wait or run, not with the objects there are.
 */
export interface RelayProgress {
  /** The queue, with its sends noted. */
  noting(loop: string, queue: WorkQueue): WorkQueue
  /** The runner, with its ends noted. */
  ending(loop: string, run: TurnRunner): TurnRunner
  /** Everything up to this resourceVersion has been relayed. */
  relayed(resourceVersion: string): void
  /** Where to follow from after a crash. */
  safe(): string
}

export function createRelayProgress(from: string): RelayProgress {
  const waiting = new Map<string, bigint>()
  const running = new Map<string, bigint>()
  let last = BigInt(from)

  const note = (key: string, version: bigint): void => {
    const noted = waiting.get(key)
    if (noted === undefined || version < noted) waiting.set(key, version)
  }

  const noteAll = (loop: string, wakeUps: readonly WakeUp[]): void => {
    for (const { key, resourceVersion } of wakeUps)
      if (resourceVersion !== undefined) note(`${loop} ${keyText(key)}`, BigInt(resourceVersion))
  }

  return {
    noting: (loop, queue) => ({
      ...queue,
      send: (wakeUps) => {
        noteAll(loop, wakeUps)
        return queue.send(wakeUps)
      },
    }),

    ending: (loop, run) => async (turn, signal) => {
      const key = `${loop} ${keyText(turn.key)}`
      const version = waiting.get(key)
      waiting.delete(key)
      if (version !== undefined) running.set(key, version)
      try {
        await run(turn, signal)
      } catch (error) {
        if (version !== undefined) note(key, version)
        throw error
      } finally {
        running.delete(key)
      }
    },

    relayed: (resourceVersion) => {
      last = BigInt(resourceVersion)
    },

    safe: () => {
      let safe = last
      for (const version of [...waiting.values(), ...running.values()]) if (version <= safe) safe = version - 1n
      return safe.toString()
    },
  }
}
