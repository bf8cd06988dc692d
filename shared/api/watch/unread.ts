import type { Clock } from '../../ports/clock.ts'
import type { Watcher } from './live-changes.ts'
import type { Text } from './text-pieces.ts'

/**
 * What watches have to say and their clients have not taken. It is bounded in all, since a text waits for as long as
 * the slowest of its readers: beyond the bound those are cut off whose clients have taken nothing for longest.
 */
export interface Unread {
  /** The watch has this to say, and nothing of what it had before. What is short is not counted. */
  hold(reader: Reader, text: Text | undefined): void
  /** The watch has nothing to say any more. */
  release(reader: Reader): void
}

export type Reader = Pick<Watcher, 'wroteAtMs' | 'isTaken' | 'cut'>

interface Held {
  readonly bytes: number
  /** Watches that are told the same have one text in common. */
  readers: number
}

/** In all watches together. */
const bytesMax = 64_000_000
/** A client that has taken something within this time reads. */
const readingMs = 1_000

export function createUnread(clock: Clock, most = bytesMax): Unread {
  const texts = new Map<Text, Held>()
  const held = new Map<Reader, Text>()
  let total = 0

  const release = (reader: Reader): void => {
    const text = held.get(reader)
    if (text === undefined) return
    held.delete(reader)
    const one = texts.get(text) as Held
    if (--one.readers > 0) return
    texts.delete(text)
    total -= one.bytes
  }

  const keep = (reader: Reader, text: readonly Uint8Array[]): void => {
    const one = texts.get(text) ?? { bytes: text.reduce((sum, { length }) => sum + length, 0), readers: 0 }
    if (one.readers++ === 0) {
      texts.set(text, one)
      total += one.bytes
    }
    held.set(reader, text)
  }

  /** Who has waited longest of those that do not read. */
  const findSlowest = (): Reader | undefined => {
    const nowMs = clock.nowMs()
    let slowest: Reader | undefined
    for (const reader of held.keys()) {
      const isSlow = !reader.isTaken && Math.abs(nowMs - reader.wroteAtMs) >= readingMs
      if (isSlow && (slowest === undefined || reader.wroteAtMs < slowest.wroteAtMs)) slowest = reader
    }
    return slowest
  }

  return {
    release,
    hold: (reader, text) => {
      release(reader)
      if (text === undefined || typeof text === 'string') return
      keep(reader, text)
      for (let slow = total > most ? findSlowest() : undefined; slow !== undefined;) {
        release(slow)
        slow.cut()
        slow = total > most ? findSlowest() : undefined
      }
    },
  }
}
