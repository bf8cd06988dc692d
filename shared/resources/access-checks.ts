import { aggregationOf } from '../model/access/aggregation.ts'
import { objectsOf, rulesOf, type PolicyRule } from '../model/access/rules.ts'
import { equal, isObject, type JsonObject } from '../model/json.ts'
import type { ApiObject } from '../model/object.ts'
import { checkEach, fieldRequired, invalid, notSupported, type FieldError } from '../model/schema/field-error.ts'
import { accessGroup } from './access-kinds.ts'
import { checkPathSegment, isSubdomain } from '../model/metadata.ts'
import { checkLabelSelector } from './selector-checks.ts'

/** What must hold for roles and bindings, in the words of Kubernetes' `pkg/apis/rbac/validation`. */

export function checkRole(role: ApiObject): readonly FieldError[] {
  const isNamespaced = role.kind === 'Role'
  return [
    ...checkEach(rulesOf(role), (rule, i) => checkRule(rule, `rules[${i}]`, isNamespaced)),
    ...(isNamespaced ? [] : checkAggregation(role)),
  ]
}

/**
 * A role that gathers the rules of others is shown with those, so that rules of its own would be seen by nobody, and
 * grant something as soon as the role gathers no more.
 */
export function withoutUnseenRules(role: ApiObject): ApiObject {
  if (aggregationOf(role) === undefined || role['rules'] === undefined) return role
  const { rules: _, ...others } = role
  return others
}

function checkRule(rule: PolicyRule, path: string, isNamespaced: boolean): readonly FieldError[] {
  const { verbs, apiGroups, resources, resourceNames, nonResourceURLs: urls } = rule
  const verbErrors = requireOne(verbs, `${path}.verbs`, 'verbs must contain at least one value')
  if (urls.length === 0)
    return [
      ...verbErrors,
      ...requireOne(apiGroups, `${path}.apiGroups`, 'resource rules must supply at least one api group'),
      ...requireOne(resources, `${path}.resources`, 'resource rules must supply at least one resource'),
    ]
  const urlError = (why: string): FieldError => invalid(`${path}.nonResourceURLs`, urls, why)
  const isMixed = apiGroups.length + resources.length + resourceNames.length > 0
  return [
    ...verbErrors,
    ...(isNamespaced ? [urlError('namespaced rules cannot apply to non-resource URLs')] : []),
    ...(isMixed ? [urlError('rules cannot apply to both regular resources and non-resource URLs')] : []),
  ]
}

function requireOne(values: readonly string[], field: string, why: string): readonly FieldError[] {
  return values.length > 0 ? [] : [fieldRequired(field, why)]
}

function checkAggregation(role: ApiObject): readonly FieldError[] {
  const selectors = aggregationOf(role)
  if (selectors === undefined) return []
  const path = 'aggregationRule.clusterRoleSelectors'
  if (selectors.length === 0)
    return [fieldRequired(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil')]
  return checkEach(selectors, (selector, i) => checkLabelSelector(selector, `${path}[${i}]`))
}

export function checkBinding(binding: ApiObject, live: ApiObject | undefined): readonly FieldError[] {
  const isNamespaced = binding.kind === 'RoleBinding'
  const ref = isObject(binding['roleRef']) ? binding['roleRef'] : {}
  const { apiGroup = '', kind = '', name = '' } = ref
  const kinds = isNamespaced ? ['Role', 'ClusterRole'] : ['ClusterRole']
  const subjects = objectsOf(binding['subjects'])
  return [
    ...(apiGroup === accessGroup ? [] : [notSupported('roleRef.apiGroup', apiGroup, [accessGroup])]),
    ...(kinds.some((one) => one === kind) ? [] : [notSupported('roleRef.kind', kind, kinds)]),
    ...(name === '' ? [fieldRequired('roleRef.name')] : checkPathSegment('roleRef.name', String(name))),
    ...checkEach(subjects, (subject, i) => checkSubject(subject, `subjects[${i}]`, isNamespaced)),
    ...(live === undefined || equal(live['roleRef'], ref) ? [] : [invalid('roleRef', ref, 'cannot change roleRef')]),
  ]
}

function checkSubject(subject: JsonObject, path: string, isNamespaced: boolean): readonly FieldError[] {
  const { kind = '', name = '', apiGroup = '', namespace = '' } = subject
  const nameErrors = name === '' ? [fieldRequired(`${path}.name`)] : []
  const groupErrors = (wanted: string): readonly FieldError[] =>
    apiGroup === wanted ? [] : [notSupported(`${path}.apiGroup`, apiGroup, [wanted])]
  if (kind === 'User' || kind === 'Group') return [...nameErrors, ...groupErrors(accessGroup)]
  if (kind !== 'ServiceAccount')
    return [...nameErrors, notSupported(`${path}.kind`, kind, ['ServiceAccount', 'User', 'Group'])]
  return [
    ...nameErrors,
    ...(name === '' || isSubdomain(String(name))
      ? []
      : [invalid(`${path}.name`, name, 'a lowercase RFC 1123 subdomain is the name of a ServiceAccount')]),
    ...groupErrors(''),
    ...(isNamespaced || namespace !== '' ? [] : [fieldRequired(`${path}.namespace`)]),
  ]
}

/** With the group that a reference means if it names none. */
export function withSubjectGroups(binding: ApiObject): ApiObject {
  const { roleRef, subjects } = binding
  const isWhole = (part: unknown): boolean =>
    !isObject(part) || (part['apiGroup'] ?? '') !== '' || part['kind'] === 'ServiceAccount'
  if (isWhole(roleRef) && objectsOf(subjects).every(isWhole)) return binding
  const complete = (part: unknown): JsonObject | undefined =>
    isWhole(part) ? (part as JsonObject | undefined) : { ...(part as JsonObject), apiGroup: accessGroup }
  return {
    ...binding,
    ...(roleRef !== undefined && { roleRef: complete(roleRef) }),
    ...(Array.isArray(subjects) ? { subjects: subjects.map((subject) => complete(subject) as JsonObject) } : {}),
  }
}
