import type { ServedKind } from '../../model/served-kind.ts'
import type { StructuralSchema } from '../../model/schema/structural-schema.ts'
import { unstoredKind } from '../unstored-kind.ts'

/** Questions that a client creates and nobody stores: the answer comes back as the status. */
export const reviewKinds: readonly ServedKind[] = [
  unstoredKind('authentication.k8s.io', 'SelfSubjectReview', {
    description: 'Asks who the sender is, as the control plane sees it.',
    status: { type: 'object', properties: { userInfo: userInfo() } },
  }),
  unstoredKind('authentication.k8s.io', 'TokenReview', {
    description: 'Asks who a token is of.',
    spec: { type: 'object', properties: { token: string(), audiences: strings() } },
    status: {
      type: 'object',
      properties: { authenticated: { type: 'boolean' }, user: userInfo(), audiences: strings(), error: string() },
    },
  }),
  unstoredKind('authorization.k8s.io', 'SelfSubjectAccessReview', {
    description: 'Asks whether the sender may do one thing.',
    spec: { type: 'object', properties: target() },
    status: decision(),
  }),
  unstoredKind('authorization.k8s.io', 'SubjectAccessReview', {
    description: 'Asks whether somebody may do one thing.',
    spec: { type: 'object', properties: subjectAndTarget() },
    status: decision(),
  }),
  unstoredKind('authorization.k8s.io', 'LocalSubjectAccessReview', {
    description: 'Asks whether somebody may do one thing in a namespace.',
    namespaced: true,
    spec: { type: 'object', properties: subjectAndTarget() },
    status: decision(),
  }),
  unstoredKind('authorization.k8s.io', 'SelfSubjectRulesReview', {
    description: 'Asks for everything that the sender may do in a namespace.',
    spec: fields('namespace'),
    status: {
      type: 'object',
      properties: {
        resourceRules: ruleList({ apiGroups: strings(), resources: strings(), resourceNames: strings() }),
        nonResourceRules: ruleList({ nonResourceURLs: strings() }),
        incomplete: { type: 'boolean' },
        evaluationError: string(),
      },
    },
  }),
]

/** What is asked of a ServiceAccount, at a path of it. */
export const tokenRequestKind = unstoredKind('authentication.k8s.io', 'TokenRequest', {
  description: 'Asks for a token of a ServiceAccount.',
  namespaced: true,
  spec: {
    type: 'object',
    properties: {
      audiences: strings(),
      expirationSeconds: { type: 'integer', format: 'int64' },
      boundObjectRef: fields('apiVersion', 'kind', 'name', 'uid'),
    },
  },
  status: fields('token', 'expirationTimestamp'),
})

/** Whether a kind is asked rather than stored. */
export function isReview(kind: ServedKind): boolean {
  return reviewKinds.includes(kind)
}

function target(): Record<string, StructuralSchema> {
  const texts = textFields('namespace', 'verb', 'group', 'version', 'resource', 'subresource', 'name')
  return {
    resourceAttributes: {
      type: 'object',
      // Roles know no selectors, so these change no answer.
      properties: { ...texts, fieldSelector: selector(), labelSelector: selector() },
    },
    nonResourceAttributes: fields('path', 'verb'),
  }
}

function subjectAndTarget(): Record<string, StructuralSchema> {
  return { ...target(), user: string(), groups: strings(), uid: string(), extra: extra() }
}

function decision(): StructuralSchema {
  return {
    type: 'object',
    properties: {
      allowed: { type: 'boolean' },
      denied: { type: 'boolean' },
      reason: string(),
      evaluationError: string(),
    },
  }
}

function ruleList(properties: Record<string, StructuralSchema>): StructuralSchema {
  return { type: 'array', items: { type: 'object', properties: { verbs: strings(), ...properties } } }
}

function userInfo(): StructuralSchema {
  return { type: 'object', properties: { username: string(), uid: string(), groups: strings(), extra: extra() } }
}

function extra(): StructuralSchema {
  return { type: 'object', additionalProperties: strings() }
}

function selector(): StructuralSchema {
  const requirement: StructuralSchema = {
    type: 'object',
    properties: { key: string(), operator: string(), values: strings() },
  }
  return { type: 'object', properties: { rawSelector: string(), requirements: { type: 'array', items: requirement } } }
}

function fields(...names: readonly string[]): StructuralSchema {
  return { type: 'object', properties: textFields(...names) }
}

function textFields(...names: readonly string[]): Record<string, StructuralSchema> {
  return Object.fromEntries(names.map((name) => [name, string()]))
}

function string(): StructuralSchema {
  return { type: 'string' }
}

function strings(): StructuralSchema {
  return { type: 'array', items: string() }
}
