import type { ApiObject } from './object.ts'
import type { StructuralSchema } from './schema/structural-schema.ts'

/**
 * How the objects of a kind go from one of its versions to another. All versions are converted to one and from it: the
 * one that reconcilers read, and that objects are stored in.
 */
export interface Conversion {
  readonly group: string
  readonly kind: string
  /** The version that objects are stored in. */
  readonly version: string
  /** Of the whole object, in the version that it is stored in. */
  readonly schema: StructuralSchema
  /** The same in any of its versions; undefined for a version that it does not know. */
  schemaOf(version: string): StructuralSchema | undefined
  /**
   * The object in another version of its kind; the same object if it is in that version. Throws CONVERSION_FAILED, with
   * the kind, the versions and the object's name.
   */
  convert(object: ApiObject, version: string): ApiObject
  /** Whether this release has no functions for a version that another release had. Left out, it has them all. */
  lacks?(version: string): boolean
  /** Why it cannot be converted; undefined if it can. */
  findFault(object: ApiObject, version: string): string | undefined
  /**
   * Of a conversion that asks somebody else: has these objects converted, so that `convert` knows of them. Throws
   * CONVERSION_FAILED, as `convert` does from then on. Without that `convert` throws UnpreparedError.
   */
  prepare?(objects: readonly ApiObject[], version: string): Promise<void>
}

/** Somebody else has to be asked about an object first. */
export class UnpreparedError extends Error {
  readonly object: ApiObject
  readonly version: string

  constructor(object: ApiObject, version: string) {
    super(`an object has not been converted to ${version}`)
    this.object = object
    this.version = version
  }
}
