import { shortenSent } from '../schema/field-error.ts'
import type { Attributes, PolicyRule, ResourceAttributes } from './rules.ts'

/** Whether one rule allows one thing, and whether the rules that somebody has cover others. */

/** As Kubernetes' `RuleAllows` decides it. */
export function ruleAllows(rule: PolicyRule, wanted: Attributes): boolean {
  if (!matches(rule.verbs, wanted.verb)) return false
  if (wanted.path !== undefined) return rule.nonResourceURLs.some((url) => coversUrl(url, wanted.path))
  return (
    matches(rule.apiGroups, wanted.group) &&
    allowsResource(rule, wanted) &&
    (rule.resourceNames.length === 0 || (wanted.isOfAnyName !== true && rule.resourceNames.includes(wanted.name)))
  )
}

function matches(allowed: readonly string[], wanted: string): boolean {
  return allowed.includes('*') || allowed.includes(wanted)
}

function allowsResource({ resources }: PolicyRule, { resource, subresource }: ResourceAttributes): boolean {
  if (subresource === '') return matches(resources, resource)
  return matches(resources, `${resource}/${subresource}`) || resources.includes(`*/${subresource}`)
}

/** `*` at the end of a URL stands for any text. */
function coversUrl(allowed: string, wanted: string): boolean {
  if (allowed === wanted) return true
  return allowed.endsWith('*') && wanted.startsWith(withoutStars(allowed))
}

/** Without those at its end. As a pattern it would take time by the square of stars elsewhere. */
function withoutStars(text: string): string {
  let end = text.length
  while (text[end - 1] === '*') end--
  return text.slice(0, end)
}

/**
 * What of the wanted rules nobody has who has these, in the smallest parts; empty if all is covered. As Kubernetes, one
 * rule has to cover a part alone. What would be more work than a request may be is taken for not covered.
 */
export function findUncovered(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly PolicyRule[] {
  const uncovered: PolicyRule[] = []
  let work = 0
  const isCovered = (part: PolicyRule): boolean =>
    held.some((rule) => (work += weightOf(rule)) <= workMax && coversPart(rule, part))
  for (const rule of wanted) {
    for (const part of partsOf(rule)) {
      work++
      if (isCovered(part)) continue
      uncovered.push(part)
      if (uncovered.length >= uncoveredMax) return uncovered
    }
  }
  return uncovered
}

/** What it costs at most to look at a rule. */
export function weightOf({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): number {
  return 1 + verbs.length + apiGroups.length + resources.length + resourceNames.length + nonResourceURLs.length
}

/** Of weights, for one question: some ten milliseconds. */
export const workMax = 3_000_000
/** Of more than this nobody is told. */
const uncoveredMax = 100

function* partsOf({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): Generator<PolicyRule> {
  const names = resourceNames.length === 0 ? [[]] : resourceNames.map((name) => [name])
  for (const [group, resource] of pairs(apiGroups, resources))
    for (const [verb, named] of pairs(verbs, names))
      yield { ...nothing, apiGroups: [group], resources: [resource], verbs: [verb], resourceNames: named }
  for (const [url, verb] of pairs(nonResourceURLs, verbs)) yield { ...nothing, nonResourceURLs: [url], verbs: [verb] }
}

function* pairs<A, B>(as: readonly A[], bs: readonly B[]): Generator<readonly [A, B]> {
  for (const a of as) for (const b of bs) yield [a, b]
}

const nothing: PolicyRule = { verbs: [], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] }

/** Whether a rule allows everything that a part of another one does. */
function coversPart(rule: PolicyRule, part: PolicyRule): boolean {
  const all = (allowed: readonly string[], wanted: readonly string[]): boolean =>
    allowed.includes('*') || wanted.every((one) => allowed.includes(one))
  return (
    all(rule.verbs, part.verbs) &&
    all(rule.apiGroups, part.apiGroups) &&
    part.resources.every((resource) => coversResource(rule.resources, resource)) &&
    part.nonResourceURLs.every((url) => rule.nonResourceURLs.some((allowed) => coversUrl(allowed, url))) &&
    (rule.resourceNames.length === 0 ||
      (part.resourceNames.length > 0 && part.resourceNames.every((name) => rule.resourceNames.includes(name))))
  )
}

function coversResource(allowed: readonly string[], wanted: string): boolean {
  if (matches(allowed, wanted)) return true
  const slash = wanted.indexOf('/')
  return slash >= 0 && allowed.includes(`*${wanted.slice(slash)}`)
}

/** Rules in a few words, as Kubernetes writes them into refusals: the verbs of one resource together. */
export function rulesText(rules: readonly PolicyRule[]): string {
  // By group, and then by resource: one text of both would be made for each rule, and a group may be long.
  const simple = new Map<string, Map<string, PolicyRule>>()
  const others = new Set<string>()
  for (const rule of rules) {
    const isSimple = rule.resources.length === 1 && rule.resourceNames.length === 0
    if (!isSimple) {
      others.add(ruleText(rule))
      continue
    }
    const [group, resource] = [rule.apiGroups.join(), rule.resources.join()]
    const known = simple.get(group) ?? new Map<string, PolicyRule>()
    simple.set(group, known.set(resource, { ...rule, verbs: [...(known.get(resource)?.verbs ?? []), ...rule.verbs] }))
  }
  const texts = [...simple.values()].flatMap((known) => [...known.values()].map(ruleText))
  return [...texts, ...others].toSorted().join('\n')
}

function ruleText(rule: PolicyRule): string {
  const parts = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ] as const
  const said = parts.filter(([, values]) => values.length > 0)
  return `{${said.map(([name, values]) => `${name}:[${values.map((value) => JSON.stringify(shortenSent(value))).join(' ')}]`).join(', ')}}`
}
