import type * as z from 'zod'
import type { ObjectMeta } from '../model/object.ts'
import type { ValidationRule } from '../model/schema/structural-schema.ts'
import type { PrinterColumn } from '../model/served-kind.ts'

/** The content of an object in one version, as a conversion function is given it: complete, and valid in it. */
export interface Content<Spec, Status> {
  readonly metadata: Readonly<ObjectMeta>
  readonly spec: Spec
  readonly status?: Partial<Status>
}

/** The content in another version. Metadata and conditions go along by themselves. */
export interface Converted<Spec, Status> {
  readonly spec: Spec
  /** Left out: nothing but the conditions. Not needed by a version that has the status of the kind. */
  readonly status?: Partial<Status>
}

/**
 * A version of a kind beside the one that its reconciler reads, with two functions that convert an object. They are
 * pure: the same content gives the same content, and they wait for nothing. A write through an older version changes
 * only what it changed there, so that fields which that version does not have stay as they are.
 */
export interface OlderVersionOptions<OldSpec extends z.ZodType, OldStatus extends z.ZodType, Spec, Status> {
  readonly spec: OldSpec
  /** Default: the status of the kind, which is not converted. */
  readonly status?: OldStatus
  /** To the kind's version. What it throws is told to the writer, or stops the object that is stored. */
  readonly upgrade: (object: Content<z.output<OldSpec>, z.output<OldStatus>>) => Converted<Spec, Status>
  /** From the kind's version. */
  readonly downgrade: (object: Content<Spec, Status>) => Converted<z.output<OldSpec>, z.output<OldStatus>>
  /** Whether clients may use it. Default true. One that is not served is still read from the store. */
  readonly served?: boolean
  /** Clients are warned: by this text, or by one that names the version to use. */
  readonly deprecated?: boolean | string
  readonly description?: string
  readonly rules?: readonly ValidationRule[]
  readonly columns?: readonly PrinterColumn[]
}

/** The same of a kind whose types are Spec and Status. */
export type DefineOlderVersion<Spec, Status> = <
  OldSpec extends z.ZodType,
  OldStatus extends z.ZodType = z.ZodType<Status>,
>(
  version: string,
  options: OlderVersionOptions<OldSpec, OldStatus, Spec, Status>,
) => OlderVersion

/** A version with its types left behind. */
export interface OlderVersion extends Pick<
  OlderVersionOptions<z.ZodType, z.ZodType, unknown, unknown>,
  'spec' | 'status' | 'served' | 'deprecated' | 'description' | 'rules' | 'columns'
> {
  readonly version: string
  readonly upgrade: (object: never) => unknown
  readonly downgrade: (object: never) => unknown
}
