import type { Clock } from '../../ports/clock.ts'
import type { Watcher } from './live-changes.ts'
import type { Text } from './text-pieces.ts'

/**
 * What watches have to say and their clients have not taken. It is bounded in all, since a text waits for as long as
 * the slowest of its readers: beyond the bound those are cut off whose clients have taken nothing for longest.
 */
export interface Unread {
  /**
   * Takes room for what the watch is about to read by itself, one after the other. If there is none for a while it says
   * no: the watch asks again.
   */
  reserve(reader: Reader, signal: AbortSignal): Promise<boolean>
  /** The watch has this to say, and nothing of what it had before. What is short is not counted. */
  hold(reader: Reader, text: Text | Source | undefined): void
  /** The watch has nothing to say any more. */
  release(reader: Reader): void
}

export type Reader = Pick<Watcher, 'wroteAtMs' | 'isTaken' | 'cut'>

/** What a watch tells in parts, which it keeps up to the last of them. */
export interface Source {
  readonly texts: object
  readonly length: number
}

interface Held {
  readonly bytes: number
  /** Watches that are told the same have one text in common. */
  readers: number
}

interface Holding {
  readonly of: object
  readonly sinceMs: number
}

/** In all watches together. */
const bytesMax = 64_000_000
/** A client that has taken something within this time reads. */
const readingMs = 1_000
/** Who has not taken all of a text within this time is slow, though it takes a little now and then. */
const patienceMs = 10_000
/** A page of objects, or a stretch of the log, in bytes. */
const pageBytes = 2_000_000
/** Who waits for room looks so often whether somebody is slow. */
const roomMs = 100

export function createUnread(clock: Clock, most = bytesMax): Unread {
  /** Who waits for room, in order, and what ends the wait. */
  const waiting = new Map<Reader, AbortController>()
  const account = createAccount(clock, () => {
    const [first] = waiting.values()
    first?.abort('there is room')
  })

  /** Cuts off who is slow, until there is room for so many bytes more. */
  const makeRoom = (bytes: number): boolean => {
    const isFull = (): boolean => account.total() + bytes > most
    for (let slow = isFull() ? account.findSlowest() : undefined; slow !== undefined;) {
      account.release(slow)
      slow.cut()
      slow = isFull() ? account.findSlowest() : undefined
    }
    return !isFull() || account.total() === 0
  }

  const takeRoom = (reader: Reader): boolean => {
    if (!makeRoom(pageBytes)) return false
    account.keep(reader, reader, () => pageBytes)
    waiting.delete(reader)
    return true
  }

  return {
    release: (reader) => {
      waiting.delete(reader)
      account.release(reader)
    },
    reserve: async (reader, signal) => {
      account.release(reader)
      if (waiting.size === 0 && takeRoom(reader)) return true
      const turn = new AbortController()
      waiting.set(reader, turn)
      await clock.sleep(roomMs, AbortSignal.any([signal, turn.signal]))
      return waiting.has(reader) && takeRoom(reader)
    },
    hold: (reader, text) => {
      if (text === undefined || typeof text === 'string') return account.release(reader)
      if ('texts' in text) account.keep(reader, text.texts, () => text.length)
      else account.keep(reader, text, () => text.reduce((sum, { length }) => sum + length, 0))
      makeRoom(0)
    },
  }
}

/** Who holds what, and how much that is. */
interface Account {
  readonly total: () => number
  readonly keep: (reader: Reader, of: object, bytes: () => number) => void
  readonly release: (reader: Reader) => void
  /** Who has waited longest of those that do not read, or are slow. */
  readonly findSlowest: () => Reader | undefined
}

function createAccount(clock: Clock, onFree: () => void): Account {
  const texts = new Map<object, Held>()
  const holdings = new Map<Reader, Holding>()
  let total = 0

  const release = (reader: Reader): void => {
    const holding = holdings.get(reader)
    if (holding === undefined) return
    holdings.delete(reader)
    const one = texts.get(holding.of) as Held
    if (--one.readers > 0) return
    texts.delete(holding.of)
    total -= one.bytes
    onFree()
  }

  const keep: Account['keep'] = (reader, of, bytes) => {
    const before = holdings.get(reader)
    const sinceMs = before?.of === of ? before.sinceMs : clock.nowMs()
    const one = texts.get(of) ?? { bytes: bytes(), readers: 0 }
    if (one.readers++ === 0) {
      texts.set(of, one)
      total += one.bytes
    }
    release(reader)
    holdings.set(reader, { of, sinceMs })
  }

  const findSlowest = (): Reader | undefined => {
    const nowMs = clock.nowMs()
    let slowest: Reader | undefined
    for (const [reader, { sinceMs }] of holdings) {
      if (reader.isTaken) continue
      const isSlow = Math.abs(nowMs - reader.wroteAtMs) >= readingMs || Math.abs(nowMs - sinceMs) >= patienceMs
      if (isSlow && (slowest === undefined || reader.wroteAtMs < slowest.wroteAtMs)) slowest = reader
    }
    return slowest
  }

  return { total: () => total, keep, release, findSlowest }
}
