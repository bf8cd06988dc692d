import type { CustomResourceDefinition } from '../custom-resource-definition.ts'
import { compareVersions } from '../version-order.ts'

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
  const better = versions.filter((one) => one.served && one.deprecated !== true && compareVersions(one.name, name) < 0)
  const [best] = better.toSorted((a, b) => compareVersions(a.name, b.name))
  const advice = best === undefined ? '' : `; use ${group}/${best.name} ${names.kind}`
  return `${group}/${name} ${names.kind} is deprecated${advice}`
}
