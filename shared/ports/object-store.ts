import type { Eventual } from '../model/eventual.ts'
import type { ObjectKey } from '../model/object-key.ts'
import type { StoredObject, Touched } from '../model/stored-object.ts'

/**
 * Where objects live. Each write is one conditional write of one object; there are no transactions.
 *
 * Promises, checked by test/contract/object-store.contract.ts on every adapter:
 * - Durable: a write that resolved survives a crash of any part.
 * - Compare-and-swap: of two writes made from one resourceVersion, one wins; the other throws VERSION_CONFLICT.
 * - Strong: a read sees every write that resolved before the read began.
 * - A state is a value, as its JSON text says it. Stores share states with their callers: nobody changes one in place.
 * - resourceVersion is a decimal integer, grows with each write of an object, and is set by the store.
 *
 * Throws THROTTLED, UNAVAILABLE, or WRITE_UNKNOWN when a write's fate is unknown: read again to learn it.
 */
export interface ObjectStore {
  /**
   * At once if the object is at hand. Rejects with DAMAGED for an object that is there and cannot be read. It can be
   * removed by what the error says of it.
   */
  get(key: ObjectKey): Eventual<StoredObject | undefined>

  /** In order of namespace and name. */
  list(query: ListQuery): Promise<ListPage>

  /** Throws ALREADY_EXISTS if anything of that key exists, TOO_LARGE above the store's limit. */
  create(stored: StoredObject): Promise<StoredObject>

  /**
   * Replaces the object whose uid and resourceVersion it carries. `touched` names all that differs from it: what it
   * leaves out need not be written. Throws VERSION_CONFLICT, NOT_FOUND, TOO_LARGE.
   */
  replace(stored: StoredObject, touched: Touched): Promise<StoredObject>

  /**
   * Removes the object whose uid and resourceVersion it carries; returns its last state under a new resourceVersion.
   * Watches and the relay still see the removal for an hour, or until 512 MB were written since. Throws
   * VERSION_CONFLICT, NOT_FOUND.
   */
  remove(stored: StoredObject): Promise<StoredObject>
}

export interface ListQuery {
  readonly group: string
  readonly kind: string
  /** All namespaces if absent. */
  readonly namespace?: string
  /** At most so many objects; no limit if absent. */
  readonly limit?: number
  /** Only objects behind this one. */
  readonly after?: { readonly namespace: string; readonly name: string }
  /** The resourceVersion of the page that this one goes on from. Throws EXPIRED if that cannot be shown any more. */
  readonly asOf?: string
}

export interface ListPage {
  /**
   * Fewer than asked for, if they are large. Where writes are numbered one by one (SQLite), each is as it was at the
   * resourceVersion of the first page, and what was removed since is left out; elsewhere each is as it is now.
   */
  readonly items: readonly StoredObject[]
  /** A watch from here misses nothing that is not in `items`; it may repeat something that is. */
  readonly resourceVersion: string
  /** More objects follow the last item. */
  readonly more: boolean
  /** Objects that belong here and cannot be read. */
  readonly damaged?: readonly ObjectKey[]
}
