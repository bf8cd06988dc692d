import { keyText } from '../../model/object-key.ts'
import type { WakeUp, WorkQueue } from '../../ports/work-queue.ts'
import type { Turn, TurnRunner } from '../state/turn.ts'

/**
 * How far a source of wake-ups is safe: the position up to which every wake-up it gave has been run to its end. The
 * queue is in memory, so after a crash the source is taken up from there again. A turn that ended with a hold is safe,
 * since the wait is in the object; one that is delayed is not over. Grows with the keys that wait or run, not with the
 * objects there are.
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
  /** How many keys of a loop have been sent and not run to their end. */
  countPending(loop: string): number
}

export interface ProgressOptions {
  readonly from: bigint
  /** Where in the source a wake-up comes from; undefined if from another source. */
  readonly positionOf: (wakeUp: WakeUp) => bigint | undefined
}

/** What is known of one key of a loop. */
interface KeyProgress {
  /** The last position noted: who sends the same once more, after a failure, adds nothing. */
  noted: bigint
  /** The first position that was sent and no run has taken. */
  waiting: bigint | undefined
}

interface LoopProgress {
  readonly keys: Map<string, KeyProgress>
  /** Of runs. Of one key there may be two: the queue hands it out again before the run that has settled it ends. */
  readonly running: Set<{ readonly position: bigint }>
  /** How many keys wait. */
  waiting: number
}

export function createProgress({ from, positionOf }: ProgressOptions): Progress {
  const loops = new Map<string, LoopProgress>()
  let last = from

  const loopOf = (name: string): LoopProgress => {
    const loop = loops.get(name) ?? { keys: new Map(), running: new Set(), waiting: 0 }
    loops.set(name, loop)
    return loop
  }

  const noteAll = (loop: LoopProgress, wakeUps: readonly WakeUp[]): void => {
    for (const wakeUp of wakeUps) {
      const position = positionOf(wakeUp)
      if (position !== undefined) noteSent(loop, keyText(wakeUp.key), { position, last })
    }
  }

  return {
    noteSends: (name, queue) => {
      const loop = loopOf(name)
      return {
        ...queue,
        send: (wakeUps) => {
          noteAll(loop, wakeUps)
          return queue.send(wakeUps)
        },
      }
    },

    noteEnds: (name, runTurn) => {
      const loop = loopOf(name)
      return (turn, signal) => {
        const key = loop.waiting === 0 ? undefined : loop.keys.get(keyText(turn.key))
        const position = key?.waiting
        if (key === undefined || position === undefined) return runTurn(turn, signal)
        key.waiting = undefined
        loop.waiting--
        const delay: Turn['delay'] = (ms) => {
          letWait(loop, key, position)
          return turn.delay(ms)
        }
        return noteRun(loop, key, position, runTurn({ ...turn, delay }, signal))
      }
    },

    notePassed: (position) => {
      last = position
    },

    countPending: (name) => {
      const { waiting, running } = loopOf(name)
      return waiting + running.size
    },

    safe: () => findSafe([...loops.values()], last),
  }
}

interface Sent {
  readonly position: bigint
  /** Everything up to here was sent before. */
  readonly last: bigint
}

function noteSent(loop: LoopProgress, text: string, { position, last }: Sent): void {
  let key = loop.keys.get(text)
  if (key === undefined) loop.keys.set(text, (key = { noted: -1n, waiting: undefined }))
  if (position <= key.noted) return
  key.noted = position
  // A change may be told with a later state than it made, and is taken up again only from before itself.
  letWait(loop, key, position > last ? last + 1n : position)
}

function noteRun(loop: LoopProgress, key: KeyProgress, position: bigint, running: Promise<void>): Promise<void> {
  const mine = { position }
  loop.running.add(mine)
  return running.then(
    () => void loop.running.delete(mine),
    (error: unknown) => {
      letWait(loop, key, position)
      loop.running.delete(mine)
      throw error
    },
  )
}

/** The first position counts. */
function letWait(loop: LoopProgress, key: KeyProgress, position: bigint): void {
  if (key.waiting === undefined) loop.waiting++
  if (key.waiting === undefined || position < key.waiting) key.waiting = position
}

/** Ahead of everything that waits or runs. Forgets keys of which that says all. */
function findSafe(loops: readonly LoopProgress[], last: bigint): bigint {
  let safe = last
  for (const { keys, running } of loops) {
    for (const { waiting } of keys.values()) if (waiting !== undefined && waiting <= safe) safe = waiting - 1n
    for (const { position } of running) if (position <= safe) safe = position - 1n
  }
  for (const { keys } of loops)
    for (const [text, { noted, waiting }] of keys) if (waiting === undefined && noted <= safe) keys.delete(text)
  return safe
}
