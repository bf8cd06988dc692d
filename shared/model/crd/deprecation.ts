import type { CustomResourceDefinition } from '../custom-resource-definition.ts'

type Version = CustomResourceDefinition['spec']['versions'][number]

/**
 * What clients are warned of who use a version that is deprecated: its own words, or what Kubernetes says in their
 * place. Source: apiextensions-apiserver, `defaultDeprecationWarning`.
 */
export function deprecationOf(
  { group, names, versions }: CustomResourceDefinition['spec'],
  { name, deprecated, deprecationWarning }: Version,
): string | undefined {
  if (deprecated !== true) return undefined
  if (deprecationWarning !== undefined) return deprecationWarning
  const better = versions.filter((one) => one.served && one.deprecated !== true && compareVersions(one.name, name) > 0)
  const [best] = better.toSorted((a, b) => compareVersions(b.name, a.name))
  const advice = best === undefined ? '' : `; use ${group}/${best.name} ${names.kind}`
  return `${group}/${name} ${names.kind} is deprecated${advice}`
}

/** By how far they can be relied on: v2, v1, v2beta1, v1alpha2, and then names of other forms, from A to Z. */
function compareVersions(a: string, b: string): number {
  const [ranksA, ranksB] = [ranksOf(a), ranksOf(b)]
  for (const [i, rank] of ranksA.entries()) if (rank !== ranksB[i]) return rank - (ranksB[i] ?? 0)
  return a < b ? 1 : a > b ? -1 : 0
}

function ranksOf(version: string): readonly number[] {
  const [, major, stage, minor = '0'] = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/.exec(version) ?? []
  if (major === undefined) return [0, 0, 0]
  return [stage === undefined ? 3 : stage === 'beta' ? 2 : 1, Number(major), Number(minor)]
}
