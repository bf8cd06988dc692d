import { hasCode, OperatingError } from '../../../model/errors.ts'
import type { ObjectKey } from '../../../model/object-key.ts'
import { onNewest } from '../../../model/on-newest.ts'
import type { KindName } from '../../../ports/object-index.ts'
import { feedBucketsMin, feedPartition, feedPartitionsOf } from './dynamodb-keys.ts'
import { createRecordingNotes, staleMs } from './dynamodb-recording-notes.ts'
import type { DynamodbOptions } from './dynamodb-requests.ts'

/**
 * Which kinds have their writes recorded in the index `feed`, and over how many buckets. A kind is recorded while
 * somebody watches it and a day longer, because an entry that moves with each write is half of what a write costs. All
 * who write know within a minute what is recorded, because nobody relies on an older note.
 */
export interface Recordings {
  /** Where the entry of an object's next write goes. Throws THROTTLED, UNAVAILABLE. */
  findEntry(key: ObjectKey): Promise<FeedEntry>

  /** Where the entries of a kind may be. */
  listPartitions(kind: KindName): Promise<readonly string[]>

  /**
   * Has the kind recorded from now on. Of every write that is numbered later than the answer there is an entry; who
   * wants earlier ones looks through the objects. Throws THROTTLED, UNAVAILABLE.
   */
  record(kind: KindName): Promise<number>

  /** Spreads a kind over twice as many buckets, because one of them takes no more. In two minutes all readers know. */
  spread(kind: KindName): Promise<void>
}

export interface FeedEntry {
  /** Without a watch, only a timer of the safety net has an entry. */
  readonly isRecorded: boolean
  readonly partition: string
}

/** What is noted of a kind. Times are by the clocks of those who write and read. */
interface Recording {
  /** The kind is recorded up to then. */
  readonly untilMs: number
  /** From then on every write is in the index. */
  readonly sureMs: number
  /** How many buckets there are from when on, in the order of time. They only grow. */
  readonly buckets: readonly (readonly [count: number, fromMs: number])[]
}

/** A write takes its entry a second before it is there, and clocks differ. */
const slackMs = 10_000
/** As long as a function of an earlier version may go on running. */
const earlierMs = 16 * 60_000
const recordedMs = 24 * 3_600_000
const bucketsMax = 64

export function createRecordings(options: DynamodbOptions): Recordings {
  const { clock } = options
  const notes = createRecordingNotes(options)

  async function find(kind: KindName): Promise<Recording> {
    return recordingOf(kind, (await notes.current()).texts.get(nameOf(kind)))
  }

  /** Notes what becomes of a kind. Where another notes something of it first, it is looked at again. */
  function change(kind: KindName, next: (known: Recording, bornMs: number) => Recording): Promise<Recording> {
    const attempt = async (): Promise<Recording> => {
      const { texts, bornMs = clock.nowMs() } = await notes.current()
      const text = texts.get(nameOf(kind))
      const known = recordingOf(kind, text)
      const changed = next(known, bornMs)
      if (changed !== known) await notes.save(nameOf(kind), { before: text, next: JSON.stringify(changed), bornMs })
      return changed
    }
    return onNewest(attempt, { reword: (error) => toUnavailable(kind, error) })
  }

  return {
    findEntry: async (key) => {
      const { untilMs, buckets } = await find(key)
      const nowMs = clock.nowMs()
      const [count] = buckets.findLast(([, fromMs]) => fromMs <= nowMs) ?? [feedBucketsMin(key)]
      return { isRecorded: nowMs < untilMs, partition: feedPartition(key, count) }
    },

    // Also those to come: whoever writes may be ahead.
    listPartitions: async (kind) => feedPartitionsOf(kind, (await find(kind)).buckets.at(-1)?.[0] ?? 0),

    record: async (kind) => {
      const { sureMs } = await change(kind, (known, bornMs) => extend(known, bornMs, clock.nowMs()))
      return sureMs
    },

    spread: async (kind) => {
      await change(kind, (known) => widen(known, clock.nowMs()))
    },
  }
}

/**
 * Watched again before half of its day is over, it is left as it is. Near its end, those who write may rely on the note
 * of before until they know this one.
 */
function extend(known: Recording, bornMs: number, nowMs: number): Recording {
  if (known.untilMs > nowMs + recordedMs / 2) return known
  const knownMs = nowMs + staleMs + slackMs
  const sureMs = known.untilMs > knownMs ? known.sureMs : Math.max(knownMs, bornMs + earlierMs)
  return { ...known, sureMs, untilMs: nowMs + recordedMs }
}

/** One step after the other: those who write know the next one before it begins. */
function widen(known: Recording, nowMs: number): Recording {
  const [count, fromMs] = known.buckets.at(-1) ?? [bucketsMax, nowMs]
  if (count >= bucketsMax || fromMs > nowMs - staleMs) return known
  return {
    ...known,
    buckets: [
      [count, fromMs],
      [2 * count, nowMs + 2 * staleMs],
    ],
  }
}

function recordingOf(kind: KindName, text: string | undefined): Recording {
  if (text !== undefined) return JSON.parse(text) as Recording
  return { untilMs: 0, sureMs: 0, buckets: [[feedBucketsMin(kind), 0]] }
}

function toUnavailable(kind: KindName, error: unknown): unknown {
  if (!hasCode(error, 'VERSION_CONFLICT')) return error
  return new OperatingError('UNAVAILABLE', `too many write at once that ${nameOf(kind)} is recorded`, { cause: error })
}

/** With its slash it is none of the item's other attributes. */
function nameOf({ group, kind }: KindName): string {
  return `${group}/${kind}`
}
