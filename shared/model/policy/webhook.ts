import type { JsonObject } from '../json.ts'
import type { ResourceRule } from './policy.ts'

/** What is read of one webhook of a configuration: admissionregistration.k8s.io/v1. */
export interface WebhookSpec {
  readonly name: string
  readonly clientConfig: { readonly url?: string; readonly caBundle?: string }
  readonly admissionReviewVersions?: readonly string[]
  readonly rules?: readonly ResourceRule[]
  readonly failurePolicy?: 'Fail' | 'Ignore'
  readonly matchPolicy?: 'Exact' | 'Equivalent'
  readonly namespaceSelector?: JsonObject
  readonly objectSelector?: JsonObject
  readonly timeoutSeconds?: number
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[]
  /** Of a mutating one. */
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded'
}
