import { keyText } from '../../model/object-key.ts'
import type { WakeUp, WorkQueue } from '../../ports/work-queue.ts'
import type { TurnRunner } from '../state/turn.ts'

/**
 * How far a source of wake-ups is safe: the position up to which every wake-up it gave has been run to its end. The
 * queue is in memory, so after a crash the source is taken up from there again. A turn that ended with a wait is safe,
 * since the wait is in the object. Grows with the keys that wait or run, not with the objects there are.
 */
export interface Progress {
  /** The queue, with its sends noted. */
  noteSends(loop: string, queue: WorkQueue): WorkQueue
  /** The runner, with its ends noted. */
  noteEnds(loop: string, run: TurnRunner): TurnRunner
  /** Everything up to this position has been sent. */
  notePassed(position: bigint): void
  /** Where to take up after a crash. */
  safe(): bigint
  /** How many keys of a loop have been sent and not run to their end. Looks at all that wait or run. */
  countPending(loop: string): number
}

export interface ProgressOptions {
  readonly from: bigint
  /** Where in the source a wake-up comes from; undefined if from another source. */
  readonly positionOf: (wakeUp: WakeUp) => bigint | undefined
}

interface RunningKey {
  readonly key: string
  readonly position: bigint
}

export function createProgress({ from, positionOf }: ProgressOptions): Progress {
  const waiting = new Map<string, bigint>()
  /** Of one key there may be two: the queue hands it out again before the run that has settled it comes to its end. */
  const running = new Set<RunningKey>()
  /** The last position noted for a key: who sends the same once more, after a failure, adds nothing. */
  const noted = new Map<string, bigint>()
  let last = from

  const note = (key: string, position: bigint): void => {
    const earlier = waiting.get(key)
    if (earlier === undefined || position < earlier) waiting.set(key, position)
  }

  const noteAll = (loop: string, wakeUps: readonly WakeUp[]): void => {
    for (const wakeUp of wakeUps) {
      const position = positionOf(wakeUp)
      if (position === undefined) continue
      const key = `${loop} ${keyText(wakeUp.key)}`
      if (position <= (noted.get(key) ?? -1n)) continue
      noted.set(key, position)
      // A change may be told with a later state than it made, and is taken up again only from before itself.
      note(key, position > last ? last + 1n : position)
    }
  }

  return {
    noteSends: (loop, queue) => ({
      ...queue,
      send: (wakeUps) => {
        noteAll(loop, wakeUps)
        return queue.send(wakeUps)
      },
    }),

    noteEnds: (loop, run) => (turn, signal) => {
      if (waiting.size === 0) return run(turn, signal)
      const key = `${loop} ${keyText(turn.key)}`
      const position = waiting.get(key)
      if (position === undefined) return run(turn, signal)
      waiting.delete(key)
      const mine: RunningKey = { key, position }
      running.add(mine)
      return run(turn, signal).then(
        () => void running.delete(mine),
        (error: unknown) => {
          note(key, position)
          running.delete(mine)
          throw error
        },
      )
    },

    notePassed: (position) => {
      last = position
    },

    countPending: (loop) => {
      const keys = [...waiting.keys(), ...Array.from(running, ({ key }) => key)]
      return keys.filter((key) => key.startsWith(`${loop} `)).length
    },

    safe: () => {
      let safe = last
      for (const position of waiting.values()) if (position <= safe) safe = position - 1n
      for (const { position } of running) if (position <= safe) safe = position - 1n
      for (const [key, position] of noted) if (position <= safe) noted.delete(key)
      return safe
    },
  }
}
