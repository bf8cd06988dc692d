import type { Costs } from './meter.ts'
import type { Quantiles } from './quantiles.ts'
import type { Target } from './connection.ts'

/** A server under test says this once it takes requests. */
export interface Ready extends Target {
  readonly pid: number
}

/** What a cell does: `create` and `update` wait until each change has converged; `echo` waits for the reply alone. */
export type Verb = 'create' | 'update' | 'echo'

/** One thing to measure: so many virtual clients, each doing one change after the other, for so long. */
export interface Cell {
  /** Under which name the generator was told of the server. */
  readonly server: string
  readonly verb: Verb
  readonly clients: number
  readonly durationMs: number
  /** Ends earlier, after so many changes. */
  readonly changesMax?: number
  /** Of the names of the keys. An `update` cell finds the keys that a `create` cell of this prefix made. */
  readonly prefix: string
  /** How many keys an `update` cell changes in turn. Default 1,000. */
  readonly keys?: number
}

/** What the generator is told: which server there is, and whether to watch what happens there; or to measure. */
export type Order =
  | { readonly kind: 'connect'; readonly server: string; readonly ready: Ready; readonly watch: boolean }
  | ({ readonly kind: 'measure' } & Cell)

export interface CellResult extends Costs {
  /** From the request to its reply, in ms. */
  readonly accept: Quantiles
  /** From the request to the status on the watch, in ms; the same as `accept` for `echo`. */
  readonly converge: Quantiles
  /** Watch events that came together: the writes of one commit, or of a few where the watch lagged. */
  readonly eventsTogether: number
}
