import type { ApiObject } from './object.ts'

/** What is asked of an object, for those who may refuse it. */
export interface AdmissionRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE'
  /** As it is stored before an update. */
  readonly old?: ApiObject
  readonly user: Requester
  readonly dryRun: boolean
}

/** Who asks. A reconciler that writes has its own name, and no groups. */
export interface Requester {
  readonly name: string
  readonly groups: readonly string[]
}

/** What a hook is given beside the object. */
export interface HookContext extends AdmissionRequest {
  /** Aborted when the time of the hook is over. */
  readonly signal: AbortSignal
  /** Tells the writer something that does not keep the write back. */
  warn(text: string): void
}

type Hook = (object: ApiObject, context: HookContext) => unknown

/** A kind's own functions, which see each write of its objects. What they return is anything until it was looked at. */
export interface AdmissionHooks {
  readonly default?: Hook
  readonly validate?: Hook
}
