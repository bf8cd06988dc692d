import type { Json } from '../json.ts'

/** The types of JSON, with whole numbers as one of their own; null is not a type but `nullable`. */
export type SchemaType = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean'

/**
 * One rule of `x-kubernetes-validations`: a CEL expression over `self` (and `oldSelf`) with what to say when it is
 * false.
 */
export interface ValidationRule {
  readonly rule: string
  readonly message?: string
  readonly messageExpression?: string
  readonly reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate'
  readonly fieldPath?: string
  readonly optionalOldSelf?: boolean
}

/**
 * The schema dialect of a CustomResourceDefinition (apiextensions.k8s.io/v1 JSONSchemaProps, the keywords a structural
 * schema may use). The type says what can be written down; `checkStructural` says whether it is accepted. Schemas are
 * never changed once in use: compiled patterns and other derived values are cached by node identity.
 */
export interface StructuralSchema {
  readonly type?: SchemaType
  readonly format?: string
  readonly title?: string
  readonly description?: string
  readonly example?: Json
  readonly default?: Json
  readonly nullable?: boolean
  readonly enum?: readonly Json[]
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: boolean
  readonly exclusiveMaximum?: boolean
  readonly multipleOf?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly required?: readonly string[]
  readonly properties?: { readonly [name: string]: StructuralSchema }
  readonly additionalProperties?: boolean | StructuralSchema
  readonly items?: StructuralSchema
  readonly allOf?: readonly StructuralSchema[]
  readonly anyOf?: readonly StructuralSchema[]
  readonly oneOf?: readonly StructuralSchema[]
  readonly not?: StructuralSchema
  readonly externalDocs?: { readonly description?: string; readonly url?: string }
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-embedded-resource'?: boolean
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map'
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-map-type'?: 'granular' | 'atomic'
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[]
}
