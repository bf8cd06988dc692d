import type { HookContext } from '../model/admission-hooks.ts'

export type MaybePromise<Value> = Value | Promise<Value>

/** The facts of a write that a hook of its kind gets. */
export interface AdmissionContext<Read> extends Omit<HookContext, 'old'> {
  /** The object as it is stored before an update. */
  readonly old?: Read
}

/** What `default` makes: a whole spec, and labels and annotations beside those that are there. */
export interface Completed<Spec> {
  readonly spec?: Spec
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

/** Why an object cannot be: a sentence, and the path of the field that it is about. */
export type Problem = string | { readonly field: string; readonly message: string }
