import type { Checkpoint } from '../../ports/checkpoint.ts'
import type { Progress } from './progress.ts'

/** What of the engine is kept beside the objects. */
export interface Checkpoints {
  /** How far the relay got. */
  readonly relayed: Checkpoint
  /** How far the wheel was turned. */
  readonly turned: Checkpoint
  /** The control loops, with what they watch, that have looked at every object that was there before. */
  readonly introduced: Checkpoint
}

export interface SavingOptions extends Checkpoints {
  readonly changes: Progress
  readonly turns: Progress
}

/** Saves how far the engine got, whenever that is worth a write: an idle process writes once a minute. */
export interface Saving {
  /**
   * From now on progress is saved. First these names, if any are given: those of the loops that are there still. What
   * happens to the objects of a loop that is gone is passed by, and it has to look at all of them when it is back.
   */
  begin(kept?: readonly string[]): void
  /** `woke`: the wheel has woken objects since the last call. */
  save(nowMs: number, woke: boolean): Promise<void>
  /** Saves these names once everything up to a position of the feed is safe. */
  introduce(names: readonly string[], upTo: bigint): void
  saveAll(): Promise<void>
}

const quietMs = 60_000

export function createSaving({ relayed, turned, introduced, changes, turns }: SavingOptions): Saving {
  const saveRelayed = createSaver(relayed, () => String(changes.safe()))
  const saveTurned = createSaver(turned, () => String(turns.safe()))
  let hasBegun = false
  let remembered: readonly string[] | undefined
  let introduction: { readonly names: readonly string[]; readonly upTo: bigint } | undefined
  let woke = false
  let turnedSavedMs = -Infinity

  async function saveIntroduction(): Promise<void> {
    if (introduction === undefined || changes.safe() < introduction.upTo) return
    await introduced.save(JSON.stringify(introduction.names))
    introduction = undefined
  }

  async function forgetGone(): Promise<void> {
    if (remembered === undefined) return
    await introduced.save(JSON.stringify(remembered))
    remembered = undefined
  }

  return {
    begin: (kept) => {
      hasBegun = true
      remembered = kept
    },
    save: async (nowMs, wokeNow) => {
      woke ||= wokeNow
      if (!hasBegun) return
      await forgetGone()
      await saveRelayed()
      await saveIntroduction()
      if (!woke && nowMs - turnedSavedMs < quietMs) return
      await saveTurned()
      turnedSavedMs = nowMs
      woke = false
    },
    introduce: (names, upTo) => {
      introduction = { names, upTo }
    },
    saveAll: async () => {
      if (!hasBegun) return
      await forgetGone()
      await saveRelayed()
      await saveIntroduction()
      await saveTurned()
    },
  }
}

/** Writes only what differs from what it wrote last. */
function createSaver(checkpoint: Checkpoint, value: () => string): () => Promise<void> {
  let saved: string | undefined
  return async () => {
    const next = value()
    if (next === saved) return
    await checkpoint.save(next)
    saved = next
  }
}
