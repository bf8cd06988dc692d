import { defineBuiltInKind, type ServedKind } from '../../model/served-kind.ts'
import type { StructuralSchema } from '../../model/schema/structural-schema.ts'

/** Questions that a client creates and nobody stores: the answer comes back as the status. */
export const reviewKinds: readonly ServedKind[] = [
  reviewKind('authentication.k8s.io', 'SelfSubjectReview', {
    description: 'Asks who the sender is, as the control plane sees it.',
    status: {
      type: 'object',
      properties: { userInfo: { type: 'object', properties: { username: string(), groups: strings() } } },
    },
  }),
  reviewKind('authorization.k8s.io', 'SelfSubjectAccessReview', {
    description: 'Asks whether the sender may do one thing.',
    spec: {
      type: 'object',
      properties: {
        resourceAttributes: fields('namespace', 'verb', 'group', 'version', 'resource', 'subresource', 'name'),
        nonResourceAttributes: fields('path', 'verb'),
      },
    },
    status: {
      type: 'object',
      properties: { allowed: { type: 'boolean' }, denied: { type: 'boolean' }, reason: string() },
    },
  }),
  reviewKind('authorization.k8s.io', 'SelfSubjectRulesReview', {
    description: 'Asks for everything that the sender may do in a namespace.',
    spec: fields('namespace'),
    status: {
      type: 'object',
      properties: {
        resourceRules: {
          type: 'array',
          items: { type: 'object', properties: { verbs: strings(), apiGroups: strings(), resources: strings() } },
        },
        nonResourceRules: {
          type: 'array',
          items: { type: 'object', properties: { verbs: strings(), nonResourceURLs: strings() } },
        },
        incomplete: { type: 'boolean' },
      },
    },
  }),
]

/** Whether a kind is asked rather than stored. */
export function isReview(kind: ServedKind): boolean {
  return reviewKinds.includes(kind)
}

interface ReviewSchema {
  readonly description: string
  readonly spec?: StructuralSchema
  readonly status: StructuralSchema
}

function reviewKind(group: string, kind: string, { description, ...parts }: ReviewSchema): ServedKind {
  return defineBuiltInKind({
    group,
    kind,
    plural: `${kind.toLowerCase()}s`,
    namespaced: false,
    schema: {
      type: 'object',
      description,
      properties: { apiVersion: string(), kind: string(), metadata: { type: 'object' }, ...parts },
    },
  })
}

function fields(...names: readonly string[]): StructuralSchema {
  return { type: 'object', properties: Object.fromEntries(names.map((name) => [name, string()])) }
}

function string(): StructuralSchema {
  return { type: 'string' }
}

function strings(): StructuralSchema {
  return { type: 'array', items: string() }
}
