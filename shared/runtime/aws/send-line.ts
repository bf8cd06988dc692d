import type { Clock } from '../../ports/clock.ts'
import {
  enoughOf,
  isLookDue,
  isQuick,
  knownOf,
  nextLookMs,
  noteAhead,
  noteDepth,
  noteSent,
  openWindow,
  roomIn,
  type KnownQueue,
  type QueueDepth,
  type Rank,
  type WindowLimits,
} from './send-window.ts'

/** Who of a tick may send into one queue, and when: timers ahead of sweeps, and each in the order of asking. */
export interface SendLine {
  /** How many were waiting when the tick began. */
  readonly waiting: number
  /** Turns are known to be quick. */
  readonly isQuick: boolean
  /** How many timers may be sent ahead at once, to be held until they are due. */
  readonly aheadMax: number
  /** As many of these as there is room for, at least one, as soon as there is; 0 when the tick has to be over. */
  take(want: number, rank: Rank): Promise<number>
  /** Whether there is room for all of these at once; then they are taken. */
  takeAll(want: number, rank: Rank): boolean
  noteAhead(duesMs: readonly number[]): void
  /** Sweeps have fallen behind. */
  noteBehind(): void
  /** What the next tick is to know: the same if nothing was sent. */
  known(): KnownQueue | undefined
}

export interface SendLineOptions {
  readonly clock: Clock
  readonly limits: WindowLimits
  readonly known: KnownQueue | undefined
  readonly look: () => Promise<QueueDepth>
  readonly untilMs: number
}

/** So long is waited until it is looked again whether there is something to do. */
const pauseMs = 250

export async function openSendLine({ clock, limits, known, look, untilMs }: SendLineOptions): Promise<SendLine> {
  const depth = await look()
  let window = openWindow(limits, known, { depth, nowMs: clock.nowMs() })
  const asking = createAsking()
  let hasSent = false

  function grant(want: number, rank: Rank): number {
    const room = roomIn(window, rank, clock.nowMs())
    if (room < Math.max(1, enoughOf(window, want))) return 0
    const granted = Math.min(want, room)
    window = noteSent(window, granted, { rank, nowMs: clock.nowMs() })
    hasSent = true
    return granted
  }

  /** A count that cannot be had is none: the next look may. */
  async function lookAgain(): Promise<void> {
    const nowMs = clock.nowMs()
    try {
      window = noteDepth(window, await look(), nowMs)
    } catch {
      window = { ...window, lookedMs: nowMs }
    }
  }

  async function pause(): Promise<void> {
    const nowMs = clock.nowMs()
    const dueMs = nextLookMs(window) - nowMs
    await clock.sleep(Math.max(1, Math.min(dueMs > 0 ? dueMs : pauseMs, pauseMs, untilMs - nowMs)))
  }

  return {
    waiting: depth.waiting,
    get isQuick() {
      return isQuick(window)
    },
    get aheadMax() {
      return isQuick(window) ? limits.most : limits.slots
    },
    take: async (want, rank) => {
      await asking.enter(rank)
      try {
        while (clock.nowMs() < untilMs) {
          const granted = grant(want, rank)
          if (granted > 0) return granted
          if (isLookDue(window, rank, clock.nowMs())) await lookAgain()
          else await pause()
          await asking.giveWay(rank)
        }
        return 0
      } finally {
        asking.leave()
      }
    },
    takeAll: (want, rank) => {
      if (want === 0) return true
      const isNext = rank === 'timer' || !asking.isTaken()
      return isNext && roomIn(window, rank, clock.nowMs()) >= want && grant(want, rank) === want
    },
    noteAhead: (duesMs) => {
      window = noteAhead(window, duesMs)
    },
    noteBehind: () => {
      window = { ...window, isBehind: true }
    },
    known: () => (hasSent ? knownOf(window) : known),
  }
}

/** One is served at a time: timers ahead of sweeps, and each in the order of asking. */
function createAsking() {
  const lines: Readonly<Record<Rank, (() => void)[]>> = { timer: [], sweep: [] }
  let isTaken = false

  const leave = (): void => {
    const next = lines.timer.shift() ?? lines.sweep.shift()
    if (next === undefined) isTaken = false
    else next()
  }

  return {
    isTaken: () => isTaken,
    enter: async (rank: Rank): Promise<void> => {
      if (!isTaken) isTaken = true
      else await new Promise<void>((resolve) => lines[rank].push(resolve))
    },
    leave,
    /** A timer that came after a sweep goes ahead of it. */
    giveWay: async (rank: Rank): Promise<void> => {
      if (rank === 'timer' || lines.timer.length === 0) return
      const turn = new Promise<void>((resolve) => lines.sweep.unshift(resolve))
      leave()
      await turn
    },
  }
}
