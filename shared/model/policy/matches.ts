import { fitsSelector } from '../access/aggregation.ts'
import type { ApiObject } from '../object.ts'
import type { MatchResources, ResourceRule } from './policy.ts'

/** In which a rule speaks of a kind. */
export interface RuledForm {
  readonly group: string
  readonly version: string
}

/** What of a request rules speak of. */
export interface RuledRequest {
  /** That of the request, and then another in which there is the same object in each of the versions. */
  readonly groups: readonly string[]
  /** That of the request, and then the others in which there is the same object. */
  readonly versions: readonly string[]
  readonly plural: string
  readonly subresource: string
  readonly operation: string
  readonly name: string
  readonly isNamespaced: boolean
}

/** What of a request decides whether a policy is asked. */
export interface Matched extends RuledRequest {
  /** After the request and before it. */
  readonly objects: readonly ApiObject[]
  /** Its labels; undefined for what is in no namespace. */
  readonly namespaceLabels: Readonly<Record<string, string>> | undefined
}

/** Whether rules, exclusions and selectors all let a request through to the policy. */
export function matchesResources(match: MatchResources | undefined, request: Matched): boolean {
  if (match === undefined) return true
  const { namespaceSelector, objectSelector } = match
  if (!matchesRules(match, request)) return false
  const { namespaceLabels, objects } = request
  if (
    namespaceSelector !== undefined &&
    namespaceLabels !== undefined &&
    !fitsSelector(namespaceSelector, namespaceLabels)
  )
    return false
  return (
    objectSelector === undefined || objects.some(({ metadata }) => fitsSelector(objectSelector, metadata.labels ?? {}))
  )
}

/** Whether rules and exclusions let a request through. */
export function matchesRules(match: MatchResources | undefined, request: RuledRequest): boolean {
  return ruledForm(match, request) !== undefined
}

/**
 * The group and the version in which rules speak of a request: its own if they do of that. Undefined if they, or
 * exclusions, do not let it through.
 */
export function ruledForm(match: MatchResources | undefined, request: RuledRequest): RuledForm | undefined {
  const forms = request.groups.flatMap((group) => request.versions.map((version) => ({ group, version })))
  const [own] = forms
  if (match === undefined) return own
  const { resourceRules = [], excludeResourceRules = [], matchPolicy } = match
  const named = matchPolicy === 'Exact' ? forms.slice(0, 1) : forms
  const isNamed = (rules: readonly ResourceRule[], form: RuledForm): boolean =>
    rules.some((rule) => matchesForm(rule, form) && matchesRule(rule, request))
  if (named.some((form) => isNamed(excludeResourceRules, form))) return undefined
  return resourceRules.length === 0 ? own : named.find((form) => isNamed(resourceRules, form))
}

function matchesForm({ apiGroups = [], apiVersions = [] }: ResourceRule, { group, version }: RuledForm): boolean {
  return has(apiGroups, group) && has(apiVersions, version)
}

/** Whether all but the group and the version fits. */
function matchesRule(rule: ResourceRule, request: RuledRequest): boolean {
  const { operations = [], resources = [], resourceNames = [], scope = '*' } = rule
  const path = request.subresource === '' ? request.plural : `${request.plural}/${request.subresource}`
  return (
    has(operations, request.operation) &&
    resources.some((pattern) => matchesPath(pattern, path, request)) &&
    (resourceNames.length === 0 || resourceNames.includes(request.name)) &&
    (scope === '*' || (scope === 'Namespaced') === request.isNamespaced)
  )
}

function has(names: readonly string[], name: string): boolean {
  return names.includes('*') || names.includes(name)
}

// `*` is every resource without their subresources; `disks/*` is disks with theirs, and `*/status` that of all.
function matchesPath(pattern: string, path: string, { plural, subresource }: RuledRequest): boolean {
  if (pattern === path || pattern === '*/*' || pattern === `${plural}/*`) return true
  return pattern === (subresource === '' ? '*' : `*/${subresource}`)
}
