import { DefinitionError } from '../model/errors.ts'
import type { Duration } from '../model/duration.ts'
import type { ApiObject } from '../model/object.ts'
import { isQualifiedName } from '../model/qualified-name.ts'
import { Canary } from './canary/canary-kind.ts'
import { withCanary, type CanaryRuns, type Tried } from './canary/with-canary.ts'
import type { Context } from './context.ts'
import type { Controller, DeletionPolicy } from './controller.ts'
import { withDeletionPolicy } from './deletion-policy.ts'
import { definedMs } from './given-duration.ts'
import type { Kind, StatusOf } from './kind.ts'
import { refuseUnknownOptions, requireFunctions, type KnownOptions } from './known-options.ts'
import type { Outcome } from './outcome.ts'
import type { Predicate } from './predicates.ts'
import { controllerLimit, objectLimit, type RateLimit } from './rate-limit.ts'
import { checkNestedOptions } from './nested-options.ts'
import { rightsOf, type Grant } from './rights.ts'
import { checkVaultGrants, type VaultGrants } from './vault-grants.ts'
import {
  toMappedWatch,
  toOwnedWatch,
  referenceWatch,
  type MappedFrom,
  type Owned,
  type ReferenceTo,
} from './watches.ts'

/** What a user writes: one function that makes the world match one object, and how it is woken. */
export interface ReconcilerOptions<Read> {
  /** No other reconciler of the control plane has it: 63 letters, digits, - _ and . Default: the kind in lower case. */
  readonly name?: string
  /** Which changes of an object wake it. Default: all but those of its status. */
  readonly when?: Predicate<Read>
  /** Kinds of which `ctx.apply` makes children: their changes wake the owner. */
  readonly owns?: readonly (Kind<unknown, unknown> | Owned)[]
  /** Kinds that objects refer to, or that map to objects: their changes wake those. */
  readonly watches?: readonly (ReferenceTo<Read> | MappedFrom)[]
  /**
   * What its runs may read and write beside their own kind, what it owns and what it watches (to read). A call
   * outside of that fails, and its message says what to add. Default: nothing.
   */
  readonly grants?: readonly Grant[]
  /**
   * The secrets of AWS Secrets Manager and Parameter Store that its runs may read and write (`ctx.outside.readSecret`),
   * by the beginnings of their names. The permissions of its function follow from it. Default: none.
   */
  readonly vault?: VaultGrants
  /** Every object runs at least this often, whatever happens; `false` or 0: never without a cause. Default 10 h. */
  readonly resync?: Duration | false
  /** Changes within this time of the first one cause one run, at its end. Default 0: at once. */
  readonly debounce?: Duration
  /** How many objects run at once. One object never runs twice at once. Default 10. */
  readonly concurrency?: number
  /** How often objects run at most. Default: no limit but that of hot loops. */
  readonly rateLimit?: RateLimit
  /** A run is aborted and counts as failed after this long. Default 1 m. */
  readonly timeout?: Duration
  /** Reads, compares, acts; may run at any time, any number of times, and is never told why. */
  reconcile(object: Read, ctx: Context): Promise<Outcome<StatusOf<Read>>>
  /** Undoes what `reconcile` did outside; with it the object waits for deletion until this returns `done()`. */
  cleanup?(object: Read, ctx: Context): Promise<Outcome<StatusOf<Read>>>
  /**
   * New code beside this one, for the share of the objects that the Canary of this reconciler's name says. It needs
   * `canaries` in the list.
   */
  readonly canary?: CanaryOptions<Read>
  /** Only with `cleanup`: see `CleanupOptions`. */
  readonly finalizer?: never
  readonly deletionPolicy?: never
  readonly onRemoved?: never
}

/** The new code of a reconciler, on trial. */
export interface CanaryOptions<Read> {
  /** Names it: letters, digits and _. */
  readonly version: string
  reconcile(object: Read, ctx: Context): Promise<Outcome<StatusOf<Read>>>
  /** For objects that the new code ran last; only where the reconciler has one. Default: the reconciler's. */
  cleanup?(object: Read, ctx: Context): Promise<Outcome<StatusOf<Read>>>
}

/** A reconciler with a clean-up, and what there is to say about it. */
export interface CleanupOptions<Read> extends Omit<
  ReconcilerOptions<Read>,
  'cleanup' | 'finalizer' | 'deletionPolicy'
> {
  /** Undoes what `reconcile` did outside; the object waits for deletion until this returns `done()`. */
  cleanup(object: Read, ctx: Context): Promise<Outcome<StatusOf<Read>>>
  /** What the object carries until `cleanup` is done. Default: the kind's group and the controller's name. */
  readonly finalizer?: string
  /**
   * `Retain`: `cleanup` is not called, what is outside stays. An object's annotation says otherwise. Default `Delete`.
   */
  readonly deletionPolicy?: DeletionPolicy
}

/**
 * For reconcilers that need to see every event. `reconcile` is called for an object that is being deleted, even while
 * finalizers of others hold it. When the object is gone, `reconcile` is called with its last state and `ctx.removed`,
 * again and again until it returns `done()`. Finalizers
 * are the reconciler's own affair, by `addFinalizer` and `removeFinalizer`; so there is no `cleanup`, and no workflow
 * that has one.
 */
export interface AllEventsOptions<Read> extends Omit<ReconcilerOptions<Read>, 'onRemoved' | 'cleanup'> {
  readonly onRemoved: 'reconcile'
  readonly cleanup?: never
}

