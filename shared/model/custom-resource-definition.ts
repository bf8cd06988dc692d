import type { Condition } from './conditions.ts'
import type { ObjectMeta, ApiObject } from './object.ts'
import type { StructuralSchema } from './schema/structural-schema.ts'
import type { PrinterColumn, ScalePaths } from './served-kind.ts'

/** The kind that defines kinds: apiextensions.k8s.io/v1. */
export interface CustomResourceDefinition {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: Readonly<Partial<ObjectMeta>> & { readonly name: string }
  readonly spec: CustomResourceDefinitionSpec
  readonly status?: CustomResourceDefinitionStatus
}

/** One kind in one group, in one or several versions. */
export interface CustomResourceDefinitionSpec {
  readonly group: string
  readonly scope: 'Namespaced' | 'Cluster'
  readonly names: CustomResourceDefinitionNames
  readonly versions: readonly CustomResourceDefinitionVersion[]
  readonly conversion?: CustomResourceConversion
  readonly preserveUnknownFields?: boolean
}

/** How objects go from one version to another. None: they differ in their schemas only. */
export interface CustomResourceConversion {
  readonly strategy: 'None' | 'Webhook'
  readonly webhook?: {
    readonly clientConfig?: { readonly url?: string; readonly caBundle?: string; readonly service?: object }
    readonly conversionReviewVersions?: readonly string[]
  }
}

/** What a kind is called: in objects, in paths and on the command line. */
export interface CustomResourceDefinitionNames {
  readonly kind: string
  readonly plural: string
  /** Default: the kind in lower case. */
  readonly singular?: string
  /** Default: the kind with `List` behind it. */
  readonly listKind?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

/** One version of a kind. */
export interface CustomResourceDefinitionVersion {
  readonly name: string
  readonly served: boolean
  /** True for exactly one version: the one objects are stored in. */
  readonly storage: boolean
  readonly deprecated?: boolean
  readonly deprecationWarning?: string
  readonly schema?: { readonly openAPIV3Schema?: StructuralSchema }
  readonly subresources?: { readonly status?: object; readonly scale?: ScalePaths }
  readonly additionalPrinterColumns?: readonly PrinterColumn[]
  readonly selectableFields?: readonly { readonly jsonPath: string }[]
}

/** What became of a definition. */
export interface CustomResourceDefinitionStatus {
  readonly conditions?: readonly Condition[]
  /** The names under which the kind is served: those of the spec, as far as no other definition had them before. */
  readonly acceptedNames?: CustomResourceDefinitionNames
  /** Every version objects were ever stored in. */
  readonly storedVersions?: readonly string[]
}

/** A definition as it was sent or stored: what it holds is only known once it has been checked. */
export type SentDefinition = ApiObject | CustomResourceDefinition
