import { durationMs, type Duration } from '../model/duration.ts'
import type { ObjectKey } from '../model/object-key.ts'
import type { ApiObject } from '../model/object.ts'
import type { Context } from './context.ts'
import type { Controller, Watch } from './controller.ts'
import type { Kind, StatusOf } from './kind.ts'
import type { Outcome } from './outcome.ts'
import { isQualifiedName } from '../resources/metadata.ts'

/** What a user writes: one function that makes the world match one object, and how it is woken. */
export interface ReconcilerOptions<Read> {
  /** Default: the kind in lower case. */
  readonly name?: string
  /** Kinds of which `ctx.apply` makes children: their changes wake the owner. */
  readonly owns?: readonly Kind<unknown, unknown>[]
  /** Kinds that objects refer to: their changes wake those who do. */
  readonly watches?: readonly ReferenceTo<Read>[]
  /** Every object runs at least this often, whatever happens. Default 10 h. */
  readonly resync?: Duration
  /** How many objects run at once. One object never runs twice at once. Default 10. */
  readonly concurrency?: number
  /** A run is aborted and counts as failed after this long. Default 1 m. */
  readonly timeout?: Duration
  /** Reads, compares, acts; may run at any time, any number of times, and is never told why. */
  reconcile(object: Read, ctx: Context): Promise<Outcome<StatusOf<Read>>>
  /** Undoes what `reconcile` did outside; with it the object waits for deletion until this returns `done()`. */
  cleanup?(object: Read, ctx: Context): Promise<Outcome<StatusOf<Read>>>
  /** What the object carries until `cleanup` is done. Default: the kind's group and the controller's name. */
  readonly finalizer?: string
}

/** A watch by reference, made by `reference`. */
export interface ReferenceTo<Read> {
  readonly kind: Kind<unknown, unknown>
  readonly names: (primary: Read) => readonly Reference[]
}

/** The name of another object; in the namespace of whoever refers to it unless it says another. */
export interface Reference {
  readonly name: string
  readonly namespace?: string
}

/** Wakes a primary when an object of `kind` that it refers to changes. `names` must be a pure function of the primary. */
export function reference<Read>(
  kind: Kind<unknown, unknown>,
  names: (primary: Read) => Reference | readonly Reference[] | undefined,
): ReferenceTo<Read> {
  return { kind, names: (primary) => listed(names(primary)) }
}

function listed(found: Reference | readonly Reference[] | undefined): readonly Reference[] {
  if (found === undefined) return []
  return Array.isArray(found) ? (found as readonly Reference[]) : [found as Reference]
}

/** A reconciler for one kind. Throws a TypeError for a definition that cannot work. */
export function defineReconciler<Read, Body>(kind: Kind<Read, Body>, options: ReconcilerOptions<Read>): Controller {
  const { name = kind.kind.toLowerCase(), owns = [], concurrency = 10, reconcile, cleanup } = options
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw new TypeError(`${name}: concurrency must be a whole number from 1, not ${concurrency}`)
  if (options.finalizer !== undefined && cleanup === undefined)
    throw new TypeError(`${name}: a finalizer without cleanup would never be removed`)
  return {
    name,
    kind: kind as Kind,
    owns: owns as readonly Kind[],
    watches: (options.watches ?? []).map((watch) => watchOf(watch as ReferenceTo<ApiObject>)),
    resyncMs: durationMs(options.resync ?? '10h'),
    timeoutMs: durationMs(options.timeout ?? '1m'),
    concurrency,
    reportsStatus: true,
    reconcile: reconcile as unknown as Controller['reconcile'],
    ...(cleanup && {
      cleanup: cleanup as unknown as NonNullable<Controller['cleanup']>,
      finalizer: finalizerOf(kind, name, options.finalizer),
    }),
  }
}

function finalizerOf({ group }: Kind<unknown, unknown>, name: string, given?: string): string {
  const finalizer = given ?? `${group || 'setpoint.dev'}/${name}`
  if (isQualifiedName(finalizer)) return finalizer
  throw new TypeError(`${name}: ${finalizer} is no name for a finalizer; give one such as example.com/${name}`)
}

function watchOf({ kind, names }: ReferenceTo<ApiObject>): Watch {
  const targets = (primary: ApiObject): readonly ObjectKey[] =>
    names(primary).map(({ name, namespace = primary.metadata.namespace ?? '' }) => ({
      group: kind.group,
      kind: kind.kind,
      namespace: kind.namespaced ? namespace : '',
      name,
    }))
  return { kind: kind as Kind, targets }
}
