import { fitsSelector } from '../access/aggregation.ts'
import type { ApiObject } from '../object.ts'
import type { MatchResources, ResourceRule } from './policy.ts'

/** What of a request rules speak of. */
export interface RuledRequest {
  readonly group: string
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
  return ruledVersion(match, request) !== undefined
}

/**
 * The version in which rules speak of a request: its own if they do of that. Undefined if they, or exclusions, do not
 * let it through.
 */
export function ruledVersion(match: MatchResources | undefined, request: RuledRequest): string | undefined {
  const [own] = request.versions
  if (match === undefined) return own
  const { resourceRules = [], excludeResourceRules = [], matchPolicy } = match
  const versions = matchPolicy === 'Exact' ? request.versions.slice(0, 1) : request.versions
  const isNamed = (rules: readonly ResourceRule[], version: string): boolean =>
    rules.some((rule) => has(rule.apiVersions ?? [], version) && matchesRule(rule, request))
  if (versions.some((version) => isNamed(excludeResourceRules, version))) return undefined
  return resourceRules.length === 0 ? own : versions.find((version) => isNamed(resourceRules, version))
}

/** Whether all but the version fits. */
function matchesRule(rule: ResourceRule, request: RuledRequest): boolean {
  const { apiGroups = [], operations = [], resources = [], resourceNames = [], scope = '*' } = rule
  const path = request.subresource === '' ? request.plural : `${request.plural}/${request.subresource}`
  return (
    has(apiGroups, request.group) &&
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
