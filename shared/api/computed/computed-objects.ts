import type { JsonObject } from '../../model/json.ts'
import { apiVersionOf, type ApiObject } from '../../model/object.ts'
import type { ServedKind } from '../../model/served-kind.ts'

/** Where the objects of one computed kind come from. */
export interface ComputedObjects {
  readonly kind: ServedKind
  /** A page of them, of at most `limit` objects. */
  list(query: ComputedQuery): Promise<ComputedPage>
  find(place: ComputedPlace): Promise<ApiObject | undefined>
}

export interface ComputedQuery {
  /** Empty for all namespaces. */
  readonly namespace: string
  readonly limit: number
  /** Where the page before ended. */
  readonly after?: PageEnd
}

export interface ComputedPage {
  readonly items: readonly ApiObject[]
  /** Another page follows. */
  readonly end?: PageEnd
}

/** Two whole numbers, from 0, that mean something to the source only. */
export type PageEnd = readonly [number, number]

export interface ComputedPlace {
  /** Empty for kinds without namespaces. */
  readonly namespace: string
  readonly name: string
}

/** An object that nobody has written: it has no uid, no version and no time at which it was made. */
export function computedObject(
  { group, version, kind, namespaced }: ServedKind,
  { namespace, name }: ComputedPlace,
  status: JsonObject,
): ApiObject {
  const metadata = { name, ...(namespaced ? { namespace } : {}) }
  return { apiVersion: apiVersionOf(group, version), kind, metadata, status } as unknown as ApiObject
}
