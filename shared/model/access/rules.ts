import { isObject, textOf, type Json, type JsonObject } from '../json.ts'

/** One rule of a role, as `rbac.authorization.k8s.io` has it; what is left out is empty. */
export interface PolicyRule {
  readonly verbs: readonly string[]
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames: readonly string[]
  readonly nonResourceURLs: readonly string[]
}

/** Whom a binding names. */
export interface Subject {
  readonly kind: string
  readonly name: string
  /** Of a ServiceAccount; empty for the namespace of the binding. */
  readonly namespace: string
}

export interface RoleRef {
  readonly kind: string
  readonly name: string
}

/** What somebody wants to do: with a resource, or with a path that is none. */
export type Attributes = ResourceAttributes | PathAttributes

export interface ResourceAttributes {
  readonly verb: string
  readonly group: string
  readonly resource: string
  /** Empty for the object itself. */
  readonly subresource: string
  /** Empty for a collection. */
  readonly name: string
  /** Empty for what is in no namespace, and for all of them. */
  readonly namespace: string
  /** Whatever name it is: rules for some names do not count. */
  readonly isOfAnyName?: true
  readonly path?: undefined
}

export interface PathAttributes {
  readonly verb: string
  readonly path: string
}

/** The rules that a role holds. */
export function rulesOf(role: JsonObject): readonly PolicyRule[] {
  return objectsOf(role['rules']).map((rule) => ({
    verbs: textsOf(rule['verbs']),
    apiGroups: textsOf(rule['apiGroups']),
    resources: textsOf(rule['resources']),
    resourceNames: textsOf(rule['resourceNames']),
    nonResourceURLs: textsOf(rule['nonResourceURLs']),
  }))
}

export function subjectsOf(binding: JsonObject): readonly Subject[] {
  return objectsOf(binding['subjects']).map((subject) => ({
    kind: textOf(subject['kind']),
    name: textOf(subject['name']),
    namespace: textOf(subject['namespace']),
  }))
}

export function roleRefOf(binding: JsonObject): RoleRef {
  const ref = isObject(binding['roleRef']) ? binding['roleRef'] : {}
  return { kind: textOf(ref['kind']), name: textOf(ref['name']) }
}

/** The objects of a list; none if there is no list. */
export function objectsOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** The texts of a list; none if there is no list. */
export function textsOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}