/** A reconciler for one kind. Throws a TypeError for a definition that cannot work. */
export function defineReconciler<Read, Body>(
  kind: Kind<Read, Body>,
  options: ReconcilerOptions<Read> | CleanupOptions<Read> | AllEventsOptions<Read>,
): Controller {
  const { name = kind.kind.toLowerCase(), concurrency = 10, resync = '10h', cleanup } = options
  if (!isQualifiedName(name) || name.includes('/'))
    throw new DefinitionError(
      `${kind.kind}: the name of its reconciler is ${JSON.stringify(name)}: give 63 letters, digits, - _ and . at most, the first and the last no sign`,
    )
  refuseUnknownOptions(name, options, knownOptions)
  checkNestedOptions(name, options)
  requireFunctions(name, options, ['reconcile', ...(cleanup === undefined ? [] : ['cleanup'])])
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw new DefinitionError(`${name}: concurrency must be a whole number from 1, not ${concurrency}`)
  const timeoutMs = definedMs(`${name}: timeout`, options.timeout ?? '1m')
  if (timeoutMs === 0) throw new DefinitionError(`${name}: a run needs time: timeout must be more than 0`)
  if (options.onRemoved !== undefined && cleanup !== undefined)
    throw new DefinitionError(
      `${name}: with onRemoved the finalizers are its own affair: it can have no cleanup, nor a workflow's`,
    )
  if (options.onRemoved !== undefined && kind.group === '' && kind.kind === 'Secret')
    throw new DefinitionError(
      `${name}: no last state of a Secret is kept outside of Secrets, so it can have no onRemoved: use cleanup`,
    )
  if (options.finalizer !== undefined && cleanup === undefined)
    throw new DefinitionError(`${name}: a finalizer without cleanup would never be removed`)
  if (options.deletionPolicy !== undefined && cleanup === undefined)
    throw new DefinitionError(`${name}: without cleanup there is nothing that a deletionPolicy could decide`)
  const wakers = wakersOf(kind as Kind, options)
  const runs = runsOf({ name, kind: kind as Kind }, options)
  const grants = [...(options.grants ?? []), ...(options.canary === undefined ? [] : [readsCanary])]
  return Object.freeze({
    name,
    kind: kind as Kind,
    ...wakers,
    rights: rightsOf({ kind: kind as Kind, ...wakers }, grants),
    ...(options.vault && { vault: checkVaultGrants(name, options.vault) }),
    resyncMs: definedMs(`${name}: resync`, resync === false ? 0 : resync),
    debounceMs: definedMs(`${name}: debounce`, options.debounce ?? 0),
    timeoutMs,
    concurrency,
    objectLimit: objectLimit(name, options.rateLimit?.object),
    controllerLimit: controllerLimit(name, options.rateLimit?.controller),
    reportsStatus: true,
    reconcile: runs.reconcile,
    ...(options.canary && { canary: options.canary.version }),
    ...(options.onRemoved && { onRemoved: options.onRemoved }),
    ...(runs.cleanup && {
      ...withCleanup(runs.cleanup, options.deletionPolicy),
      finalizer: finalizerOf(kind, name, options.finalizer),
    }),
  })
}

/** A workflow is spread into a definition, with what the author's own code calls of it. */
const knownOptions: KnownOptions<CleanupOptions<unknown>> & { readonly run: true; readonly tearDown: true } = {
  name: true,
  when: true,
  owns: true,
  watches: true,
  grants: true,
  vault: true,
  resync: true,
  debounce: true,
  concurrency: true,
  rateLimit: true,
  timeout: true,
  reconcile: true,
  cleanup: true,
  canary: true,
  finalizer: true,
  deletionPolicy: true,
  onRemoved: true,
  run: true,
  tearDown: true,
}

/** The code of a reconciler, with the one on trial. */
function runsOf<Read>(
  reconciler: Tried,
  { reconcile, cleanup, canary }: Pick<CleanupOptions<Read>, 'reconcile' | 'canary'> & { readonly cleanup?: unknown },
): Pick<Controller, 'reconcile' | 'cleanup'> {
  const stable = { reconcile, ...(cleanup !== undefined && { cleanup }) } as unknown as CanaryRuns
  if (canary === undefined) return stable
  requireFunctions(`${reconciler.name}: canary`, canary, ['reconcile'])
  if (canary.cleanup !== undefined && cleanup === undefined)
    throw new DefinitionError(`${reconciler.name}: the canary has a cleanup, and the reconciler has none`)
  return withCanary(reconciler, stable, canary as unknown as CanaryRuns)
}

const readsCanary: Grant = { kind: Canary, access: 'read' }

type CleanedUp = Required<Pick<Controller, 'cleanup' | 'deletionPolicy'>>

function withCleanup(cleanup: CleanedUp['cleanup'], deletionPolicy: DeletionPolicy = 'Delete'): CleanedUp {
  return { cleanup: withDeletionPolicy(cleanup, deletionPolicy), deletionPolicy }
}

type WokenBy<Read> = Pick<ReconcilerOptions<Read>, 'when' | 'owns' | 'watches'>
type Wakers = Pick<Controller, 'when' | 'owns' | 'references' | 'maps'>

function wakersOf<Read>(kind: Kind, { when, owns = [], watches = [] }: WokenBy<Read>): Wakers {
  return {
    when: (when ?? (() => true)) as Predicate,
    owns: owns.map(toOwnedWatch),
    references: watches.flatMap((watch) =>
      'references' in watch ? [referenceWatch(watch as ReferenceTo<ApiObject>)] : [],
    ),
    maps: watches.flatMap((watch) => ('primaries' in watch ? [toMappedWatch(kind, watch)] : [])),
  }
}

function finalizerOf({ group }: Kind<unknown, unknown>, name: string, given?: string): string {
  const finalizer = given ?? `${group || 'setpoint.dev'}/${name}`
  if (isQualifiedName(finalizer)) return finalizer
  throw new DefinitionError(`${name}: ${finalizer} is no name for a finalizer; give one such as example.com/${name}`)
}
