import type { Json } from '../model/json.ts'

/**
 * What a reconciler notes for its later runs: identities of things outside, what it is about to do. Kept with the
 * object as long as that lives, through retries and restarts; no client sees it or can change it. JSON, 4096 characters
 * in all. It is stored in clear: a password belongs into a Secret.
 */
export interface Notes {
  get(key: string): Json | undefined
  /** Kept when the run ends, however it ends; `undefined` forgets the key. Throws a TypeError if there is no room. */
  set(key: string, value: Json | undefined): void
  /** Durable once it resolves: for what must be known even if the process dies in the next moment. */
  keep(): Promise<void>
}
