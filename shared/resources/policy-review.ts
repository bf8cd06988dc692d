import type { User } from '../ports/authenticator.ts'
import type { AdmissionRequest, Requester } from '../model/admission-hooks.ts'
import type { AdmissionBudget } from '../model/policy/admission-budget.ts'
import type { JsonObject } from '../model/json.ts'
import type { ApiObject } from '../model/object.ts'
import type { ServedKind } from '../model/served-kind.ts'

/** What users ask for is changed by admission policies, and held against them. */
export interface PolicyReview {
  /**
   * What policies and webhooks make of the object; undefined, at once as a rule, where none has a say. Throws what they
   * deny, and where one that has to be asked fails.
   */
  mutate(asked: Reviewed): Promise<Mutated> | undefined
  /** What a request is warned of; undefined, at once as a rule, where no policy is. Throws what a policy denies. */
  review(asked: Reviewed): Promise<readonly string[]> | undefined
}

/** A request as policies see it. */
export interface Reviewed extends Pick<AdmissionRequest, 'operation' | 'dryRun'> {
  /** In the version that the objects are in. */
  readonly kind: ServedKind
  /** In the version of the request, if that is another one. */
  readonly requested?: ServedKind
  /** Whose path the request came by, if something else is written there than its objects. */
  readonly resource?: ServedKind
  /** As it is to be; absent for a deletion. */
  readonly object?: ApiObject
  /** As it is; absent for a creation. */
  readonly old?: ApiObject
  readonly subresource: string
  /** Takes what policies and webhooks want to have written beside the record of the request. */
  readonly annotate?: Annotate | undefined
  /** The options that the client has sent. */
  readonly said?: JsonObject | undefined
  /** What the request may still take. Left out, it has one of its own. */
  readonly budget?: AdmissionBudget | undefined
  readonly user: Requester & Pick<User, 'uid' | 'extra'>
}

/** A path of an object that is reviewed under its own name: what is written there, of the object and back. */
export interface ReviewedPath {
  readonly subresource: string
  readonly kind: ServedKind
  show(object: ApiObject): ApiObject
  /** The object with what was made of what is shown. Throws INVALID. */
  absorb(object: ApiObject, shown: ApiObject): ApiObject
}

/** A request that policies may change. */
export interface Mutable extends Reviewed {
  readonly object: ApiObject
}

/** Writes a value beside the record of a request. */
export type Annotate = (name: string, value: string) => void

/** So many characters of a value are kept. */
export const annotationLengthMax = 1_000

export interface Mutated {
  /** The same object if nothing has changed; none of a deletion. */
  readonly object?: ApiObject
  readonly warnings: readonly string[]
}
