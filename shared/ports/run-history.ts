import type { JsonObject } from '../model/json.ts'

/**
 * The last runs of each object, for people: nothing is decided by it, and no run fails because of it.
 *
 * Promises, checked by test/contract/run-history.contract.ts: a run that was noted is read back, newest last; of each
 * object at most `keptRuns` stay; what a process noted more than a few seconds before it was killed is still there.
 */
export interface RunHistory {
  /** A run that failed, changed something, or logged something. Never throws, and is not waited for. */
  note(uid: string, run: PastRun): void
  /** One that did none of these. Those in a row are told as one. */
  noteQuiet(uid: string, run: QuietRun): void
  /** Oldest first. Rejects with UNAVAILABLE. */
  read(uid: string): Promise<readonly PastRun[]>
}

/** So many of an object are kept. */
export const keptRuns = 20

export interface QuietRun {
  readonly atMs: number
  readonly ms: number
  /** Why it ran, in words. */
  readonly causes: readonly string[]
}

export interface PastRun extends QuietRun {
  /** How it ended: done, again, retryAfter, failed, stopped. */
  readonly outcome: string
  readonly generation?: number
  readonly reason?: string
  readonly message?: string
  /** When it asked to run again. */
  readonly afterMs?: number
  readonly reads?: number
  readonly writes?: number
  readonly drift?: number
  /** Calls of somebody else's API, such as `create success`. */
  readonly outside?: Readonly<Record<string, number>>
  /** What it said. */
  readonly log?: readonly RunLine[]
  /** So many like it in a row, of which this was the last. */
  readonly times?: number
}

export interface RunLine {
  readonly atMs: number
  readonly level: 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields?: JsonObject
}
