import type { Requester } from '../model/admission-hooks.ts'
import type { JsonObject } from '../model/json.ts'
import type { ObjectKey } from '../model/object-key.ts'
import type { ApiObject } from '../model/object.ts'
import type { AdmissionBudget } from '../model/policy/admission-budget.ts'
import type { Selector } from '../model/selector.ts'
import type { StructuralSchema } from '../model/schema/structural-schema.ts'
import type { ServedKind } from '../model/served-kind.ts'
import type { StoredObject } from '../model/stored-object.ts'
import type { Annotate, ReviewedPath } from './policy-review.ts'

/**
 * The verbs on resources: what a write means (admit, carry over what the writer may not change, move the generation,
 * one conditional write), for everyone who writes: the HTTP API, reconcilers through their context, the engine's own
 * controllers.
 *
 * Every write throws INVALID with causes, or VERSION_CONFLICT if it named a resourceVersion that has passed. A patch
 * names none, so it is tried again on the newest version. A write that changes nothing writes nothing.
 */
export interface Resources {
  /** Throws NOT_FOUND. */
  get(kind: ServedKind, at: Place): Promise<StoredObject>

  list(kind: ServedKind, options?: ListOptions): Promise<ObjectList>

  /** Throws ALREADY_EXISTS, and NOT_FOUND for a namespace that does not exist. */
  create(kind: ServedKind, object: JsonObject, options: WriteOptions): Promise<Written>

  /** Replaces the whole object, or with `subresource: 'status'` its status alone. */
  update(kind: ServedKind, object: JsonObject, options: WriteOptions & SubresourceOption): Promise<Written>

  /** `apply` creates what does not exist. */
  patch(kind: ServedKind, at: Place, patch: Patch, options: WriteOptions & SubresourceOption): Promise<Written>

  /** Two-phase: with finalizers the object is marked and returned as it now is; without, it is gone. */
  delete(kind: ServedKind, at: Place, options?: DeleteOptions): Promise<Deleted>
}

export interface Place {
  /** Empty or absent for cluster-scoped kinds. */
  readonly namespace?: string
  readonly name: string
}

export interface ListOptions {
  readonly namespace?: string
  readonly selector?: Selector
  readonly limit?: number
  /** The token of the page before. Throws EXPIRED if it cannot be used any more, BAD_REQUEST if it is none of ours. */
  readonly continue?: string
}

export interface ObjectList {
  readonly items: readonly StoredObject[]
  readonly resourceVersion: string
  readonly continue?: string
  /** Objects that may belong here and cannot be read. */
  readonly damaged?: readonly ObjectKey[]
}

export interface WriteOptions {
  /** Who writes: the field manager. */
  readonly manager: string
  /** Do everything but the write. */
  readonly dryRun?: boolean
  /** What to do with fields that the schema does not know; they are dropped in any case but Strict. Default Warn. */
  readonly fieldValidation?: 'Strict' | 'Warn' | 'Ignore'
  /** Of an apply: looks at what is there, each time before it is changed, and refuses by throwing. */
  readonly check?: (live: ApiObject) => void
  /** Refuses the object as it is to be, by throwing. */
  readonly permit?: PermitWrite
  /** Who asks, for hooks of the kind. Default: the manager, without groups. */
  readonly user?: Requester
  /** Takes what admission wants to have written beside the record of the request. */
  readonly annotate?: Annotate
  /** The options that the client has sent, as admission sees them. */
  readonly said?: JsonObject
  /** What admission may take, of a request that is tried again from its start. Left out, this write has its own. */
  readonly budget?: AdmissionBudget
}

/** `live` is what was there. */
export type PermitWrite = (next: ApiObject, live?: ApiObject) => void

export interface SubresourceOption {
  readonly subresource?: 'status'
  /** Admission sees the write as one of this path. */
  readonly path?: ReviewedPath
}

export type Patch =
  /** `keyedBy`: lists that have keys by this schema merge item by item. */
  | { readonly type: 'merge'; readonly body: JsonObject; readonly keyedBy?: StructuralSchema }
  | { readonly type: 'json'; readonly body: readonly JsonObject[] }
  | { readonly type: 'apply'; readonly body: JsonObject; readonly force: boolean }

export interface DeleteOptions {
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan'
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  readonly dryRun?: boolean
  /** Who deletes. */
  readonly manager?: string
  /** Who asks, for hooks of the kind. Left out: nobody is asked about a deletion. */
  readonly user?: Requester
  readonly annotate?: Annotate
  /** The options that the client has sent, as admission sees them. */
  readonly said?: JsonObject
  /** Removes an object, too, that cannot be read, whatever finalizers it had. */
  readonly ignoreDamage?: boolean
}

export interface Written {
  readonly stored: StoredObject
  readonly outcome: 'created' | 'updated' | 'unchanged'
  readonly warnings: readonly string[]
  /** Of what was updated: the state before. */
  readonly before?: StoredObject
}

export interface Deleted {
  /** The last state if gone, the marked state if waiting for finalizers. */
  readonly stored: StoredObject
  readonly gone: boolean
}
