import type { Clock } from '../../shared/ports/clock.ts'
import type { InHand, InHandNote } from '../../shared/ports/in-hand.ts'

/** What is in hand, in the memory of a test. */
export function createInHand(clock: Pick<Clock, 'nowMs'>): InHand {
  const boards = new Map<string, { readonly notes: Map<string, InHandNote>; readonly slowMs: Map<string, number> }>()

  function boardOf(queue: string) {
    const board = boards.get(queue) ?? { notes: new Map(), slowMs: new Map() }
    boards.set(queue, board)
    return board
  }

  return {
    note: async (queue, all) => {
      const { notes, slowMs } = boardOf(queue)
      for (const { id, untilMs } of notes.values()) if (untilMs <= clock.nowMs()) notes.delete(id)
      for (const { slowLoop, ...one } of all) {
        notes.set(one.id, one)
        if (slowLoop !== undefined) slowMs.set(slowLoop, clock.nowMs())
      }
    },
    strike: async (queue, ids, slowLoops) => {
      const { notes, slowMs } = boardOf(queue)
      for (const id of ids) notes.delete(id)
      for (const loop of slowLoops) slowMs.set(loop, clock.nowMs())
    },
    look: async (queue) => {
      const { notes, slowMs } = boardOf(queue)
      return { notes: [...notes.values()].filter(({ untilMs }) => untilMs > clock.nowMs()), slowMs: new Map(slowMs) }
    },
  }
}
