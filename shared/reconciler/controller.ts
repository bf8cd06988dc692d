import type { ObjectKey } from '../model/object-key.ts'
import type { ApiObject } from '../model/object.ts'
import type { Context } from './context.ts'
import type { SeenBudget } from './external/seen-budgets.ts'
import type { Kind } from './kind.ts'
import type { Outcome } from './outcome.ts'
import type { Predicate } from './predicates.ts'
import type { ControllerLimit, ObjectLimit } from './rate-limit.ts'
import type { Rights } from './rights.ts'
import type { VaultGrants } from './vault-grants.ts'

/** A reconciler as the engine runs it: every default filled in, types of spec and status left behind. Frozen. */
export interface Controller {
  /** Names the queue, the metrics and the field manager. */
  readonly name: string
  /** The one primary kind. */
  readonly kind: Kind
  /** Which changes of a primary wake it. */
  readonly when: Predicate
  readonly owns: readonly Watched[]
  readonly references: readonly ReferenceWatch[]
  readonly maps: readonly MappedWatch[]
  /** What its runs may do by their context. */
  readonly rights: Rights
  /** What its runs may read and write of secrets of AWS. Left out: nothing. */
  readonly vault?: VaultGrants
  /** Held while `cleanup` has work to do; absent without `cleanup`. */
  readonly finalizer?: string
  /** What `cleanup` does unless the object says otherwise; absent without `cleanup`. */
  readonly deletionPolicy?: DeletionPolicy
  /** Objects that are being deleted and those that are gone are reconciled like all others. */
  readonly onRemoved?: 'reconcile'
  readonly resyncMs: number
  readonly debounceMs: number
  readonly concurrency: number
  readonly timeoutMs: number
  readonly objectLimit: ObjectLimit | undefined
  readonly controllerLimit: ControllerLimit | undefined
  /** False for the engine's own controllers of built-in kinds, whose status has other fields. */
  readonly reportsStatus: boolean
  readonly reconcile: (object: ApiObject, ctx: Context) => Promise<Outcome>
  readonly cleanup?: (object: ApiObject, ctx: Context) => Promise<Outcome>
  /** What its runs in this process may call outside, for people; absent if it has no budget. */
  readonly callBudgets?: () => readonly SeenBudget[]
  /** The programs outside that its runs use, and why there are better ones, for people; absent if it says nothing. */
  readonly runsOn?: () => { readonly what: string; readonly advice?: string | undefined } | undefined
  /** The version of its code that is on trial beside the other. */
  readonly canary?: string
}

/** The kinds that controllers reconcile or watch. */
export function kindsNamedBy(controllers: readonly Controller[]): readonly Kind[] {
  const watched = controllers.flatMap(({ owns, references, maps }) => [...owns, ...references, ...maps])
  return [...controllers, ...watched].map(({ kind }) => kind)
}

/** Each kind that controllers reconcile, or bring the definition of, once. */
export function kindsBroughtBy(controllers: readonly Controller[]): readonly Kind[] {
  const brought = new Map<string, Kind>()
  const own = controllers.map(({ kind }) => kind)
  for (const kind of [...own, ...kindsNamedBy(controllers).filter(({ definition }) => definition !== undefined)]) {
    const name = `${kind.group}/${kind.kind}`
    if (!brought.has(name)) brought.set(name, kind)
  }
  return [...brought.values()]
}

/**
 * What becomes of what a reconciler made outside when the object is deleted. `Delete`: `cleanup` undoes it. `Retain`:
 * it stays as it is, and `cleanup` is not called. Children in this control plane are not meant: they go with their
 * owner, unless it is deleted with `--cascade=orphan`.
 */
export type DeletionPolicy = 'Delete' | 'Retain'

/** Objects of another kind whose changes wake primaries. */
export interface Watched {
  readonly kind: Kind
  readonly when: Predicate
}

/** Primaries name the objects. */
export interface ReferenceWatch extends Watched {
  /** The text of the user's function: a watch by another one is another watch. */
  readonly source: string
  readonly targets: (primary: ApiObject) => readonly ObjectKey[]
}

/** The objects name the primaries. */
export interface MappedWatch extends Watched {
  /** The text of the user's function: a watch by another one is another watch. */
  readonly source: string
  readonly primaries: (object: ApiObject) => readonly ObjectKey[]
}
