import type { JsonObject } from '../json.ts'

/** What both kinds of policies say: admissionregistration.k8s.io/v1. */
export interface PolicyBase {
  readonly paramKind?: { readonly apiVersion: string; readonly kind: string }
  readonly matchConstraints?: MatchResources
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[]
  readonly variables?: readonly { readonly name: string; readonly expression: string }[]
  readonly failurePolicy?: 'Fail' | 'Ignore'
}

/** What is read of a ValidatingAdmissionPolicy. */
export interface PolicySpec extends PolicyBase {
  readonly validations?: readonly PolicyValidation[]
  readonly auditAnnotations?: readonly { readonly key: string; readonly valueExpression: string }[]
}

/** What is read of a MutatingAdmissionPolicy. */
export interface MutatingPolicySpec extends PolicyBase {
  readonly mutations?: readonly PolicyMutation[]
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded'
}

export interface PolicyMutation {
  readonly patchType: 'ApplyConfiguration' | 'JSONPatch'
  readonly applyConfiguration?: { readonly expression?: string }
  readonly jsonPatch?: { readonly expression?: string }
}

export interface PolicyValidation {
  readonly expression: string
  readonly message?: string
  readonly messageExpression?: string
  readonly reason?: string
}

/** What is read of a MutatingAdmissionPolicyBinding. */
export interface BindingBase {
  readonly policyName: string
  readonly paramRef?: ParamRef
  readonly matchResources?: MatchResources
}

/** What is read of a ValidatingAdmissionPolicyBinding. */
export interface PolicyBindingSpec extends BindingBase {
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
