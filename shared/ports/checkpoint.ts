/** A small text that survives a restart: how far something got. One writer, or the last one wins. */
export interface Checkpoint {
  /** Undefined if nothing was ever saved. */
  load(): Promise<string | undefined>
  /** Durable once it resolves. */
  save(value: string): Promise<void>
}
