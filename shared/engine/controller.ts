import type { ObjectKey } from '../model/object-key.ts'
import type { ApiObject } from '../model/object.ts'
import type { Context } from './context.ts'
import type { Kind } from './kind.ts'
import type { Outcome } from './outcome.ts'

/** A reconciler as the engine runs it: every default filled in, types of spec and status left behind. */
export interface Controller {
  /** Names the queue, the metrics and the field manager. */
  readonly name: string
  /** The one primary kind. */
  readonly kind: Kind
  readonly owns: readonly Kind[]
  readonly watches: readonly Watch[]
  /** Held while `cleanup` has work to do; absent without `cleanup`. */
  readonly finalizer?: string
  readonly resyncMs: number
  readonly concurrency: number
  readonly timeoutMs: number
  /** False for the engine's own controllers of built-in kinds, whose status has other fields. */
  readonly reportsStatus: boolean
  readonly reconcile: (object: ApiObject, ctx: Context) => Promise<Outcome>
  readonly cleanup?: (object: ApiObject, ctx: Context) => Promise<Outcome>
}

/** Objects of another kind whose changes wake the primaries that refer to them. */
export interface Watch {
  readonly kind: Kind
  /** What the primary refers to; names without a namespace are in the primary's own. */
  readonly targets: (primary: ApiObject) => readonly ObjectKey[]
}
