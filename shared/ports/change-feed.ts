import type { StoredObject, Touched } from '../model/stored-object.ts'

/**
 * What happened to objects, in the order of resourceVersions within a batch and from batch to batch.
 *
 * Where writes are numbered one by one (SQLite), every write is told once, with the state that it made, and following
 * from the resourceVersion of any change or batch misses and repeats nothing. Where clocks number the writes
 * (DynamoDB), a look tells each object that was written since the last look, in its newest state; see
 * DynamodbChangeFeed for what a reader can follow from. Everywhere the states of an object never go back, and the last
 * one is told.
 */
export interface ChangeFeed {
  /**
   * Batches of changes after a resourceVersion, then those to come, until the signal aborts. An empty batch says that
   * nothing happened up to its resourceVersion. Throws EXPIRED if the feed no longer reaches back that far.
   */
  follow(options: FollowOptions): AsyncIterable<ChangeBatch>

  /** A resourceVersion that every later change is above. */
  latest(): Promise<string>

  /**
   * How far below where it begins, or what it has told, a reader may be told a state. Left out where every write has
   * its number: never.
   */
  readonly reachBack?: number
}

export interface FollowOptions {
  readonly after: string
  /** Only this kind, if given. */
  readonly of?: { readonly group: string; readonly kind: string }
  readonly signal: AbortSignal
}

/** About a megabyte of objects at most, and one object more. */
export interface ChangeBatch {
  readonly changes: readonly Change[]
  /**
   * Following from here misses nothing that comes later. It repeats none of this batch, or, where clocks number the
   * writes (DynamoDB), its last two seconds.
   */
  readonly resourceVersion: string
}

export interface Change {
  readonly type: 'added' | 'modified' | 'removed'
  /** What the write touched, or where a look tells several writes as one, what all of them touched. */
  readonly touched: Touched
  /** For `removed`: the last state, under the resourceVersion of the removal. */
  readonly stored: StoredObject
  /**
   * The state that the write replaced. Every log of writes tells it (SQLite's, the stream of DynamoDB), unless that
   * state was damaged. A feed that tells several writes as one does not.
   */
  readonly before?: StoredObject | undefined
}
