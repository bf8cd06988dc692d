/** A small text that survives a restart: how far something got. One writer. */
export interface Checkpoint {
  /** Undefined if nothing was ever saved. */
  load(): Promise<string | undefined>
  /** Durable once it resolves. */
  save(value: string): Promise<void>
}
