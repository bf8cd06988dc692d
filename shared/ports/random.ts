/** The only source of chance, ids included: a simulator replays a run from its seed. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number
  /** A version 4 UUID. */
  uuid(): string
}
