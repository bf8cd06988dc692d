import type { JsonObject } from '../json.ts'

/** What is read of a ValidatingAdmissionPolicy: admissionregistration.k8s.io/v1. */
export interface PolicySpec {
  readonly paramKind?: { readonly apiVersion: string; readonly kind: string }
  readonly matchConstraints?: MatchResources
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[]
  readonly variables?: readonly { readonly name: string; readonly expression: string }[]
  readonly validations?: readonly PolicyValidation[]
  readonly failurePolicy?: 'Fail' | 'Ignore'
}

export interface PolicyValidation {
  readonly expression: string
  readonly message?: string
  readonly messageExpression?: string
  readonly reason?: string
}

/** What is read of a ValidatingAdmissionPolicyBinding. */
export interface PolicyBindingSpec {
  readonly policyName: string
  readonly paramRef?: ParamRef
  readonly matchResources?: MatchResources
  readonly validationActions: readonly ('Deny' | 'Warn' | 'Audit')[]
}

export interface ParamRef {
  readonly name?: string
  readonly namespace?: string
  readonly selector?: JsonObject
  readonly parameterNotFoundAction?: 'Allow' | 'Deny'
}

export interface MatchResources {
  readonly namespaceSelector?: JsonObject
  readonly objectSelector?: JsonObject
  readonly resourceRules?: readonly ResourceRule[]
  readonly excludeResourceRules?: readonly ResourceRule[]
  readonly matchPolicy?: 'Exact' | 'Equivalent'
}

export interface ResourceRule {
  readonly apiGroups?: readonly string[]
  readonly apiVersions?: readonly string[]
  readonly operations?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly scope?: '*' | 'Cluster' | 'Namespaced'
}
