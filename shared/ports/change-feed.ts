import type { StoredObject, Touched } from '../model/stored-object.ts'

/**
 * What happened to objects, at least once and in order per object. Between two looks several changes of one object may
 * be told as its last one: a reader learns what is, not what happened.
 */
export interface ChangeFeed {
  /**
   * Batches of changes after a resourceVersion, then those to come, until the signal aborts. An empty batch says that
   * nothing happened up to its resourceVersion. Throws EXPIRED if the feed no longer reaches back that far.
   */
  follow(options: FollowOptions): AsyncIterable<ChangeBatch>

  /** A resourceVersion that every later change is above. */
  latest(): Promise<string>
}

export interface FollowOptions {
  readonly after: string
  /** Only this kind, if given. */
  readonly of?: { readonly group: string; readonly kind: string }
  readonly signal: AbortSignal
}

export interface ChangeBatch {
  readonly changes: readonly Change[]
  /**
   * Following from here misses nothing that comes later. It repeats none of this batch, or, where clocks number the writes
   * (DynamoDB), its last two seconds.
   */
  readonly resourceVersion: string
}

export interface Change {
  readonly type: 'added' | 'modified' | 'removed'
  /**
   * What the write touched. Writes of the engine alone may be left out when a later one replaced them; every write that
   * touched more is told, though perhaps with a later state.
   */
  readonly touched: Touched
  /** For `removed`: the last state, under the resourceVersion of the removal. */
  readonly stored: StoredObject
}
