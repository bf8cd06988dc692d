import type { AdmissionRequest, Requester } from '../model/admission-hooks.ts'
import type { ApiObject } from '../model/object.ts'
import type { ServedKind } from '../model/served-kind.ts'

/** What users ask for is held against admission policies. */
export interface PolicyReview {
  /** What a request is warned of; undefined, at once as a rule, where no policy is. Throws what a policy denies. */
  review(asked: Reviewed): Promise<readonly string[]> | undefined
}

/** A request as policies see it. */
export interface Reviewed extends Pick<AdmissionRequest, 'operation' | 'dryRun'> {
  readonly kind: ServedKind
  /** As it is to be; absent for a deletion. */
  readonly object?: ApiObject
  /** As it is; absent for a creation. */
  readonly old?: ApiObject
  readonly subresource: string
  readonly user: Requester & { readonly uid?: string; readonly extra?: object }
}
