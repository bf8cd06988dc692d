import type * as z from 'zod'
import type { Condition } from '../model/conditions.ts'
import type { AdmissionHooks } from '../model/admission-hooks.ts'
import type { Conversion } from '../model/conversion.ts'
import type { CustomResourceDefinition } from '../model/custom-resource-definition.ts'
import type { JsonObject } from '../model/json.ts'
import { parseApiVersion, type ApiObject, type ObjectMeta } from '../model/object.ts'
import type { ValidationRule } from '../model/schema/structural-schema.ts'
import type { AdmissionContext, Completed, MaybePromise, Problem } from './hooks.ts'
import type { DefineOlderVersion, OlderVersion } from './older-version.ts'
import type { PrinterColumn } from '../model/served-kind.ts'

/**
 * A kind as reconcilers name it, with the type its objects have when read (`Read`, defaults filled in) and the fields
 * beyond metadata they may have when applied (`Body`).
 */
export interface Kind<Read = ApiObject, Body = JsonObject> {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly namespaced: boolean
  /** What makes the kind served; absent for kinds that are built in. */
  readonly definition?: CustomResourceDefinition
  /** Makes one version of the other, where it has several. */
  readonly conversion?: Conversion
  /** See each write of its objects. */
  readonly hooks?: AdmissionHooks
  /** Never set: carries the types. */
  readonly types?: { readonly read: Read; readonly body: Body }
}

/** Whether an object is of a kind, in whatever version. */
export function isOf(object: ApiObject, kind: Pick<Kind, 'group' | 'kind'>): boolean {
  return object.kind === kind.kind && parseApiVersion(object.apiVersion).group === kind.group
}

/** The same of what names a kind, such as a key. */
export function isOfKind(kind: Pick<Kind, 'group' | 'kind'>): (one: Pick<Kind, 'group' | 'kind'>) => boolean {
  return (one) => one.kind === kind.kind && one.group === kind.group
}

/** The type of a kind's objects. */
export type ObjectOf<K> = K extends Kind<infer Read, infer _> ? Read : never

/** The type of what `ctx.apply` takes for a kind, beyond metadata. */
export type BodyOf<K> = K extends Kind<infer _, infer Body> ? Body : never

/** The type of the status a reconciler of these objects reports. */
export type StatusOf<Read> = Read extends { readonly status?: infer Status }
  ? Omit<NonNullable<Status>, 'conditions' | 'observedGeneration'>
  : JsonObject

/** An object of a kind made by `defineKind`. */
export interface CustomObject<Spec, Status> {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: Readonly<ObjectMeta>
  readonly spec: Spec
  readonly status?: Partial<Status> & {
    readonly conditions?: readonly Condition[]
    readonly observedGeneration?: number
  }
}

export interface KindOptions<Spec extends z.ZodType, Status extends z.ZodType> {
  readonly group: string
  /** The version that reconcilers read, and that objects are stored in. */
  readonly version: string
  readonly kind: string
  /** Default: the kind in lower case with an s. */
  readonly plural?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  /** Default Namespaced. */
  readonly scope?: 'Namespaced' | 'Cluster'
  readonly description?: string
  readonly spec: Spec
  readonly status?: Status
  /**
   * Rules in CEL about the whole object: `self.spec.size >= oldSelf.spec.size`. Rules about a field stand in its
   * schema, as `.meta({ 'x-kubernetes-validations': [{ rule: 'self > 0' }] })`.
   */
  readonly rules?: readonly ValidationRule[]
  /**
   * Other versions that clients may go on using, each made by `older`. What is stored in one of them is read as
   * `version`, and stored so by its next write.
   */
  readonly olderVersions?: (older: DefineOlderVersion<z.output<Spec>, z.output<Status>>) => readonly OlderVersion[]
  /**
   * Completes an object that is written with what a schema cannot say: called before it is checked, at each write that
   * changes its spec, labels or annotations. What it returns takes the place of the spec, or is added to labels and
   * annotations. It may be called several times for one write.
   */
  readonly default?: (
    object: CustomObject<z.output<Spec>, z.output<Status>>,
    context: AdmissionContext<CustomObject<z.output<Spec>, z.output<Status>>>,
  ) => MaybePromise<Completed<z.input<Spec>> | undefined>
  /**
   * Refuses an object that is written with a list of problems: called once it fits its schema and its rules, and when a
   * user deletes it. What it throws refuses the write, too, as a failure of the control plane.
   */
  readonly validate?: (
    object: CustomObject<z.output<Spec>, z.output<Status>>,
    context: AdmissionContext<CustomObject<z.output<Spec>, z.output<Status>>>,
  ) => MaybePromise<readonly Problem[] | undefined>
  /** Between NAME and READY, REASON, AGE, which every kind has. */
  readonly columns?: readonly PrinterColumn[]
}
