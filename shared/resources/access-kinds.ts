import type { StructuralSchema } from '../model/schema/structural-schema.ts'
import { defineBuiltInKind, type ServedKind } from '../model/served-kind.ts'
import { objectSchema, text, texts } from './schema-parts.ts'

/** The kinds that say who may do what, and the accounts of programs. */

const nullableTexts: StructuralSchema = { ...texts, nullable: true }

const rules: StructuralSchema = {
  type: 'array',
  nullable: true,
  'x-kubernetes-list-type': 'atomic',
  description: 'What may be done.',
  items: {
    type: 'object',
    properties: {
      apiGroups: nullableTexts,
      nonResourceURLs: nullableTexts,
      resourceNames: nullableTexts,
      resources: nullableTexts,
      verbs: nullableTexts,
    },
  },
}

const labelSelector: StructuralSchema = {
  type: 'object',
  'x-kubernetes-map-type': 'atomic',
  properties: {
    matchLabels: { type: 'object', nullable: true, additionalProperties: text },
    matchExpressions: {
      type: 'array',
      nullable: true,
      'x-kubernetes-list-type': 'atomic',
      items: { type: 'object', properties: { key: text, operator: text, values: nullableTexts } },
    },
  },
}

const bindingParts: Record<string, StructuralSchema> = {
  roleRef: {
    type: 'object',
    description: 'The role that is bound. It cannot be changed.',
    'x-kubernetes-map-type': 'atomic',
    properties: { apiGroup: text, kind: text, name: text },
  },
  subjects: {
    type: 'array',
    nullable: true,
    description: 'Who gets the role.',
    'x-kubernetes-list-type': 'atomic',
    items: referenceSchema({ apiGroup: text, kind: text, name: text, namespace: text }),
  },
}

/** The group of roles and bindings, and of the users and groups that bindings name. */
export const accessGroup = 'rbac.authorization.k8s.io'

export const roleKind = accessKind('Role', true, 'What may be done in a namespace.', { rules })

export const clusterRoleKind = accessKind('ClusterRole', false, 'What may be done in all namespaces and in none.', {
  rules,
  aggregationRule: {
    type: 'object',
    nullable: true,
    description: 'The rules are those of all ClusterRoles with these labels.',
    properties: {
      clusterRoleSelectors: {
        type: 'array',
        nullable: true,
        'x-kubernetes-list-type': 'atomic',
        items: labelSelector,
      },
    },
  },
})

export const roleBindingKind = accessKind(
  'RoleBinding',
  true,
  'Gives users, groups and ServiceAccounts a role in a namespace.',
  bindingParts,
)

export const clusterRoleBindingKind = accessKind(
  'ClusterRoleBinding',
  false,
  'Gives users, groups and ServiceAccounts a role everywhere.',
  bindingParts,
)

function accessKind(
  kind: string,
  namespaced: boolean,
  description: string,
  properties: Record<string, StructuralSchema>,
): ServedKind {
  const plural = `${kind.toLowerCase()}s`
  return defineBuiltInKind({
    group: accessGroup,
    kind,
    plural,
    namespaced,
    hidesGeneration: true,
    schema: objectSchema(description, properties),
  })
}

function referenceSchema(properties: Record<string, StructuralSchema>): StructuralSchema {
  return { type: 'object', 'x-kubernetes-map-type': 'atomic', properties }
}

export const serviceAccountKind = defineBuiltInKind({
  group: '',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  shortNames: ['sa'],
  namespaced: true,
  hidesGeneration: true,
  schema: objectSchema('An account of a program, in a namespace.', {
    automountServiceAccountToken: { type: 'boolean', nullable: true },
    imagePullSecrets: {
      type: 'array',
      nullable: true,
      'x-kubernetes-list-type': 'atomic',
      items: referenceSchema({ name: { type: 'string', default: '' } }),
    },
    secrets: {
      type: 'array',
      nullable: true,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: referenceSchema({
        apiVersion: text,
        fieldPath: text,
        kind: text,
        name: { type: 'string', default: '' },
        namespace: text,
        resourceVersion: text,
        uid: text,
      }),
    },
  }),
})
